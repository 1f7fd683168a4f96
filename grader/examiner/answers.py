"""What the student's code answered: claims, checked before a test looks at them.

The properties here tell what an answer is: a tensor and not `None`, one and not several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.wording import NUMBERS, value_word
from grader.model import Verdict
from grader.sandbox.vocabulary import (
    Fault,
    ForeignValue,
    Observation,
    ParameterClaim,
    SequenceValue,
    TensorValue,
    Value,
)


def fail(message: str, details: str = "") -> StudentFaultError:
    """A finding: the student's answer is wrong.  To be raised."""
    return StudentFaultError(Verdict.FAILED.value, message, details)


@dataclass(frozen=True)
class Answer:
    """What a call or a run brought back.

    Attributes:
        subject: what was called, for messages.
        input_after: the input of a function as it is afterwards, if that was asked for.
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
    input_after: Tensor | None = None
    observations: tuple[Observation, ...] = ()
    operators: tuple[str, ...] = ()

    @property
    def tensor(self) -> Tensor:
        """The output, which has to be one tensor.

        Raises:
            StudentFaultError: saying what it is instead.
        """
        return only_tensor(self.output, self.tensors, self.subject)

    @property
    def gives_nothing(self) -> bool:
        """Whether the output is None."""
        return isinstance(self.output, ForeignValue) and self.output.what == "NoneType"

    @property
    def gives_whole_numbers(self) -> bool:
        """Whether the output is a tensor of whole numbers or truth values."""
        return isinstance(self.output, ForeignValue) and self.output.what in NUMBERS

    @property
    def gives_several(self) -> bool:
        """Whether the output is a tuple or a list."""
        return isinstance(self.output, SequenceValue)

    def calls(self, child: str) -> list[tuple[Tensor, Tensor]]:
        """First input and output of each call of a watched child, as far as they are tensors."""
        found = []
        for entry in self.observations:
            if entry.child == child and entry.inputs:
                received = first_tensor(entry.inputs[0], self.tensors)
                returned = first_tensor(entry.output, self.tensors)
                if received is not None and returned is not None:
                    found.append((received, returned))
        return found


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
    if value.what in NUMBERS:
        raise fail(f"{subject} returned {value.what}, not floating-point numbers (float32).")
    raise fail(
        f"{subject} did not return an ordinary tensor. It returned: {value_word(value.what)}."
    )


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


def by_name(claims: Sequence[ParameterClaim], tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Parameters by their dotted names."""
    return {claim.name: carried(tensors, claim.key) for claim in claims}


def by_position(keys: Mapping[str, str], tensors: Mapping[str, Tensor]) -> dict[int, Tensor]:
    """Tensors by the number that the answer gives them; what is no number is passed over."""
    return {
        int(position): carried(tensors, key)
        for position, key in keys.items()
        if position.isdecimal()
    }
