"""What a source tells of the cause of what was seen to be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.examiner.diagnosis.signs import (
    cut_sign,
    nothing_sign,
    random_sign,
    unregistered_sign,
)
from grader.sandbox.vocabulary import FunctionOutline
from tests.outlines import function, functions


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ("print(x)", "printed-not-returned"),
        ("pass", "not-written-yet"),
        ("y = x", "nothing-returned"),
        ("return", "nothing-returned"),
        ("return x", ""),
        ("yield x", ""),
    ],
)
@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("def norm(x):\n    {}\n", "norm"),
        ("class FFN:\n    def forward(self, x):\n        {}\n", "FFN.forward"),
        ("class FFN:\n    def forward(self, x):\n        {}\n", "forward"),
    ],
    ids=["function", "method", "method-by-its-own-name"],
)
def test_why_nothing_comes_back(
    tmp_path: Path, source: str, name: str, body: str, sign: str
) -> None:
    """The function that was called tells, not another one of the file."""
    others = "def other(x):\n    pass\ndef another_norm(x):\n    print(x)\n"
    found = functions(tmp_path, others + source.format(body))
    assert nothing_sign(found, name) == sign


def test_a_function_that_is_not_there_tells_nothing(tmp_path: Path) -> None:
    assert nothing_sign(functions(tmp_path, "def norm(x):\n    pass\n"), "forward") == ""


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        (["return x.detach() * 2"], "gradient-cut"),
        (["return x.data * 2"], "gradient-cut"),
        (["with torch.no_grad():", "    return x"], "no-grad"),
        (["with torch.inference_mode():", "    return x"], "no-grad"),
        (["return torch.from_numpy(np.sqrt(x))"], "numpy-used"),
        (["return torch.from_numpy(x.detach().numpy())"], "numpy-used"),
        (["return x / x.mean().item()"], "numpy-used"),
        (["return torch.tensor([2 * v for v in x.tolist()])"], "numpy-used"),
        (["with torch.no_grad():", "    return x.detach()"], ""),
        (["return x - x.mean()"], ""),
        (["return detach(x)"], ""),
        (["return item(x)"], ""),
    ],
    ids=lambda part: "; ".join(part) if isinstance(part, list) else None,
)
def test_why_no_gradient_comes_back(tmp_path: Path, body: list[str], sign: str) -> None:
    """A cause is named only where the source shows exactly one."""
    assert cut_sign([function(tmp_path, *body)]) == sign


def test_a_decorator_cuts_the_gradient_too(tmp_path: Path) -> None:
    found = functions(tmp_path, "@torch.no_grad()\ndef norm(x):\n    return x\n")
    assert cut_sign(found) == "no-grad"


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ("return F.dropout(x)", "dropout-left-on"),
        ("return nn.functional.dropout(x)", "dropout-left-on"),
        ("self.drop = nn.Dropout(0.1)", "dropout-left-on"),
        ("return x + torch.randn_like(x)", "dropout-left-on"),
        ("return x * torch.bernoulli(x)", "dropout-left-on"),
        ("return x.normal_()", "dropout-left-on"),
        ("return x.uniform_()", "dropout-left-on"),
        ("self.calls = x", ""),
        ("return F.layer_norm(x)", ""),
    ],
)
def test_why_an_answer_is_another_one_the_second_time(tmp_path: Path, body: str, sign: str) -> None:
    """Where the source calls for chance."""
    assert random_sign([function(tmp_path, body)]) == sign


def module(folder: Path, init: str, forward: str) -> Sequence[FunctionOutline]:
    """A class with one line in each method."""
    source = f"class FFN(nn.Module):\n    def __init__(self, d):\n        {init}\n"
    return functions(folder, f"{source}    def forward(self, x):\n        {forward}\n")


@pytest.mark.parametrize(
    ("init", "forward", "sign"),
    [
        ("self.l = [nn.Linear(d, d), nn.GELU()]", "return x", "layers-in-list"),
        ("self.l = [nn.Parameter(torch.ones(d)) for _ in '12']", "return x", "layers-in-list"),
        ("self.w = torch.randn(d, d)", "return x @ self.w", "tensors-not-parameters"),
        ("self.w = torch.zeros(d).requires_grad_()", "return x", "tensors-not-parameters"),
        ("self.d = d", "return nn.Linear(self.d, self.d)(x)", "layers-in-forward"),
        ("self.l = nn.Linear(d, d)", "return self.l(x)", ""),
        ("self.l = nn.ModuleList([nn.Linear(d, d)])", "return self.l[0](x)", ""),
        ("self.w = nn.Parameter(torch.randn(d, d))", "return x @ self.w", ""),
        ("self.l = [nn.GELU()]", "return x", ""),
        ("self.d = d", "return x * torch.ones(self.d)", ""),
        ("self.l = [nn.Linear(d, d)]", "return nn.Linear(4, 4)(x)", ""),
        ("self.l = [nn.Linear(d, d)]; self.w = torch.ones(d)", "return x", ""),
    ],
)
def test_why_parameters_are_missing(tmp_path: Path, init: str, forward: str, sign: str) -> None:
    """A cause is named only where the source shows exactly one."""
    assert unregistered_sign(module(tmp_path, init, forward)) == sign


def test_a_source_without_functions_shows_no_cause() -> None:
    signs = (cut_sign([]), random_sign([]), unregistered_sign([]), nothing_sign([], "norm"))
    assert signs == ("", "", "", "")
