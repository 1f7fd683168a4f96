"""The `student` that hidden tests talk to: the student's names, seen across the boundary.

Everything an answer holds is a claim.  The properties here check what it is before a test looks
at it: a tensor and not `None`, of the right shape and dtype, finite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.milestone import MilestoneUnderTest
from grader.model import Verdict
from grader.sandbox.vocabulary import (
    Built,
    Called,
    Constant,
    Fault,
    ForeignValue,
    Observation,
    ParameterClaim,
    Parameters,
    Ran,
    SequenceValue,
    TensorValue,
    Value,
    Written,
)

Created = TypeVar("Created")


def fail(message: str, details: str = "") -> StudentFaultError:
    """A finding: the student's answer is wrong.  To be raised."""
    return StudentFaultError(Verdict.FAILED.value, message, details)


@dataclass(frozen=True)
class Answer:
    """What a call or a run brought back.

    Attributes:
        subject: what was called, for messages.
        inputs_after: the inputs of a function as they are afterwards.
        input_gradients: gradient of each input, by position; absent ones did not come about.
        parameter_gradients: gradient of each parameter, by name.
        gradient_fault: why there is no gradient.
        observations: calls of watched children, in their order.
        operators: names of the torch functions that took part.
    """

    subject: str
    output: TensorValue | SequenceValue | ForeignValue
    tensors: Mapping[str, Tensor]
    input_gradients: Mapping[int, Tensor]
    parameter_gradients: Mapping[str, Tensor]
    gradient_fault: Fault | None
    inputs_after: tuple[Tensor, ...] = ()
    observations: tuple[Observation, ...] = ()
    operators: tuple[str, ...] = ()

    @property
    def tensor(self) -> Tensor:
        """The output, which has to be one tensor.

        Raises:
            StudentFaultError: saying what it is instead.
        """
        return only_tensor(self.output, self.tensors, self.subject)

    def seen(self, child: str) -> tuple[Tensor, Tensor] | None:
        """First input and output of a watched child that was called exactly once."""
        calls = [entry for entry in self.observations if entry.child == child]
        if len(calls) != 1 or not calls[0].inputs:
            return None
        received = first_tensor(calls[0].inputs[0], self.tensors)
        returned = first_tensor(calls[0].output, self.tensors)
        return (received, returned) if received is not None and returned is not None else None


def only_tensor(value: Value, tensors: Mapping[str, Tensor], subject: str) -> Tensor:
    """The tensor that a value is.

    Raises:
        StudentFaultError: saying what it is instead.
    """
    if isinstance(value, TensorValue):
        return carried(tensors, value.key)
    if isinstance(value, SequenceValue):
        raise fail(f"{subject} returned {len(value.items)} values together, not one tensor.")
    if value.what == "NoneType":
        raise fail(f"{subject} returned None. Is the return statement missing?")
    raise fail(f"{subject} did not return an ordinary tensor. It returned: {value.what}.")


def first_tensor(value: Value, tensors: Mapping[str, Tensor]) -> Tensor | None:
    """The value if it is a tensor, or the first tensor in it."""
    if isinstance(value, TensorValue):
        return carried(tensors, value.key)
    if isinstance(value, SequenceValue) and value.items:
        return first_tensor(value.items[0], tensors)
    return None


def carried(tensors: Mapping[str, Tensor], key: str) -> Tensor:
    """A tensor of the payload.

    Raises:
        StudentFaultError: if the answer names one that it does not carry.
    """
    if key not in tensors:
        raise StudentFaultError(
            Verdict.CRASHED.value, "The process that runs your code sent half an answer."
        )
    return tensors[key]


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
        self.parameters = _by_name(built.parameters, tensors)
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
        reply, tensors = self._under_test.ask(
            question, {}, f"reading the parameters of {self.subject}", Parameters
        )
        return _by_name(reply.parameters, tensors)

    def write(self, values: Mapping[str, Tensor]) -> None:
        """Set parameters, by name.  They travel with the next question."""
        self._unsent.update(values)

    def _send_values(self) -> None:
        keys, tensors = self._take_unsent(0)
        question = {"question": "write", "handle": self._handle, "parameters": keys}
        self._under_test.ask(
            question, tensors, f"setting the parameters of {self.subject}", Written
        )

    def _take_unsent(self, number: int) -> tuple[dict[str, str], dict[str, Tensor]]:
        """Payload key by parameter name, and the values by key."""
        keys = {name: f"p{number}.{index}" for index, name in enumerate(self._unsent)}
        tensors = {keys[name]: value for name, value in self._unsent.items()}
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
        replies, carried_tensors = self._under_test.ask_several(
            questions, tensors, self._doing(runs[0].x), Ran
        )
        return [self._answer(reply, carried_tensors) for reply in replies]

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

    def _doing(self, x: Tensor) -> str:
        return f"running {self.subject} on an input of shape {tuple(x.shape)}"

    def _answer(self, reply: Ran, tensors: dict[str, Tensor]) -> Answer:
        return Answer(
            subject=self.subject,
            output=reply.output,
            tensors=tensors,
            input_gradients=_by_position(reply.input_gradients, tensors),
            parameter_gradients={
                name: carried(tensors, key) for name, key in reply.parameter_gradients.items()
            },
            gradient_fault=reply.gradient_fault,
            observations=reply.observations,
            operators=reply.operators,
        )


class Student:
    """One milestone of a submission, as a hidden test sees it."""

    _under_test: MilestoneUnderTest

    def turn_to(self, under_test: MilestoneUnderTest) -> None:
        """Speak for another milestone from now on."""
        self._under_test = under_test

    def once(self, key: str, create: Callable[[], Created]) -> Created:
        """What `create` returns, made anew only after the student's code has lost its state.

        Args:
            key: names the thing within the milestone.
            create: makes it; several tests may look at the same thing.
        """
        return self._under_test.once(key, create)

    def constant(self, name: str) -> Any:
        """A literal at the top level of the file, as plain JSON data; `None` if not filled in.

        Raises:
            StudentFaultError: if the name is missing or is no literal.
        """
        question = {"question": "constant", "name": name}
        reply, _ = self._under_test.ask(question, {}, f"reading {name}", Constant)
        if reply.foreign:
            raise fail(f"{name} must be a plain number or list. It is a {reply.foreign}.")
        return reply.value

    def constants(self, name: str) -> list[Any]:
        """The literal at the top level of the milestone's file.

        In a file that serves several milestones each of them may have bound the name, and all
        of its first values are given.

        Raises:
            StudentFaultError: if the name is missing or is no literal.
        """
        last = self.constant(name)
        if self._under_test.own_file:
            return [last]
        reply, _ = self._under_test.ask(
            {"question": "constant", "name": name}, {}, f"reading {name}", Constant
        )
        return [*reply.earlier, last]

    def call(
        self,
        function: str,
        x: Tensor,
        *,
        upstream: Tensor | None = None,
        operators: bool = False,
        **arguments: float,
    ) -> Answer:
        """Call a function with one tensor.

        Args:
            function: its name.
            x: first argument.
            upstream: gradient of the loss with respect to the result.
            operators: record the names of torch functions.
            arguments: further arguments, by the stub's names.
        """
        question = _call_question(function, 0, arguments, upstream is not None, operators)
        tensors = {"x0": x} if upstream is None else {"x0": x, "upstream": upstream}
        reply, carried_tensors = self._under_test.ask(
            question, tensors, _calling(function, x), Called
        )
        return _call_answer(function, reply, carried_tensors)

    def call_each(self, function: str, *inputs: Tensor) -> list[Answer]:
        """Call a function with one tensor after the other, in one exchange."""
        questions = [_call_question(function, n, {}, False, False) for n in range(len(inputs))]
        tensors = {f"x{number}": x for number, x in enumerate(inputs)}
        replies, carried_tensors = self._under_test.ask_several(
            questions, tensors, _calling(function, inputs[0]), Called
        )
        return [_call_answer(function, reply, carried_tensors) for reply in replies]

    def build(self, name: str, *, seed: int = 0, **arguments: int) -> Module:
        """Build a module of one of the student's classes.

        Tests that ask for the same module get the same one, and have to send it the weights
        that they rely on.

        Args:
            name: the class.
            seed: torch's seed before the constructor runs.
            arguments: of the constructor, in the order and with the names of the stub.
        """
        given = ", ".join(f"{key}={value}" for key, value in arguments.items())
        question = {
            "question": "build",
            "class": name,
            "seed": seed,
            "arguments": [list(pair) for pair in arguments.items()],
        }
        reply, tensors = self._under_test.ask_once(question, f"creating {name}({given})", Built)
        return Module(self._under_test, name, reply, tensors)


def _calling(function: str, x: Tensor) -> str:
    return f"calling {function} on an input of shape {tuple(x.shape)}"


def _call_question(
    function: str, number: int, arguments: Mapping[str, float], gradient: bool, operators: bool
) -> dict[str, Any]:
    return {
        "question": "call",
        "function": function,
        "tensors": [["x", f"x{number}"]],
        "arguments": [list(pair) for pair in arguments.items()],
        "upstream": "upstream" if gradient else "",
        "operators": operators,
    }


def _call_answer(function: str, reply: Called, tensors: dict[str, Tensor]) -> Answer:
    return Answer(
        subject=function,
        output=reply.output,
        tensors=tensors,
        inputs_after=tuple(carried(tensors, key) for key in reply.inputs_after),
        input_gradients=_by_position(reply.gradients, tensors),
        parameter_gradients={},
        gradient_fault=reply.gradient_fault,
        operators=reply.operators,
    )


def _by_name(claims: Sequence[ParameterClaim], tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {claim.name: carried(tensors, claim.key) for claim in claims}


def _by_position(keys: Mapping[str, str], tensors: Mapping[str, Tensor]) -> dict[int, Tensor]:
    return {
        int(position): carried(tensors, key)
        for position, key in keys.items()
        if position.isdecimal()
    }
