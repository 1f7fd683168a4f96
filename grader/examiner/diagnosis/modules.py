"""What is alike in the diagnosis of a module: building it, asking it, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    FixedAnswers,
    asked,
    conclude,
    repeated,
    same,
    until_ended,
)
from grader.examiner.module import Module
from grader.examiner.student import Student
from grader.lesson.choices import Change
from grader.lesson.parameter_names import squeezed
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
            self.note(signs.fault_sign(answer, self.student))
        return found[0] if found else None

    def ask(self, module: Module, x: Tensor, sent: dict[str, Tensor]) -> Tensor | None:
        """What the module makes of x with some weights; `None` with a sign if it raises."""
        module.write(sent)
        answer = asked(lambda: self._tensor(module.run(x)).to(x.dtype), self.budget)
        if isinstance(answer, StudentFaultError):
            self.note(signs.fault_sign(answer, self.student))
            return None
        return answer

    def _tensor(self, answer: Answer) -> Tensor:
        if answer.gives_nothing:
            self.note(signs.nothing_sign(self.source, f"{self.name}.forward"))
        if answer.gives_several:
            self.note("several-returned")
        if answer.gives_whole_numbers:
            self.note("dtype-changed")
        tensor = answer.tensor
        if tensor.dtype != torch.float32:
            self.note("dtype-changed")
        return tensor

    def search(
        self,
        changes: Sequence[Change],
        readings: int,
        pool: Sequence[Tensor],
        module: Module,
        sent: dict[str, Tensor],
        predict: Predict,
    ) -> Search:
        """A search among changed choices by questions to the module."""

        def ask(number: int) -> Tensor | None:
            return self.ask(module, pool[number], sent)

        budget = self.budget
        return Search(changes, readings, len(pool), ask, predict, same, budget.left, budget.afford)

    @property
    def chance(self) -> bool:
        """Whether the module was seen to answer differently the second time."""
        return bool({"dropout-left-on", "state-between-calls", "layers-in-forward"} & {*self.signs})

    def look_at_the_rest(
        self,
        module: Module,
        x: Tensor,
        sent: dict[str, Tensor],
        explained: Callable[[Tensor], Tensor] | None,
    ) -> None:
        """Gradients, and dependence on earlier calls and on chance.

        Args:
            module: with parameters of the student's.
            x: input.
            sent: weights.
            explained: what the module was found to compute, if that is known.  A cause of a wrong
                gradient is named only then: in code whose values nobody understands the source
                may show a cause that is none.
        """
        module.write(sent)
        cut: list[bool] = []

        def with_gradient() -> Tensor:
            answer = module.run(x, upstream=x)
            tensor = self._tensor(answer)
            cut.append(explained is not None and self._gradient_cut(answer, module, x, explained))
            return tensor

        first = asked(with_gradient, self.budget)
        again = asked(lambda: module.run(x).tensor, self.budget)
        if isinstance(first, StudentFaultError):
            self.note(signs.fault_sign(first, self.student))
        elif isinstance(again, Tensor) and not repeated(first, again):
            unregistered = signs.unregistered_sign(self.source)
            self.note(unregistered or signs.random_sign(self.source) or "state-between-calls")
        if any(cut):
            self.note(signs.cut_sign(self.source))

    @staticmethod
    def _gradient_cut(
        answer: Answer, module: Module, x: Tensor, explained: Callable[[Tensor], Tensor]
    ) -> bool:
        """Whether a gradient is missing, or is another one than that of the same formula."""
        gradient = answer.input_gradients.get(0)
        if gradient is None or any(n not in answer.parameter_gradients for n in module.trainable):
            return True
        return not same(gradient, input_gradient(explained, x, x))

    def note(self, sign: str) -> None:
        """Remember a sign."""
        if sign and sign not in self.signs:
            self.signs.append(sign)

    def concluded(
        self, explanations: Sequence[Explanation], fixed_answers: FixedAnswers = list
    ) -> Finding:
        """What may be said; without questions to tell equal mistakes by, no fingerprint."""
        wrong = not any(not explanation.changes for explanation in explanations)
        return conclude(explanations, self.signs, fixed_answers, wrong)

    def asked_anew(
        self,
        sizes: dict[str, int],
        pool: Sequence[Tensor],
        weights: Callable[[Shapes], dict[str, Tensor]],
    ) -> list[Tensor | None]:
        """What a new module in a new worker makes of each input.

        Args:
            sizes: arguments of the constructor.
            pool: the inputs.
            weights: to send to a module with parameters of some shapes.
        """
        self.student.fresh()
        try:
            module = self.built(**sizes)
        except EndedError:
            return []
        if module is None:
            return []
        sent = weights(module.shapes)
        return until_ended(lambda number: self.ask(module, pool[number], sent), len(pool))


def drawn(shapes: Shapes, what: str, fixed: bool = False) -> dict[str, Tensor]:
    """Weights to send: the same for each submission with parameters of these shapes.

    Args:
        shapes: by name.
        what: the class.
        fixed: the same in every run.
    """
    return Draw(f"diagnosis of {what}", fixed).weights(shapes)


def sizes_fixed(first: Module | None, second: Module | None) -> bool:
    """Tell whether two modules of different sizes have parameters of the same shapes."""
    if first is None or second is None or not first.shapes:
        return False
    return list(first.shapes.values()) == list(second.shapes.values())


def width_ignored(module: Module, d: int, f: int) -> bool:
    """Tell whether the hidden layer has another width than it was asked for.

    Args:
        module: with two layers from d to a hidden width and back, whatever else it holds.
        d: features of a token.
        f: hidden width that was asked for.
    """
    pairs = [s for s in map(squeezed, module.shapes.values()) if len(s) == 2 and d in s]
    widths = [shape[0] if shape[1] == d else shape[1] for shape in pairs if set(shape) != {d}]
    inner = [width for width in widths if widths.count(width) == 2 and width != 3 * d]
    return bool(inner) and f not in widths
