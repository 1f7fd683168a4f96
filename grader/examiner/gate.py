"""The gate for answers: what may exist behind it, decided in one place.

Whatever a worker says passes here before anything else looks at it.  Behind the gate a reply is
of the kind that answers its question; every tensor that it names is there, has a size within
bounds and holds floating-point numbers; what watched children gave is float32; and constants are
literals of modest size.  An odd answer of honest code is put into words (`ForeignValue`, a fault
of an origin of ours), so that it becomes a finding of the test that asked.  What no honest worker
sends is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.errors import FrameError
from grader.examiner.wording import TOO_MANY_DIMENSIONS, TOO_MANY_ELEMENTS, dtype_word
from grader.sandbox.tensors import DTYPE_NAMES
from grader.sandbox.values import NOT_ONLY_LITERALS, is_literal
from grader.sandbox.vocabulary import (
    Built,
    Called,
    Constant,
    Fault,
    Faulted,
    ForeignValue,
    Loaded,
    Named,
    Observation,
    Outlined,
    ParameterClaim,
    Ran,
    Reply,
    SequenceValue,
    Several,
    TensorValue,
    Value,
)

# Of one tensor, and of all parameters of a module.  The lesson's block has 840 of them.
MAX_VALUES = 1 << 20
# Of all that one exchange brings.
MAX_EXCHANGE_VALUES = 4 << 20
MAX_PARAMETERS = 256
MAX_DIMENSIONS = 8
ANSWERS: Mapping[str, type[Reply]] = {
    "outline": Outlined,
    "names": Named,
    "load": Loaded,
    "constant": Constant,
    "call": Called,
    "build": Built,
    "run": Ran,
}
Question = Mapping[str, Any]
Tensors = dict[str, Tensor]


def admit(
    question: Question, reply: Reply, carried: Mapping[str, Tensor], told: bool
) -> tuple[Reply, Tensors]:
    """What of an answer may be looked at.

    Args:
        question: what was asked, as plain data.
        reply: what came, in the schema.
        carried: its tensors by key.
        told: whether that worker has been told a hidden input, now or before.

    Returns:
        The reply in the form that the module describes, with the tensors that it names.

    Raises:
        FrameError: if it is no answer to the question, or none that the worker's own code gives.
    """
    gate = _Gate(carried, told)
    if question["question"] != "several":
        return gate.single(question, reply), gate.kept
    parts = question["questions"]
    if not isinstance(reply, Several) or len(reply.replies) != len(parts):
        raise FrameError("several questions did not bring as many answers")
    replies = tuple(map(gate.single, parts, reply.replies))
    return Several(reply="several", replies=replies), gate.kept


class _Gate:
    """One answer on its way in."""

    def __init__(self, carried: Mapping[str, Tensor], told: bool) -> None:
        self._carried = carried
        self._told = told
        self._values = 0
        self.kept: Tensors = {}

    def single(self, question: Question, reply: Reply) -> Any:
        """The answer to one question; it stays of its kind, or becomes a fault."""
        if isinstance(reply, Faulted):
            return reply.model_copy(update={"fault": self._fault(reply.fault)})
        if not isinstance(reply, ANSWERS[question["question"]]):
            raise FrameError("an answer is not of the kind that was asked for")
        if isinstance(reply, Called):
            return self._called(reply)
        if isinstance(reply, Ran):
            return self._ran(reply)
        if isinstance(reply, Built):
            return self._built(reply)
        if isinstance(reply, Loaded):
            skipped = tuple(map(self._fault, reply.skipped))
            return reply.model_copy(update={"skipped": skipped, "quotable": not self._told})
        return _constant(reply) if isinstance(reply, Constant) else reply

    def _fault(self, fault: Fault) -> Fault:
        return fault.model_copy(update={"quotable": not self._told})

    def _called(self, reply: Called) -> Called:
        if reply.input_after and self._refusal(reply.input_after):
            raise FrameError("an input came back as what it was not")
        output, gradients = self._value(reply.output), self._gradients(reply.gradients)
        return reply.model_copy(update={"output": output, "gradients": gradients})

    def _ran(self, reply: Ran) -> Ran:
        changed = {
            "output": self._value(reply.output),
            "input_gradients": self._gradients(reply.input_gradients),
            "parameter_gradients": self._gradients(reply.parameter_gradients),
            "observations": tuple(map(self._observed, reply.observations)),
        }
        return reply.model_copy(update=changed)

    def _built(self, reply: Built) -> Built | Faulted:
        """A module with the parameters that can be trained; whole numbers hold no weights."""
        names = {claim.name for claim in reply.parameters}
        if len(names) < len(reply.parameters) or not all(map(_dotted, names)):
            raise FrameError("parameters have names that torch gives to none")
        shapes = [tuple(self._tensor(claim.key).shape) for claim in reply.parameters]
        sizes = sum(map(math.prod, shapes))
        deep = any(len(shape) > MAX_DIMENSIONS or _too_wide(shape) for shape in shapes)
        if len(shapes) > MAX_PARAMETERS or sizes > MAX_VALUES or deep:
            fault = Fault(kind="", message="", origin="too-many-parameters")
            return Faulted(reply="faulted", fault=fault)
        parameters = tuple(self._weights(reply.parameters))
        changed = {"parameters": parameters, "buffers": (), "quotable": not self._told}
        return reply.model_copy(update=changed)

    def _weights(self, claims: Iterable[ParameterClaim]) -> list[ParameterClaim]:
        return [claim for claim in claims if not self._refusal(claim.key)]

    def _gradients(self, keys: Mapping[str, str]) -> dict[str, str]:
        """Gradients by name; one that holds no floating-point numbers did not come about."""
        return {name: key for name, key in keys.items() if not self._refusal(key)}

    def _observed(self, seen: Observation) -> Observation:
        """What a child gave: tensors that can be computed with; whole numbers are not seen."""
        inputs = [self._seen(value) for value in seen.inputs if isinstance(value, TensorValue)]
        received = tuple(value for value in inputs if isinstance(value, TensorValue))
        return seen.model_copy(update={"inputs": received, "output": self._seen(seen.output)})

    def _seen(self, value: Value) -> Value:
        """A value with float32 tensors: a child may compute in another precision and cast back."""
        if isinstance(value, SequenceValue):
            return value.model_copy(update={"items": tuple(map(self._seen, value.items))})
        if not isinstance(value, TensorValue):
            return value
        if self._refusal(value.key):
            return ForeignValue(kind="foreign", what="")
        if self._carried[value.key].dtype is torch.float32:
            return value
        key = f"{value.key} seen"  # it may be named elsewhere too, where its dtype counts
        self.kept[key] = self._carried[value.key].float()
        return TensorValue(kind="tensor", key=key)

    def _value(self, value: Value) -> Value:
        if isinstance(value, SequenceValue):
            return value.model_copy(update={"items": tuple(map(self._value, value.items))})
        if not isinstance(value, TensorValue):
            return value
        refusal = self._refusal(value.key)
        return ForeignValue(kind="foreign", what=refusal) if refusal else value

    def _refusal(self, key: str) -> str:
        """Keep a tensor; or say what it is, if nothing can be computed with it."""
        tensor = self._tensor(key)
        if tensor.numel() > MAX_VALUES or _too_wide(tensor.shape):
            return TOO_MANY_ELEMENTS
        if tensor.dim() > MAX_DIMENSIONS:
            return TOO_MANY_DIMENSIONS
        if not tensor.dtype.is_floating_point:
            return dtype_word(tensor.dtype)
        if key not in self.kept:
            self.kept[key] = tensor
            self._values += tensor.numel()
            if self._values > MAX_EXCHANGE_VALUES:
                raise FrameError("an answer brings more values than any test asks for")
        return ""

    def _tensor(self, key: str) -> Tensor:
        tensor = self._carried.get(key)
        if tensor is None:
            raise FrameError("an answer names a tensor that it does not carry")
        if tensor.dtype not in DTYPE_NAMES:
            raise FrameError("an answer carries a tensor of a dtype that no worker sends")
        return tensor


def _dotted(name: str) -> bool:
    """Whether a name is one of torch's for a parameter: names with dots between them."""
    return all(name.split("."))


def _too_wide(shape: Sequence[int]) -> bool:
    """Whether an axis is longer than any tensor: nothing else bounds it where another is 0."""
    return any(size > MAX_VALUES for size in shape)


def _constant(reply: Constant) -> Constant:
    """A constant whose values are literals, or the word for one that is not."""
    if all(map(is_literal, (reply.value, *reply.earlier))):
        return reply
    return Constant(reply="constant", value=None, foreign=NOT_ONLY_LITERALS)
