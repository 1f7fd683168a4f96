"""Sources that were once read wrongly, each with what the outline must say of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.examiner.diagnosis.signs import (
    cut_sign,
    nothing_sign,
    random_sign,
    unregistered_sign,
)
from grader.examiner.source import reached_from
from grader.sandbox.outline import outline_of
from grader.sandbox.vocabulary import Outline

HEAD = "import torch\nimport numpy as np\nfrom torch import nn\n"


def read(tmp_path: Path, source: str) -> Outline:
    """The outline of a source, as it crosses the boundary."""
    path = tmp_path / "file.py"
    path.write_text(HEAD + source)
    return Outline.model_validate(outline_of(path))


def module(init: str, forward: str = "return x") -> str:
    """A module with one statement in each method."""
    start = "class M(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n"
    return f"{start}        {init}\n    def forward(self, x):\n        {forward}\n"


def test_a_long_chain_of_calls_is_read(tmp_path: Path) -> None:
    """No depth of calls on results breaks the reading of a submission."""
    outline = read(tmp_path, "def f(x):\n    return x" + ".a()" * 1000)
    assert outline.functions[0].name == "f"


def test_a_long_class_name_crosses_the_boundary(tmp_path: Path) -> None:
    """Names are cut, for classes too."""
    assert len(read(tmp_path, f"class {'A' * 400}: pass").classes[0].name) == 300


def test_the_last_definition_of_a_name_counts(tmp_path: Path) -> None:
    """A stub that was left above the answer says nothing."""
    functions = read(tmp_path, "def f(x): pass\ndef f(x): print(x)").functions
    assert nothing_sign(functions, "f") == "printed-not-returned"


def test_the_last_value_of_an_attribute_counts(tmp_path: Path) -> None:
    """A tensor that becomes a parameter is one."""
    source = module("self.w = torch.randn(d); self.w = nn.Parameter(self.w)")
    assert unregistered_sign(read(tmp_path, source).functions) == ""


def test_random_weights_are_no_random_answer(tmp_path: Path) -> None:
    """What the constructor draws does not change from call to call."""
    source = module("self.w = nn.Parameter(torch.randn(d))", "return operand(x)")
    assert random_sign(read(tmp_path, source).functions) == ""


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ("eps = torch.tensor(1e-5); return (x + eps).detach()", "gradient-cut"),
        ("return torch.tensor(x.tolist())", "numpy-used"),
        ("return torch.tensor([1.0, 2.0])", "numpy-used"),
        ("return torch.from_numpy(np.exp(x.detach().numpy()))", "numpy-used"),
    ],
)
def test_a_constant_tensor_is_no_cause_beside_another(tmp_path: Path, body: str, sign: str) -> None:
    """Only where nothing else cuts the gradient, a tensor made of numbers does."""
    assert cut_sign(read(tmp_path, f"def f(x): {body}").functions) == sign


@pytest.mark.parametrize(
    "source",
    ['def f(x):\n    """\n    >>> f(1)\n    """\n    return x x', "'''\nTitle\n=======\n'''\nx x"],
)
def test_a_line_in_a_text_is_not_the_error(tmp_path: Path, source: str) -> None:
    """Only the line at which Python gave up is looked at."""
    assert read(tmp_path, source).unreadable == "SyntaxError"


def test_an_explicit_none_is_nothing(tmp_path: Path) -> None:
    """`return None` returns as much as no return does."""
    functions = read(tmp_path, "def f(x):\n    x + 1\n    return None").functions
    assert nothing_sign(functions, "f") == "nothing-returned"


def test_layers_that_are_appended_lie_in_a_list(tmp_path: Path) -> None:
    """However the list is filled."""
    source = module("self.layers = []; self.layers.append(nn.Linear(d, d))")
    assert unregistered_sign(read(tmp_path, source).functions) == "layers-in-list"


def test_an_own_function_hides_an_import(tmp_path: Path) -> None:
    """As it does for Python."""
    source = "from torch.nn.functional import gelu\ndef gelu(x): return x\ndef f(x): return gelu(x)"
    outline = read(tmp_path, source)
    assert {function.name for function in reached_from(outline, "f")} == {"f", "gelu"}


def test_a_function_inside_a_condition_is_listed(tmp_path: Path) -> None:
    """It is one of the file's, and what it calls is not called at the top level."""
    outline = read(tmp_path, "if True:\n    def f(x): return torch.exp(x)\nprint(1)")
    assert [function.name for function in outline.functions] == ["f"]
    assert outline.calls == ("print",)
