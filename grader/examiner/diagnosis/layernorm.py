"""Milestone 1: which LayerNorm the student's function computes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import torch
from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.answers import Answer
from grader.examiner.checks import Draw, input_gradient
from grader.examiner.diagnosis import signs
from grader.examiner.diagnosis.finding import (
    Budget,
    EndedError,
    Finding,
    asked,
    conclude,
    repeated,
    same,
    until_ended,
)
from grader.examiner.student import Student
from grader.lesson.choices import NormChoices, changed, changes_of
from grader.lesson.mathematics import normalise
from grader.lesson.search import Explanation, Search

FUNCTION = "layernorm_scratch"
DEFAULT_EPS = 1e-5  # given by the stub's signature, not as an argument
# A function without parameters has no gain and no shift to leave out.
CHANGES = [c for c in changes_of(NormChoices) if c.choice not in ("gain", "shift")]


def pool(fixed: bool = False) -> list[tuple[Tensor, float]]:
    """Inputs with the eps to give: each shows some choices that others hide.

    Where all axes are equally long, code that mixes them up still gets through.  None has a
    single dimension: codes that take the wrong axes differ there without a reason that
    would be worth a name.

    Args:
        fixed: the same in every run.
    """
    draw = Draw("diagnosis of LayerNorm", fixed)
    return [
        (draw.tokens(3, 4, 6, mean=0.5, std=1.5), DEFAULT_EPS),
        (draw.tokens(4, 4, 4, std=3e-3), DEFAULT_EPS),
        (draw.tokens(4, 4, 4), 0.5),
        (draw.tokens(5, 5, mean=1.0), DEFAULT_EPS),
        (draw.tokens(2, 3, 4, 5, mean=-0.5), DEFAULT_EPS),
        (torch.tensor([[3.0, 3.0, 3.0], [0.0, 0.0, 0.0]]), DEFAULT_EPS),
    ]


class LayerNormDiagnosis:
    """One diagnosis.

    Args:
        student: the milestone.
        budget: of the submission.
    """

    def __init__(self, student: Student, budget: Budget) -> None:
        self._student = student
        self._budget = budget
        self._pool = pool()
        self._signs: list[str] = []
        self._source = student.source_of(FUNCTION)

    def finding(self) -> Finding:
        """Ask, and conclude."""

        def predict(explanation: Explanation, number: int) -> Tensor:
            return self._normalised(explanation, *self._pool[number])

        budget = self._budget
        search = Search(
            CHANGES, 1, len(self._pool), self._ask, predict, same, budget.left, budget.afford
        )
        explanations: list[Explanation] = []
        with suppress(EndedError):
            explanations = search.single()
            self._look_at_the_rest(explanations)
            if not explanations and "dropout-left-on" not in self._signs:
                search.ask_all()
                explanations = search.pairs(CHANGES)
        wrong = not any(not e.changes for e in explanations)
        found = list(dict.fromkeys(self._signs))
        return conclude(explanations, found, self._fixed_answers, wrong)

    def _fixed_answers(self) -> list[Tensor | None]:
        self._student.fresh()
        self._pool = pool(fixed=True)
        return until_ended(self._ask, len(self._pool))

    def _ask(self, number: int) -> Tensor | None:
        x, eps = self._pool[number]
        given: dict[str, float] = {} if eps == DEFAULT_EPS else {"eps": eps}

        def call() -> Tensor:
            return self._tensor(
                self._student.call(FUNCTION, x, input_after=True, arguments=given), x
            )

        answer = asked(call, self._budget)
        if isinstance(answer, StudentFaultError):
            self._note(signs.fault_sign(answer, self._student))
            return None
        return answer

    def _tensor(self, answer: Answer, x: Tensor) -> Tensor:
        if answer.gives_nothing:
            self._note(signs.nothing_sign(self._source, FUNCTION))
        if answer.gives_several:
            self._note("several-returned")
        if answer.gives_whole_numbers:
            self._note("dtype-changed")
        if answer.input_after is not None and not same(answer.input_after, x):
            self._note("input-changed-in-place")
        tensor = answer.tensor
        if tensor.dtype != x.dtype:
            self._note("dtype-changed")
        return tensor.to(x.dtype)

    def _look_at_the_rest(self, explanations: Sequence[Explanation]) -> None:
        """Gradient, dtype, and whether the answer is the same a second time.

        Causes are named only where the values are explained: in code whose values nobody
        understands the source may show a cause that is none.
        """
        x = self._pool[0][0]
        gradients: list[Tensor | None] = []

        def with_gradient() -> Tensor:
            answer = self._student.call(FUNCTION, x, upstream=x)
            gradients.append(answer.input_gradients.get(0))
            return answer.tensor

        first = asked(with_gradient, self._budget)
        again = asked(lambda: self._student.call(FUNCTION, x).tensor, self._budget)
        if isinstance(first, StudentFaultError):
            self._note(signs.fault_sign(first, self._student))
        elif isinstance(again, Tensor) and not repeated(first, again):
            self._note(signs.random_sign(self._source) or "state-between-calls")
        if explanations and gradients:
            expected = input_gradient(lambda leaf: self._normalised(explanations[0], leaf), x, x)
            if gradients[0] is None or not same(gradients[0], expected):
                self._note(signs.cut_sign(self._source))
        double = asked(lambda: self._student.call(FUNCTION, x.double()).tensor, self._budget)
        if explanations and isinstance(double, Tensor) and double.dtype != torch.float64:
            self._note("dtype-changed")

    def _normalised(self, explanation: Explanation, x: Tensor, eps: float = DEFAULT_EPS) -> Tensor:
        return normalise(x, eps, changed(NormChoices(), explanation.changes))

    def _note(self, sign: str) -> None:
        if sign:
            self._signs.append(sign)


def diagnose(student: Student, budget: Budget) -> Finding:
    """Name what is wrong with a student's LayerNorm."""
    return LayerNormDiagnosis(student, budget).finding()
