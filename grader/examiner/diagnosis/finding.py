"""What a diagnosis has found, and what it may cost."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.checks import TOLERANCES
from grader.lesson.search import Explanation, glance, names_of
from grader.model import Verdict

# Work is counted, so that a name does not hang on the speed of the machine: one explanation takes
# a third of a millisecond.  Pairs of changes of the block are 2,646 for each reading.
MAX_EXPLANATIONS = 5_000
MAX_QUESTIONS = 60
# Only against what nobody has thought of: six times what the explanations take.
MAX_CPU_SECONDS = 10.0
# Of so many explanations that compute the same, a message can tell honestly.
MAX_ALTERNATIVES = 3
# Verdicts after which the code is not asked any more: each further question may cost as much.
FINAL = (Verdict.TIMEOUT.value, Verdict.CRASHED.value)


class Budget:
    """What the diagnosis of one submission may use: explanations, questions, processor time."""

    def __init__(
        self,
        seconds: float = MAX_CPU_SECONDS,
        questions: int = MAX_QUESTIONS,
        explanations: int = MAX_EXPLANATIONS,
    ) -> None:
        self._explanations = explanations
        self._seconds = seconds
        self._questions = questions
        self._running_since: float | None = None

    def start(self) -> None:
        """Count from now on."""
        self._running_since = time.process_time()

    def stop(self) -> None:
        """Stop counting."""
        if self._running_since is not None:
            self._seconds -= time.process_time() - self._running_since
        self._running_since = None

    def left(self) -> bool:
        """Tell whether there is something left."""
        since = self._running_since
        used = time.process_time() - since if since is not None else 0.0
        return self._questions > 0 and used < self._seconds

    def afford(self, explanations: int) -> bool:
        """Take so many explanations off what may be tried; none if there are fewer left."""
        if explanations > self._explanations:
            return False
        self._explanations -= explanations
        return True

    def question(self) -> None:
        """Count a question."""
        self._questions -= 1


@dataclass(frozen=True)
class Finding:
    """The diagnosis of one milestone.

    Attributes:
        names: misconceptions that are certain.
        either: misconceptions of which one is there, while each computes the same.
        fingerprint: of a wrong result that nothing explains; empty otherwise.
    """

    names: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    fingerprint: str = ""

    def as_json(self) -> dict[str, object]:
        """Plain data for the report."""
        return {
            "names": list(self.names),
            "either": list(self.either),
            "fingerprint": self.fingerprint,
        }


# Answers to the fixed questions, in their order; `None` where the code gave none.
FixedAnswers = Callable[[], Sequence[Tensor | None]]


class EndedError(Exception):
    """The code does not answer any more, so the diagnosis ends."""


def asked(ask: Callable[[], Tensor], budget: Budget) -> Tensor | StudentFaultError:
    """The answer to one question, or why there is none.

    Raises:
        EndedError: if the code did not come back, or the budget is spent.
    """
    if not budget.left():
        raise EndedError
    budget.question()
    try:
        return ask()
    except StudentFaultError as error:
        if error.verdict in FINAL:
            raise EndedError from None
        return error


def until_ended(ask: Callable[[int], Tensor | None], questions: int) -> list[Tensor | None]:
    """The answers to questions by their numbers, as far as the code answers."""
    answers: list[Tensor | None] = [None] * questions
    with suppress(EndedError):
        for number in range(questions):
            answers[number] = ask(number)
    return answers


def same(actual: Tensor, predicted: Tensor) -> bool:
    """Tell whether an answer is what an explanation predicts, NaN and infinities included."""
    if actual.shape != predicted.shape or actual.dtype not in TOLERANCES:
        return False
    allowed = TOLERANCES[actual.dtype]
    return torch.allclose(
        actual,
        predicted.to(actual.dtype),
        rtol=allowed.relative,
        atol=allowed.absolute,
        equal_nan=True,
    )


def repeated(first: Tensor, again: Tensor) -> bool:
    """Tell whether two answers to the same question agree, up to rounding."""
    if first.dtype != again.dtype:
        return False
    return same(first.float(), again.float())


def conclude(
    explanations: Sequence[Explanation],
    signs: Sequence[str],
    fixed_answers: FixedAnswers,
    wrong: bool,
) -> Finding:
    """What may be said.

    Args:
        explanations: all that are left of the search.
        signs: misconceptions that source and behaviour show.
        fixed_answers: asks the code the questions that are the same in every run; called only
            where nothing else tells equal mistakes apart from others.
        wrong: whether some answer differs from the lesson's.
    """
    sets = names_of(explanations)
    if len(sets) == 1:
        return Finding(tuple(dict.fromkeys([*sets[0], *signs])))
    singles = [names[0] for names in sets if len(names) == 1]
    if 1 < len(sets) == len(singles) <= MAX_ALTERNATIVES:
        return Finding(tuple(sign for sign in signs if sign not in singles), tuple(singles))
    if signs or not wrong:
        return Finding(tuple(signs))
    return Finding(fingerprint=fingerprint(fixed_answers()))


def fingerprint(answers: Sequence[Tensor | None]) -> str:
    """Equal for answers that are equal up to rounding; empty if there is no answer at all."""
    if all(answer is None for answer in answers):
        return ""
    seen = [None if a is None else [list(a.shape), *glance(a)] for a in answers]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:12]
