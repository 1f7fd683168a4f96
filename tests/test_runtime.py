"""Questions about a student's file: loading, constants, functions and their gradients."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from grader.sandbox.values import NOT_ONLY_LITERALS
from grader.sandbox.vocabulary import (
    Called,
    Constant,
    Faulted,
    ForeignValue,
    Loaded,
    SequenceValue,
    Several,
    TensorValue,
)
from tests.questions import FILE, Questions, fault, line_of

pytestmark = pytest.mark.usefixtures("untouched_process")


@pytest.fixture
def questions(tmp_path: Path) -> Questions:
    """Questions about a loaded file."""
    return Questions(tmp_path)


def test_load_names_what_the_file_defines(questions: Questions) -> None:
    """Each name with its kind; nothing of Python's own."""
    reply, _ = questions.put("load", definitions_only=False)
    assert isinstance(reply, Loaded)
    assert reply.names["norm"] == "function"
    assert reply.names["Unit"] == "class"
    assert reply.names["ANSWER"] == "value"
    assert reply.names["torch"] == "module"
    assert not any(name.startswith("__") for name in reply.names)


def test_load_of_a_file_that_does_not_parse_is_a_fault(
    questions: Questions, tmp_path: Path
) -> None:
    """Kind, file and line of the syntax error come across."""
    (tmp_path / "bad.py").write_text("x = 1\ndef f(:\n")
    reply, _ = questions.put("load", file="bad.py", definitions_only=False)
    assert isinstance(reply, Faulted)
    assert (reply.fault.kind, reply.fault.file, reply.fault.line) == ("SyntaxError", "bad.py", 2)


def test_load_of_a_file_that_is_not_there_is_a_fault(questions: Questions) -> None:
    """The worker goes on; nothing else happens."""
    kind, _, _ = fault(questions.put("load", file="absent.py", definitions_only=False)[0])
    assert kind == "FileNotFoundError"


def test_a_constant_is_its_literal(questions: Questions) -> None:
    """With what the name was bound to before."""
    reply, _ = questions.put("constant", name="EARLIER", earlier=True)
    assert isinstance(reply, Constant)
    assert (reply.value, reply.foreign) == ([1.5, None], "")
    assert list(reply.earlier) == [148, [1.5, None]]
    assert questions.put("constant", name="ANSWER", earlier=False)[0].value == 840


@pytest.mark.parametrize(("name", "what"), [("TENSOR", "Tensor"), ("ENDLESS", NOT_ONLY_LITERALS)])
def test_a_constant_that_is_no_literal_is_named_by_what_it_is(
    questions: Questions, name: str, what: str
) -> None:
    """Its value stays where it is."""
    reply, _ = questions.put("constant", name=name, earlier=False)
    assert (reply.value, reply.foreign) == (None, what)


@pytest.mark.parametrize("question", ["constant", "call", "build"])
def test_a_name_that_is_not_there_is_a_fault_with_the_name(
    questions: Questions, question: str
) -> None:
    """Whatever it was wanted for."""
    replies = {
        "constant": lambda: questions.put("constant", name="absent", earlier=False),
        "call": lambda: questions.call("absent", torch.ones(1)),
        "build": lambda: questions.build("absent"),
    }
    reply = replies[question]()[0]
    assert (reply.fault.origin, fault(reply)[1]) == ("not-found", "absent")


def test_an_exception_called_like_a_finding_of_ours_is_the_code_s(questions: Questions) -> None:
    """Whose finding it is does not hang on the name of a class."""
    reply = questions.call("posing", torch.ones(1))[0]
    assert (reply.fault.origin, reply.fault.kind) == ("code", "NameNotFoundError")


def test_a_call_returns_the_result_and_the_inputs_afterwards(questions: Questions) -> None:
    """A function that writes into its input is seen to, where that is asked for."""
    x = torch.zeros(3)
    reply, carried = questions.call("in_place", x, input_after=True)
    assert isinstance(reply, Called)
    assert isinstance(reply.output, TensorValue)
    assert carried[reply.output.key].tolist() == [1.0, 1.0, 1.0]
    assert carried[reply.input_after].tolist() == [1.0, 1.0, 1.0]
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_a_call_takes_further_arguments(questions: Questions) -> None:
    """By the names of the stub."""
    reply, carried = questions.call("norm", torch.tensor([1.0, 3.0]), arguments=[["eps", 3.0]])
    assert carried[reply.output.key].tolist() == [-0.5, 0.5]


def test_a_call_may_return_anything(questions: Questions) -> None:
    """Several values, and none."""
    several = questions.call("pair", torch.ones(1))[0].output
    assert isinstance(several, SequenceValue)
    assert [type(item) for item in several.items] == [TensorValue, SequenceValue]
    assert questions.call("nothing", torch.ones(1))[0].output == ForeignValue(
        kind="foreign", what="NoneType"
    )


def test_a_call_brings_the_gradient_of_its_input(questions: Questions) -> None:
    """For the upstream gradient that it is given."""
    x, upstream = torch.randn(2, 4), torch.randn(2, 4)
    reply, carried = questions.call("norm", x, upstream=upstream)
    leaf = x.clone().requires_grad_(True)
    expected = torch.autograd.grad((F.layer_norm(leaf, (4,)) * upstream).sum(), leaf)[0]
    assert reply.gradient_fault is None
    assert torch.allclose(carried[reply.gradients["0"]], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("function", "kind"),
    [("detached", "gradient-cut"), ("pair", "no-tensor"), ("shorter", "wrong-shape"),
     ("nothing", "no-tensor")],
)  # fmt: skip
def test_why_there_is_no_gradient_is_said(questions: Questions, function: str, kind: str) -> None:
    """The result comes all the same."""
    reply, _ = questions.call(function, torch.ones(2), upstream=torch.ones(2))
    assert reply.gradient_fault.origin == kind
    assert reply.gradients == {}


def test_an_exception_on_the_way_back_is_the_gradients_fault(questions: Questions) -> None:
    """The result comes all the same, with what was raised and where."""
    reply, _ = questions.call("no_way_back", torch.ones(2), upstream=torch.ones(2))
    assert (reply.gradient_fault.kind, reply.gradient_fault.message) == (
        "ValueError",
        "no way back",
    )
    assert reply.gradient_fault.line == line_of('        raise ValueError("no way back")')


def test_a_gradient_that_does_not_reach_the_input_is_absent(questions: Questions) -> None:
    """A result with a graph of its own leaves the input without one."""
    reply, _ = questions.call("new_tensor", torch.ones(2), upstream=torch.ones(2))
    assert (reply.gradient_fault, reply.gradients) == (None, {})


def test_an_integer_input_needs_no_gradient(questions: Questions) -> None:
    """Asking for one of integers would be our error, not the student's."""
    reply, _ = questions.call("in_place", torch.ones(2, dtype=torch.int64), upstream=torch.ones(2))
    assert isinstance(reply, Called)


def test_an_exception_is_described_by_the_students_own_frames(questions: Questions) -> None:
    """Kind, text, file, line and the way there, without our frames."""
    reply, _ = questions.call("raising", torch.ones(2, 3))
    where = line_of('    raise ValueError("no " + str(tuple(x.shape)))')
    assert fault(reply) == ("ValueError", "no (2, 3)", where)
    assert reply.fault.file == FILE
    assert [frame.function for frame in reply.fault.frames] == ["raising", "helper"]


def test_a_long_text_and_a_deep_stack_are_cut(questions: Questions) -> None:
    """The text keeps its beginning, the stack its last frames."""
    message = fault(questions.call("wordy", torch.ones(1))[0])[1]
    assert (len(message), message[-4:]) == (400, "w...")
    reply, _ = questions.call("down", torch.ones(1))
    assert [frame.function for frame in reply.fault.frames] == ["down"] * 8
    assert reply.fault.line == line_of('        raise ValueError("deep")')


def test_leaving_the_program_is_a_fault_too(questions: Questions) -> None:
    """SystemExit does not end the process that answers."""
    assert fault(questions.call("leaving", torch.ones(1))[0])[0] == "SystemExit"
    assert isinstance(questions.call("nothing", torch.ones(1))[0], Called)


def test_an_exception_that_cannot_be_shown_is_cut_and_described(questions: Questions) -> None:
    """A name without end and a text that raises do no harm."""
    kind, message, _ = fault(questions.call("loud_name", torch.ones(1))[0])
    assert len(kind) == 100
    assert message == "(its text cannot be shown)"


@pytest.mark.parametrize("function", ["native", "module_norm"])
def test_a_built_in_normalisation_is_seen(questions: Questions, function: str) -> None:
    """By the function's name or the gradient node's, whichever way it was called."""
    reply, _ = questions.call(
        function, torch.randn(2, 4), upstream=torch.ones(2, 4), operators=True
    )
    names = [name.lower().replace("_", "") for name in reply.operators]
    assert any("layernorm" in name for name in names)


def test_a_normalisation_by_hand_is_seen_to_be_one(questions: Questions) -> None:
    """What was called is named, and nothing else."""
    reply, _ = questions.call(
        "by_hand", torch.randn(2, 4), upstream=torch.ones(2, 4), operators=True
    )
    assert {"mean", "MeanBackward1"} <= set(reply.operators)
    assert not any("norm" in name.lower() for name in reply.operators)


def test_operators_are_recorded_only_when_asked_for(questions: Questions) -> None:
    """Ordinary calls run without a mode of torch's around them."""
    assert questions.call("native", torch.randn(2, 4))[0].operators == ()


def test_global_settings_are_put_back_before_each_question(questions: Questions) -> None:
    """A default dtype or a gradient mode that a function leaves does not reach the next call."""
    questions.call("settings", torch.ones(1))
    reply, carried = questions.call("new_tensor", torch.ones(2), upstream=torch.ones(2))
    assert carried[reply.output.key].dtype is torch.float32
    assert reply.gradient_fault is None


def test_several_questions_have_their_answers_in_order(questions: Questions) -> None:
    """A fault in one of them leaves the others alone; keys are those of one payload."""
    parts = [
        {"question": "constant", "file": FILE, "name": "ANSWER", "earlier": False},
        {"question": "constant", "file": FILE, "name": "absent", "earlier": False},
        *[
            {
                "question": "call",
                "file": FILE,
                "function": "in_place",
                "tensors": [["x", key]],
                "arguments": [],
                "upstream": "",
                "operators": False,
                "input_after": False,
            }
            for key in ("a", "b")
        ],
    ]
    tensors = {"a": torch.zeros(1), "b": torch.ones(1)}
    reply, carried = questions.put("several", tensors, questions=parts)
    assert isinstance(reply, Several)
    assert [type(part) for part in reply.replies] == [Constant, Faulted, Called, Called]
    outputs = [part.output for part in reply.replies if isinstance(part, Called)]
    keys = [output.key for output in outputs if isinstance(output, TensorValue)]
    assert [carried[key].item() for key in keys] == [1.0, 2.0]
