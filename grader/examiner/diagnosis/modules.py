"""What is alike in the diagnosis of a module: building it, asking it, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.answers import Answer
from grader.examiner.checks import Draw
from grader.examiner.diagnosis import signs
from grader.examiner.diagnosis.finding import Budget, EndedError, Finding, asked, conclude, same
from grader.examiner.module import Module
from grader.examiner.student import Student
from grader.lesson.choices import Change
from grader.lesson.search import Explanation, Search

Shapes = dict[str, tuple[int, ...]]
Predict = Callable[[Explanation, int], Tensor]


class ModuleDiagnosis:
    """Asks one module of the student's and collects signs.

    Args:
        student: the milestone.
        budget: of the submission.
        name: the class.
    """

    def __init__(self, student: Student, budget: Budget, name: str) -> None:
        self.student = student
        self.budget = budget
        self.name = name
        self.signs: list[str] = []
        self.source = student.source_of(name)

    def built(self, **arguments: int) -> Module | None:
        """A module of some size, or `None` with a sign why not.

        Raises:
            EndedError: if the code does not answer any more.
        """
        found: list[Module] = []

        def build() -> Tensor:
            found.append(self.student.build(self.name, **arguments))
            return torch.zeros(())

        answer = asked(build, self.budget)
        if isinstance(answer, StudentFaultError):
            self.note(signs.fault_sign(answer, self.student.outline))
        return found[0] if found else None

    def ask(self, module: Module, x: Tensor, sent: dict[str, Tensor]) -> Tensor | None:
        """What the module makes of x with some weights; `None` with a sign if it raises."""
        module.write(sent)
        answer = asked(lambda: self._tensor(module.run(x)), self.budget)
        if isinstance(answer, StudentFaultError):
            self.note(signs.fault_sign(answer, self.student.outline))
            return None
        return answer

    def _tensor(self, answer: Answer) -> Tensor:
        if answer.gives_nothing:
            self.note(signs.nothing_sign(self.source, f"{self.name}.forward"))
        if answer.gives_several:
            self.note("several-returned")
        return answer.tensor

    def search(
        self,
        changes: Sequence[Change],
        readings: int,
        pool: Sequence[Tensor],
        module: Module,
        sent: dict[str, Tensor],
        predict: Predict,
    ) -> tuple[list[Explanation], list[Tensor | None]]:
        """The explanations that are left, and the answers to the pool's questions."""
        search = Search(
            changes,
            readings,
            len(pool),
            lambda number: self.ask(module, pool[number], sent),
            predict,
            same,
            self.budget.left,
        )
        explanations = search.explanations()
        return explanations, [search.answers.get(number) for number in range(len(pool))]

    def look_at_the_rest(self, module: Module, x: Tensor, sent: dict[str, Tensor]) -> None:
        """Gradient, dependence on earlier calls and on chance, parameters in the right places."""
        module.write(sent)
        gradient_cut: list[bool] = []

        def with_gradient() -> Tensor:
            answer = module.run(x, upstream=torch.ones_like(x))
            tensor = answer.tensor
            gradient_cut.append(0 not in answer.input_gradients)
            return tensor

        first = asked(with_gradient, self.budget)
        again = asked(lambda: module.run(x).tensor, self.budget)
        if isinstance(first, StudentFaultError):
            self.note(signs.fault_sign(first, self.student.outline))
        elif isinstance(again, Tensor) and not same(first, again):
            unregistered = signs.unregistered_sign(self.source)
            self.note(unregistered or signs.random_sign(self.source) or "state-between-calls")
        if any(gradient_cut):
            self.note(signs.cut_sign(self.source))

    def note(self, sign: str) -> None:
        """Remember a sign."""
        if sign and sign not in self.signs:
            self.signs.append(sign)

    def concluded(
        self, explanations: Sequence[Explanation], answers: Sequence[Tensor | None]
    ) -> Finding:
        """What may be said."""
        wrong = not any(not explanation.changes for explanation in explanations)
        return conclude(explanations, self.signs, answers, wrong)


def drawn(shapes: Shapes, what: str) -> dict[str, Tensor]:
    """Weights to send: the same for each submission with parameters of these shapes."""
    return Draw(f"diagnosis of {what}").weights(shapes)


def sizes_fixed(first: Module | None, second: Module | None) -> bool:
    """Tell whether two modules of different sizes have parameters of the same shapes."""
    if first is None or second is None or not first.shapes:
        return False
    return list(first.shapes.values()) == list(second.shapes.values())


__all__ = ["EndedError", "ModuleDiagnosis", "Shapes", "drawn", "sizes_fixed"]
