"""A module of the student's under examination: its parameters, and running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from grader.examiner.answers import Answer, by_name, by_position, carried, fail
from grader.examiner.checks import alike
from grader.examiner.explain import Doing
from grader.examiner.milestone import MilestoneUnderTest
from grader.examiner.questions import Asked, BuildQuestion, RunQuestion
from grader.sandbox.vocabulary import Built, Ran

# Of runs that are compared: what hangs on chance is the same in them.
SEED = 0
SHOWN_PARAMETERS = 12
SHOWN_NAME = 80


@dataclass(frozen=True)
class Run:
    """One run of a module.

    Attributes:
        x: input.
        values: parameters to set before, by name; they stay set.
    """

    x: Tensor
    values: Mapping[str, Tensor] = field(default_factory=dict)


class Module:
    """A module built from one of the student's classes.

    Attributes:
        subject: name of the class, for messages.
        parameters: its parameters as they were built, by dotted name.
        trainable: names of those that require a gradient.
        children: class name of each module inside, by dotted name.
        quotable: whether its names and shapes may be repeated in messages: only if no hidden input
            had been told when it was built.
    """

    def __init__(
        self,
        under_test: MilestoneUnderTest,
        question: BuildQuestion,
        built: Built,
        tensors: Mapping[str, Tensor],
    ) -> None:
        self.subject = question.name
        self._under_test = under_test
        self._question = question
        self._state: Mapping[str, Tensor] = {}
        self.parameters = by_name(built.parameters, tensors)
        self.trainable = frozenset(p.name for p in built.parameters if p.requires_grad)
        self.children = {child.name: child.type for child in built.children}
        self.quotable = built.quotable

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each parameter, in the order of definition."""
        return {name: tuple(tensor.shape) for name, tensor in self.parameters.items()}

    def called(self, name: str) -> str:
        """What a message calls a parameter."""
        return f"the parameter {name[:SHOWN_NAME]}" if self.quotable else "one of the parameters"

    @property
    def described(self) -> str:
        """Names and shapes of the first parameters, for details; empty if they may not be told."""
        first = list(self.shapes.items())[:SHOWN_PARAMETERS]
        shown = ", ".join(f"{name[:SHOWN_NAME]} {shape}" for name, shape in first) or "none"
        more = ", ..." if len(self.shapes) > len(first) else ""
        return f"{shown}{more}" if self.quotable else ""

    @property
    def parameter_count(self) -> int:
        """Number of trained values."""
        return sum(self.parameters[name].numel() for name in self.trainable)

    def counted(self, built: str, expected: int) -> str:
        """The details of a wrong number of parameters; empty if it may not be told."""
        found = f"{built} has {self.parameter_count} parameters instead of {expected}."
        return found if self.quotable else ""

    def write(self, values: Mapping[str, Tensor]) -> None:
        """Set parameters, by name.  They travel with the next question.

        A tensor that is in its place already does not travel again, so it must not be changed.
        """
        self._state = {**self._state, **values}

    def run(
        self,
        x: Tensor,
        *,
        watch: Sequence[str] = (),
        upstream: Tensor | None = None,
        seed: int | None = None,
    ) -> Answer:
        """Run the module forward in eval mode, and backward if an upstream gradient is given.

        Args:
            x: input.
            watch: dotted names of children to look at.
            upstream: gradient of the loss with respect to the output, of the output's shape.
            seed: torch's seed before the run, so that runs that differ in nothing else agree.
        """
        question = RunQuestion(self._question, tuple(watch), seed)
        asked = Asked(question, x, upstream, self._state)
        return self._answer(*self._under_test.ask(asked, self._doing(x), Ran))

    def run_each(self, *runs: Run) -> list[Answer]:
        """Run the module forward several times in one exchange, in eval mode."""
        asked = []
        for run in runs:
            self.write(run.values)
            asked.append(Asked(RunQuestion(self._question), run.x, None, self._state))
        answers = self._under_test.ask_several(asked, self._doing(runs[0].x), Ran)
        return [self._answer(reply, tensors) for reply, tensors in answers]

    def _doing(self, x: Tensor) -> Doing:
        return Doing(f"running {self.subject}", f"Input of shape {tuple(x.shape)}.")

    def _answer(self, reply: Ran, tensors: Mapping[str, Tensor]) -> Answer:
        return Answer(
            subject=self.subject,
            output=reply.output,
            tensors=tensors,
            input_gradients=by_position(reply.input_gradients, tensors),
            parameter_gradients={
                name: carried(tensors, key) for name, key in reply.parameter_gradients.items()
            },
            gradient_fault=reply.gradient_fault,
            observations=reply.observations,
            operators=reply.operators,
        )


def with_gradient(
    module: Module, x: Tensor, upstream: Tensor, plain: Answer, subject: str
) -> Answer:
    """A run forward and backward whose output is that of a run without a gradient.

    Args:
        module: with its weights.
        x: input.
        upstream: gradient of the loss with respect to the output.
        plain: the same run with `SEED` and without a gradient.
        subject: the output, for messages.

    Raises:
        StudentFaultError: if the outputs differ: a gradient of something else proves nothing.
    """
    answer = module.run(x, upstream=upstream, seed=SEED)
    if not alike(answer.tensor, plain.tensor):
        raise fail(f"{subject} is another one when a gradient is asked for.")
    return answer
