"""The gate for answers: what exists behind it, and what an odd answer becomes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from grader.errors import FrameError, StudentFaultError
from grader.examiner.answers import only_tensor
from grader.examiner.explain import Doing, fault_error, load_error
from grader.examiner.gate import MAX_DIMENSIONS, MAX_PARAMETERS, MAX_VALUES, admit
from grader.examiner.wording import shape_word, value_word
from grader.sandbox.values import NOT_ONLY_LITERALS
from grader.sandbox.vocabulary import Fault, parse_envelope

TENSOR = {"kind": "tensor", "key": "t0"}
CALLED: dict[str, Any] = {
    "reply": "called", "output": TENSOR, "input_after": "", "gradients": {},
    "gradient_fault": None, "operators": [],
}  # fmt: skip
RAN: dict[str, Any] = {
    "reply": "ran", "output": TENSOR, "observations": [], "input_gradients": {},
    "parameter_gradients": {}, "gradient_fault": None, "operators": [],
}  # fmt: skip


def admitted(question: str, body: dict[str, Any], told: bool = True, **carried: Tensor) -> Any:
    """Reply and tensors behind the gate."""
    reply = parse_envelope({"id": 0, "body": body}).body
    return admit({"question": question}, reply, carried, told)


def built(*shapes: tuple[int, ...], dtype: torch.dtype = torch.float32, told: bool = True) -> Any:
    """The answer to `build`: a module with parameters of some shapes."""
    tensors = {f"t{n}": torch.zeros(shape, dtype=dtype) for n, shape in enumerate(shapes)}
    claims = [{"name": f"p.{key}", "key": key, "requires_grad": False} for key in tensors]
    body = {"reply": "built", "handle": 0, "parameters": claims, "buffers": [], "children": []}
    return admitted("build", body, told, **tensors)[0]


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.ones(2, dtype=torch.int64), "f returned whole numbers (int64), not floating-point"),
        (torch.ones(2, dtype=torch.bool), "f returned truth values (bool), not floating-point"),
        (torch.zeros(MAX_VALUES + 1), "a tensor with too many elements"),
        (torch.zeros(0, 1 << 40), "a tensor with too many elements"),
        (torch.zeros((1,) * (MAX_DIMENSIONS + 1)), "a tensor with too many dimensions"),
    ],
    ids=["int64", "bool", "large", "empty-and-wide", "deep"],
)
def test_an_output_that_cannot_be_computed_with_is_the_student_s(
    tensor: Tensor, message: str
) -> None:
    """It is put into words, and no test gets to compute with it."""
    reply, tensors = admitted("call", CALLED, t0=tensor)
    assert tensors == {}
    with pytest.raises(StudentFaultError) as caught:
        only_tensor(reply.output, tensors, "f")
    assert message in caught.value.message


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_floating_point_numbers_come_through_as_they_are(dtype: torch.dtype) -> None:
    """A wrong precision is the finding of a test, which names it."""
    _, tensors = admitted("call", CALLED, t0=torch.ones(2, dtype=dtype))
    assert tensors["t0"].dtype is dtype


def test_what_a_watched_child_computes_in_float64_is_seen() -> None:
    """Attention in float64 that is cast back is right; the output keeps its own dtype."""
    seen = {"child": "attn", "inputs": [TENSOR], "output": TENSOR}
    body = {**RAN, "observations": [seen]}
    reply, tensors = admitted("run", body, t0=torch.ones(2, dtype=torch.float64))
    (observed,) = reply.observations
    assert tensors[observed.output.key].dtype is torch.float32
    assert tensors[reply.output.key].dtype is torch.float64


def test_whole_numbers_beside_a_child_s_input_are_not_seen() -> None:
    """A mask or a position is no reason not to look at the tensor behind it."""
    mask, x = {"kind": "tensor", "key": "t1"}, TENSOR
    seen = {"child": "attn", "inputs": [mask, x], "output": x}
    body = {**RAN, "observations": [seen]}
    reply, _ = admitted("run", body, t0=torch.ones(2), t1=torch.ones(2, dtype=torch.bool))
    assert [value.key for value in reply.observations[0].inputs] == ["t0"]


@pytest.mark.parametrize(
    ("question", "body", "carried"),
    [
        ("run", CALLED, {"t0": torch.ones(1)}),
        ("call", CALLED, {}),
        ("call", CALLED, {"t0": torch.ones(1, dtype=torch.float8_e4m3fn)}),
        ("call", {**CALLED, "input_after": "t1"}, {"t0": torch.ones(1), "t1": torch.ones(1) > 0}),
    ],
    ids=["another-kind", "half-an-answer", "float8", "input-of-another-dtype"],
)
def test_what_no_worker_sends_is_no_answer(
    question: str, body: dict[str, Any], carried: dict[str, Tensor]
) -> None:
    """Somebody has meddled with the process that answers."""
    with pytest.raises(FrameError):
        admitted(question, body, True, **carried)


@pytest.mark.parametrize(
    "shapes",
    [[(1,)] * (MAX_PARAMETERS + 1), [(MAX_VALUES // 2, 3)], [(1,) * (MAX_DIMENSIONS + 1)]],
    ids=["many", "large", "deep"],
)
def test_a_module_with_too_many_parameters_is_a_finding(shapes: list[tuple[int, ...]]) -> None:
    """What follows grows with their number, so it is not begun."""
    reply = built(*shapes)
    assert reply.fault.origin == "too-many-parameters"
    assert "more than 256 parameters" in fault_error(reply.fault, Doing("creating F")).message


def test_parameters_of_whole_numbers_hold_no_weights() -> None:
    """Positions that a module keeps as a parameter are left as they are."""
    assert built((4,), dtype=torch.int64).parameters == ()


@pytest.mark.parametrize(
    "value", [10**400, [[[[[[1]]]]]], {"a": 1}, "x" * 20_000], ids=["digits", "deep", "map", "long"]
)
def test_a_constant_that_is_no_modest_literal_is_named(value: Any) -> None:
    """No test computes with it."""
    body = {"reply": "constant", "value": value, "earlier": [], "foreign": ""}
    reply, _ = admitted("constant", body)
    assert (reply.value, reply.foreign) == (None, NOT_ONLY_LITERALS)
    assert value_word(reply.foreign) == NOT_ONLY_LITERALS


def test_words_are_repeated_only_if_no_hidden_input_was_told() -> None:
    """What a reply says of itself does not count."""
    fault = {"kind": "ValueError", "message": "0.123", "quotable": True}
    body = {"reply": "faulted", "fault": fault}
    told, untold = (admitted("load", body, told)[0].fault for told in (True, False))
    doing = Doing("loading it")
    assert "0.123" not in load_error(told, doing).message + fault_error(told, doing).details
    assert "0.123" in load_error(untold, doing).message


@pytest.mark.parametrize("told", [True, False])
def test_names_of_a_module_are_repeated_only_if_it_was_built_before(told: bool) -> None:
    """A parameter's name is chosen by code that may have seen hidden inputs."""
    assert built((4,), told=told).quotable is not told


@pytest.mark.parametrize(
    ("shape", "word"),
    [((2, 5, 8), "(2, 5, 8)"), ((3,), "(3,)"), ((), "()"), ((2, 123_456), "(2, more than 64)"),
     ((1,) * 5, "one with more than 4 dimensions")],
)  # fmt: skip
def test_a_shape_tells_small_sizes_only(shape: tuple[int, ...], word: str) -> None:
    """Large ones could spell out what the code was given."""
    assert shape_word(shape) == word


def test_a_forged_fault_of_ours_says_nothing_but_our_words() -> None:
    """The text of a refusal is one of a closed set."""
    fault = Fault(kind="", message="0.123", origin="refused", quotable=True)
    assert "0.123" not in fault_error(fault, Doing("calling f")).message
