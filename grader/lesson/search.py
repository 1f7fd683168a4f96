"""The smallest set of changed choices that reproduces what a student's code computes.

One change is tried before two.  The questions come from a pool, whose first tells most of the
explanations apart; each next one is that which splits those that are left into most groups.  None
is left out: an explanation has to hold for all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grader.lesson.choices import Change, pairs_of

# What a question's answer is compared by when explanations are told apart, before the exact
# comparison: so many of its values, to so many decimals.
GLANCE_VALUES = 12
GLANCE_DECIMALS = 2
NOT_A_NUMBER = 1e9  # what NaN counts as

Changes = tuple[Change, ...]
# The answer to a question of the pool; `None` where there is none, since the code raises.
Answer = Tensor | None


@dataclass(frozen=True)
class Explanation:
    """Changed choices, in one reading of the parameters.

    Attributes:
        changes: none for the lesson's own choices.
        reading: number of the reading.
    """

    changes: Changes
    reading: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Ids of the misconceptions, sorted."""
        return tuple(sorted({change.misconception for change in self.changes}))


@dataclass
class Search:
    """One search.

    Attributes:
        changes: the single changes to think of.
        readings: how many readings of the parameters there are.
        questions: how many questions the pool has.
        ask: puts a question of the pool to the student's code.
        predict: what an explanation answers to it; may raise.
        same: whether two answers agree.
        allowed: whether there is time for more.
        afford: takes so many explanations off what may be tried, if there are as many left.  It is
            asked before the first is tried, so that no name hangs on how fast a machine is.
    """

    changes: Sequence[Change]
    readings: int
    questions: int
    ask: Callable[[int], Answer]
    predict: Callable[[Explanation, int], Tensor]
    same: Callable[[Tensor, Tensor], bool]
    allowed: Callable[[], bool]
    afford: Callable[[int], bool] = lambda count: True
    answers: dict[int, Answer] = field(default_factory=dict)
    _predicted: dict[tuple[Explanation, int], Answer] = field(default_factory=dict)

    def single(self) -> list[Explanation]:
        """The lesson's choices if they hold for every question, else the single changes that do.

        Returns:
            None if nothing holds, if there are too many to try, or if the time is over.
        """
        sets: list[Changes] = [(), *((change,) for change in self.changes)]
        return self._in_time(sets)

    def ask_all(self) -> None:
        """Put the questions that are left, so that every sign is seen."""
        for question in range(self.questions):
            if question not in self.answers and self.allowed():
                self.answers[question] = self.ask(question)

    def pairs(self, changes: Sequence[Change]) -> list[Explanation]:
        """The pairs of changes that hold for every question.

        Args:
            changes: the changes to pair.
        """
        return self._in_time(pairs_of(list(changes)))

    def _in_time(self, sets: Iterable[Changes]) -> list[Explanation]:
        every = itertools.product(sets, range(self.readings))
        candidates = [Explanation(changes, reading) for changes, reading in every]
        if not self.afford(len(candidates)):
            return []
        left = self._narrow(candidates)
        return left if self.allowed() else []

    def _narrow(self, left: list[Explanation]) -> list[Explanation]:
        for question in self.answers:
            left = self._holding(left, question)
        while left and len(self.answers) < self.questions and self.allowed():
            question = self._most_telling(left) if self.answers else 0
            self.answers[question] = self.ask(question)
            left = self._holding(left, question)
        if left and all(answer is None for answer in self.answers.values()):
            return []
        plain = [explanation for explanation in left if not explanation.changes]
        return plain or left

    def _holding(self, left: list[Explanation], question: int) -> list[Explanation]:
        return [e for e in left if self.allowed() and self._holds(e, question)]

    def _holds(self, explanation: Explanation, question: int) -> bool:
        answer, predicted = self.answers[question], self._prediction(explanation, question)
        if answer is None or predicted is None:
            return answer is predicted
        return self.same(answer, predicted)

    def _prediction(self, explanation: Explanation, question: int) -> Answer:
        key = (explanation, question)
        if key not in self._predicted:
            try:
                self._predicted[key] = self.predict(explanation, question)
            except (IndexError, RuntimeError, ZeroDivisionError):
                self._predicted[key] = None  # student code would raise here too
        return self._predicted[key]

    def _most_telling(self, left: Sequence[Explanation]) -> int:
        """The question not yet put that splits the explanations into most groups."""
        unasked = [q for q in range(self.questions) if q not in self.answers]
        if len(unasked) == 1 or len(left) == 1:
            return unasked[0]
        return max(unasked, key=lambda q: len({self._glance(e, q) for e in left}))

    def _glance(self, explanation: Explanation, question: int) -> tuple[float, ...]:
        predicted = self._prediction(explanation, question)
        return () if predicted is None else glance(predicted)


def glance(values: Tensor) -> tuple[float, ...]:
    """A few values, rounded, by which equal results are known."""
    flat = values.detach().flatten().double()
    step = max(1, flat.numel() // GLANCE_VALUES)
    few = torch.nan_to_num(flat[::step], nan=NOT_A_NUMBER)
    rounded = torch.round(few * 10**GLANCE_DECIMALS) / 10**GLANCE_DECIMALS
    return tuple((rounded + 0.0).tolist())  # + 0.0 turns -0.0 into 0.0


def names_of(explanations: Sequence[Explanation]) -> list[tuple[str, ...]]:
    """The different sets of misconceptions that are left."""
    return sorted({explanation.names for explanation in explanations})
