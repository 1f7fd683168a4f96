"""A module of the student's under examination: its parameters, and running it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.answers import Answer, by_name, by_position, carried
from grader.examiner.explain import Doing
from grader.examiner.milestone import MilestoneUnderTest
from grader.sandbox.vocabulary import Built, Parameters, Ran, Written


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
    """

    def __init__(
        self, under_test: MilestoneUnderTest, subject: str, built: Built, tensors: dict[str, Tensor]
    ) -> None:
        self.subject = subject
        self._under_test = under_test
        self._handle = built.handle
        self._unsent: dict[str, Tensor] = {}
        self._in_place: dict[str, Tensor] = {}
        self.parameters = by_name(built.parameters, tensors)
        self.trainable = frozenset(p.name for p in built.parameters if p.requires_grad)
        self.children = {child.name: child.type for child in built.children}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each parameter, in the order of definition."""
        return {name: tuple(tensor.shape) for name, tensor in self.parameters.items()}

    @property
    def parameter_count(self) -> int:
        """Number of trained values."""
        return sum(self.parameters[name].numel() for name in self.trainable)

    def read(self) -> dict[str, Tensor]:
        """The parameters as they are now."""
        self._send_values()
        question = {"question": "read", "handle": self._handle}
        doing = Doing(f"reading the parameters of {self.subject}")
        reply, tensors = self._under_test.ask(question, {}, doing, Parameters)
        return by_name(reply.parameters, tensors)

    def write(self, values: Mapping[str, Tensor]) -> None:
        """Set parameters, by name.  They travel with the next question.

        A tensor that is in its place already does not travel again, so it must not be changed.
        """
        self._unsent.update(values)

    def _send_values(self) -> None:
        keys, tensors = self._take_unsent(0)
        question = {"question": "write", "handle": self._handle, "parameters": keys}
        doing = Doing(f"setting the parameters of {self.subject}")
        with self._weights_in_doubt():
            self._under_test.ask(question, tensors, doing, Written)

    def _take_unsent(self, number: int) -> tuple[dict[str, str], dict[str, Tensor]]:
        """Payload key by parameter name, and the values by key."""
        new = {n: v for n, v in self._unsent.items() if self._in_place.get(n) is not v}
        keys = {name: f"p{number}.{index}" for index, name in enumerate(new)}
        tensors = {keys[name]: value for name, value in new.items()}
        self._in_place |= new
        self._unsent = {}
        return keys, tensors

    def run(
        self,
        x: Tensor,
        *,
        watch: Sequence[str] = (),
        upstream: Tensor | None = None,
    ) -> Answer:
        """Run the module forward in eval mode, and backward if an upstream gradient is given.

        Args:
            x: input.
            watch: dotted names of children to look at.
            upstream: gradient of the loss with respect to the output, of the output's shape.
        """
        question, tensors = self._run_question(Run(x), 0, watch, upstream)
        with self._weights_in_doubt():
            reply, carried_tensors = self._under_test.ask(question, tensors, self._doing(x), Ran)
        return self._answer(reply, carried_tensors)

    def run_each(self, *runs: Run) -> list[Answer]:
        """Run the module forward several times in one exchange, in eval mode."""
        questions = []
        tensors: dict[str, Tensor] = {}
        for number, run in enumerate(runs):
            question, needed = self._run_question(run, number)
            questions.append(question)
            tensors |= needed
        with self._weights_in_doubt():
            replies, carried_tensors = self._under_test.ask_several(
                questions, tensors, self._doing(runs[0].x), Ran
            )
        return [self._answer(reply, carried_tensors) for reply in replies]

    @contextmanager
    def _weights_in_doubt(self) -> Iterator[None]:
        """After a question that failed, all parameters travel again."""
        try:
            yield
        except StudentFaultError:
            self._in_place = {}
            raise

    def _run_question(
        self,
        run: Run,
        number: int,
        watch: Sequence[str] = (),
        upstream: Tensor | None = None,
    ) -> tuple[dict[str, Any], dict[str, Tensor]]:
        self._unsent.update(run.values)
        keys, tensors = self._take_unsent(number)
        tensors[f"x{number}"] = run.x
        if upstream is not None:
            tensors["upstream"] = upstream
        question = {
            "question": "run",
            "handle": self._handle,
            "parameters": keys,
            "tensors": [["x", f"x{number}"]],
            "mode": "eval",
            "watch": list(watch),
            "upstream": "" if upstream is None else "upstream",
            "operators": False,
        }
        return question, tensors

    def _doing(self, x: Tensor) -> Doing:
        return Doing(f"running {self.subject}", f"Input of shape {tuple(x.shape)}.")

    def _answer(self, reply: Ran, tensors: dict[str, Tensor]) -> Answer:
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
