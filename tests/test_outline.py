"""What a source says without being run, and which cause of a wrong behaviour it shows."""

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
from grader.examiner.source import reached_from
from grader.sandbox.outline import MAX_ITEMS, outline_of
from grader.sandbox.vocabulary import FunctionOutline, Outline
from tests.corpus_run import ROOT

IMPORTS = """\
import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.nn.functional import gelu as g

"""


def outline(folder: Path, source: str | bytes) -> Outline:
    """The outline of one file, as it crosses the boundary."""
    path = folder / "answer.py"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    return Outline.model_validate(outline_of(path))


def functions(folder: Path, source: str) -> tuple[FunctionOutline, ...]:
    """The functions of a file that begins with the usual imports."""
    found = outline(folder, IMPORTS + source)
    assert found.unreadable == ""
    return found.functions


def function(folder: Path, *body: str) -> FunctionOutline:
    """A function f(self, x, y) with the given lines."""
    (found,) = functions(folder, "def f(self, x, y):\n" + "".join(f"    {b}\n" for b in body))
    return found


# What a file defines and calls


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("nn.Linear(x, y)", "torch.nn.Linear"),
        ("F.gelu(x)", "torch.nn.functional.gelu"),
        ("g(x)", "torch.nn.functional.gelu"),
        ("torch.nn.functional.gelu(x)", "torch.nn.functional.gelu"),
        ("np.linalg.norm(x)", "numpy.linalg.norm"),
        ("x.mean(-1)", "x.mean"),
        ("self.layer.forward(x)", "self.layer.forward"),
        ("helper(x)", "helper"),
        ("x[0].sum()", ".sum"),
    ],
)
def test_a_call_is_named_by_what_its_import_stands_for(
    tmp_path: Path, call: str, name: str
) -> None:
    """Whatever short name the file gives it."""
    assert function(tmp_path, f"return {call}").calls == (name,)


def test_the_call_of_a_result_has_the_name_of_what_gave_it(tmp_path: Path) -> None:
    """Each once, the outer ones first; a result that is called has no name of its own."""
    found = function(tmp_path, "return nn.Linear(4, y)(x.detach().numpy())")
    assert set(found.calls) == {"torch.nn.Linear", "x.detach().numpy", "x.detach"}


@pytest.mark.parametrize(
    "statement",
    ["from .helpers import gelu", "from helpers import *", "import helpers.gelu"],
)
def test_other_imports_do_not_rename_a_call(tmp_path: Path, statement: str) -> None:
    """Relative ones, stars, and those without another name."""
    found = outline(tmp_path, f"{statement}\ndef f(x):\n    return gelu(x)\n")
    assert found.functions[0].calls == ("gelu",)


def test_an_import_inside_a_function_counts(tmp_path: Path) -> None:
    found = function(tmp_path, "import math as m", "return m.sqrt(x)")
    assert found.calls == ("math.sqrt",)


def test_functions_and_methods_are_listed_with_their_place(tmp_path: Path) -> None:
    """Methods have their class before a dot; a function inside another belongs to that one."""
    source = """\
        class FFN(nn.Module, Base):
            def __init__(self, d_model, /, d_ff, *, bias=True):
                pass
            class Inner:
                async def run(self):
                    pass
        def outer(x, *rest, **options):
            def inner(y):
                return g(y)
            return inner(x)
    """
    lines = [line.removeprefix(" " * 8) for line in source.splitlines()]
    found = functions(tmp_path, "\n".join(lines))
    assert {f.name: (f.line, f.parameters) for f in found} == {
        "FFN.__init__": (8, ("self", "d_model", "d_ff", "bias")),
        "Inner.run": (11, ("self",)),
        "outer": (13, ("x",)),
    }
    assert found[-1].calls == ("inner", "torch.nn.functional.gelu")


def test_classes_are_listed_with_what_they_build_on(tmp_path: Path) -> None:
    """By the names that the imports stand for; a class inside another too."""
    source = "class A(nn.Module, Base):\n    class B(A):\n        pass\nclass C:\n    pass\n"
    found = outline(tmp_path, IMPORTS + source).classes
    assert {c.name: (c.line, c.bases) for c in found} == {
        "A": (7, ("torch.nn.Module", "Base")),
        "B": (8, ("A",)),
        "C": (10, ()),
    }


def test_calls_at_the_top_level_are_those_outside_functions_and_classes(tmp_path: Path) -> None:
    source = "x = torch.ones(2)\nif x.any():\n    input('?')\ndef f():\n    print(1)\n"
    assert outline(tmp_path, IMPORTS + source).calls == ("torch.ones", "x.any", "input")


def test_the_attributes_that_a_function_uses_are_named(tmp_path: Path) -> None:
    """Each once."""
    found = function(tmp_path, "x.data = y.data", "return x.T")
    assert sorted(found.attributes) == ["T", "data"]


@pytest.mark.parametrize(
    ("body", "gives"),
    [
        (["return x"], "value"),
        (["if x:", "    return", "return y"], "value"),
        (["yield x"], "value"),
        (["yield from x"], "value"),
        (["if x:", "    return"], "none"),
        (["return"], "none"),
        (["y = x"], "nothing"),
        (["def inner():", "    return x", "inner()"], "nothing"),
        (["inner = lambda: (yield x)"], "nothing"),
        (["raise NotImplementedError"], "nothing"),
        (["print(x.shape)"], "nothing"),
        (["print('done')"], "nothing"),
        (["print(x)", "y = x"], "nothing"),
        (["x.print(y)"], "nothing"),
        (["y = x", "print(y)"], "printed"),
        (["print('result:', x + y)"], "printed"),
        (["print(x.mean())"], "printed"),
        (["print(x[0])"], "printed"),
        (["pass"], "unwritten"),
        (["..."], "unwritten"),
        (["'''Says what it is for.'''"], "unwritten"),
        (["'''Says what it is for.'''", "pass"], "unwritten"),
    ],
    ids=lambda part: "; ".join(part) if isinstance(part, list) else part,
)
def test_what_comes_of_a_call_is_told_by_its_returns(
    tmp_path: Path, body: list[str], gives: str
) -> None:
    """Those of functions inside are not its own; a generator gives a value."""
    assert function(tmp_path, *body).gives == gives


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        ("x -= y", ("x",)),
        ("x[0] += y", ("x",)),
        ("x.data -= y", ("x",)),
        ("x[0] = y", ("x",)),
        ("x[0][1].T[2] = y", ("x",)),
        ("x[0] = y[0] = 1", ("x", "y")),
        ("x.sub_(y)", ("x",)),
        ("x[0].T.sub_(y)", ("x",)),
        ("x = x.sub_(y).add_(y)", ("x",)),
        ("x = x - y", ()),
        ("x.sub(y)", ()),
        ("x.__sub__(y)", ()),
        ("x.data = y", ()),
        ("y = x[0]", ()),
        ("g(x)[0] = y", ()),
        ("def inner():\n        x.sub_(y)", ()),
    ],
)
def test_what_is_written_into_is_named(
    tmp_path: Path, statement: str, changes: tuple[str, ...]
) -> None:
    """By the name at the root; a new value for a name is no change of the old one."""
    assert function(tmp_path, statement).changes == changes


@pytest.mark.parametrize(
    ("statement", "keeps"),
    [
        ("self.w = torch.randn(3)", {"w": "torch.randn"}),
        ("self.w = nn.Parameter(torch.ones(3))", {"w": "torch.nn.Parameter"}),
        ("self.w: object = nn.Linear(x, y)", {"w": "torch.nn.Linear"}),
        ("self.w = torch.randn(3).requires_grad_()", {"w": "torch.randn().requires_grad_"}),
        ("self.l = [nn.Linear(x, y) for _ in range(3)]", {"l": "list of torch.nn.Linear"}),
        ("self.l = [nn.Linear(x, y), nn.GELU()]", {"l": "list of torch.nn.Linear"}),
        ("self.l = (nn.Linear(x, y),)", {"l": "list of torch.nn.Linear"}),
        ("self.l = nn.ModuleList([nn.Linear(x, y)])", {"l": "torch.nn.ModuleList"}),
        ("self.l = []", {"l": "list"}),
        ("self.d = x", {"d": "Name"}),
        ("self.eps = 1e-5", {"eps": "Constant"}),
        ("self.a = self.b = nn.GELU()", {"a": "torch.nn.GELU", "b": "torch.nn.GELU"}),
        ("self.f = (lambda: 1)()", {"f": "call"}),
        ("self.w: int", {}),
        ("self.w[0] = 1", {}),
        ("w = nn.Linear(x, y)", {}),
        ("x.w = nn.Linear(x, y)", {}),
    ],
)
def test_what_is_kept_on_self_is_named_with_its_kind(
    tmp_path: Path, statement: str, keeps: dict[str, str]
) -> None:
    """The call that made it, what a list holds, or else the kind of expression."""
    assert function(tmp_path, statement).keeps == keeps


@pytest.mark.parametrize(
    ("call", "fixed"),
    [
        ("nn.Linear(4, y)", ("torch.nn.Linear",)),
        ("x.view(2, -1, 3)", ("x.view",)),
        ("x.mean(-1)", ()),
        ("x.sum(1)", ()),
        ("x.sum(dim=3)", ()),
        ("nn.Linear(y, y * 4)", ()),
        ("g(x, True)", ()),
        ("g(x, 2.5)", ()),
        ("g(x, '2')", ()),
    ],
)
def test_calls_that_are_given_numbers_are_named(
    tmp_path: Path, call: str, fixed: tuple[str, ...]
) -> None:
    """Whole numbers above 1 that stand there as they are."""
    assert function(tmp_path, f"return {call}").fixed == fixed


# What Python cannot read, and what nobody may run


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1\n<<<<<<< HEAD\ny = 2\n=======\ny = 3\n>>>>>>> main\n", "merge-marker"),
        ("x = 1\n=======\n", "merge-marker"),
        ("!pip install torch\nimport torch\n", "notebook-line"),
        ("import torch\n  %matplotlib inline\n", "notebook-line"),
        (">>> import torch\n", "prompt-line"),
        ("In [3]: import torch\n", "prompt-line"),
        ("if True:\n\tx = 1\n        y = 2\n", "tabs"),
        ("def f(x)\n    return x\n", "SyntaxError"),
        ("def f(x):\nreturn x\n", "IndentationError"),
        ("x = 1\0\n", "encoding"),
        (b"# caf\xe9\nx = 1\n", "encoding"),
        ("# -*- coding: no-such-encoding -*-\nx = 1\n", "encoding"),
        ("x = " + "-" * 100_000 + "1\n", "nesting"),
    ],
    ids=lambda text: repr(text[:20]),
)
def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, source: str | bytes, reason: str
) -> None:
    """Nothing else is said of it then."""
    expected = Outline(functions=(), classes=(), calls=(), unreadable=reason)
    assert outline(tmp_path, source) == expected


@pytest.mark.parametrize("brackets", ["()", "[]", "{}"])
@pytest.mark.parametrize("depth", [150, 1_000, 100_000])
def test_brackets_are_read_or_refused_at_any_depth(
    tmp_path: Path, brackets: str, depth: int
) -> None:
    """Python itself says where the limit is."""
    source = "x = " + brackets[0] * depth + brackets[1] * depth + "\n"
    assert bool(outline(tmp_path, source).unreadable) == (depth > 200)


@pytest.mark.parametrize("line", ["======= 7", "'''\n>>> 1 + 1\n'''", "x = 5 \\\n  % x"])
def test_lines_that_look_foreign_do_no_harm_where_python_reads_the_file(
    tmp_path: Path, line: str
) -> None:
    source = f"x = 1\n'''\n{line}\n'''\n" if line.startswith("=") else f"x = 1\n{line}\n"
    assert outline(tmp_path, source).unreadable == ""


def test_a_mark_of_byte_order_is_no_obstacle(tmp_path: Path) -> None:
    assert outline(tmp_path, b"\xef\xbb\xbfprint(1)\n").calls == ("print",)


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert outline(tmp_path, "") == Outline(functions=(), classes=(), calls=(), unreadable="")


def test_nothing_of_the_file_is_executed(tmp_path: Path) -> None:
    """Neither statements, decorators, default values and bodies of classes, nor imports."""
    imported = tmp_path / "helper_of_the_answer.py"
    imported.write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    touched = [tmp_path / name for name in ("statement", "decorator", "default", "body", "base")]
    calls = [f"open({str(path)!r}, 'w')" for path in touched]
    source = f"""\
import sys; sys.path.insert(0, {str(tmp_path)!r})
import helper_of_the_answer
{calls[0]}
@{calls[1]}.write
def f(x={calls[2]}):
    pass
class A({calls[4]}.__class__):
    {calls[3]}
raise SystemExit(3)
"""
    found = outline(tmp_path, source)
    assert (found.unreadable, found.functions[0].name) == ("", "f")
    assert {path.name for path in tmp_path.iterdir()} == {"answer.py", "helper_of_the_answer.py"}


@pytest.mark.parametrize(
    ("source", "counted"),
    [
        ("".join(f"def f{n}(): pass\n" for n in range(MAX_ITEMS + 9)), "functions"),
        ("".join(f"class C{n}: pass\n" for n in range(MAX_ITEMS + 9)), "classes"),
        ("".join(f"f{n}()\n" for n in range(MAX_ITEMS + 9)), "calls"),
    ],
    ids=["functions", "classes", "calls"],
)
def test_no_more_is_said_than_may_cross_the_boundary(
    tmp_path: Path, source: str, counted: str
) -> None:
    assert len(getattr(outline(tmp_path, source), counted)) == MAX_ITEMS


def test_a_function_says_no_more_than_may_cross_the_boundary(tmp_path: Path) -> None:
    """Of too many names not all are said."""
    many = range(MAX_ITEMS + 9)
    parameters = ", ".join(f"p{n}" for n in many)
    lines = [f"    self.a{n} = c{n}(2); x{n} -= 1\n" for n in many]
    (found,) = functions(tmp_path, f"def f({parameters}):\n{''.join(lines)}")
    listed = (found.parameters, found.calls, found.attributes, found.changes, found.fixed)
    assert [len(names) for names in (*listed, found.keeps)] == [MAX_ITEMS] * 6


def test_long_names_are_cut_to_what_may_cross_the_boundary(tmp_path: Path) -> None:
    name, cut = "n" * 400, "n" * 300
    (found,) = functions(tmp_path, f"def {name}({name}):\n    self.{name} = {name}(2)\n")
    assert (found.name, found.parameters, found.calls) == (cut, (cut,), (cut,))
    assert (found.attributes, found.keeps, found.fixed) == ((cut,), {cut: cut}, (cut,))


OWN_FILES = sorted(
    path for name in ("assignments", "solutions") for path in ROOT.glob(f"{name}/*.py")
)


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_our_own_files_can_be_read(path: Path) -> None:
    """Stubs, public tests and solutions: all that they define is in the outline."""
    found = Outline.model_validate(outline_of(path))
    assert found.unreadable == ""
    text = path.read_text()
    assert len(found.classes) == text.count("\nclass ")
    assert len([f for f in found.functions if "." not in f.name]) == text.count("\ndef ")


# What a function reaches


CALLS = """\
def main(x):
    return helper(x) + Norm(4)(x) + x.unused()
def helper(x):
    return deeper(x) if x else main(x)
def deeper(x):
    return torch.sqrt(x)
def unused(x):
    return main(x)
class Norm:
    def __init__(self, d):
        self.d = from_init(d)
    def forward(self, x):
        return x
def from_init(d):
    return d
class Other(Norm):
    def forward(self, x):
        return self.helper(x)
"""


@pytest.mark.parametrize(
    ("name", "reached"),
    [
        ("main", {"main", "helper", "deeper", "Norm.__init__", "Norm.forward", "from_init"}),
        ("deeper", {"deeper"}),
        ("Norm", {"Norm.__init__", "Norm.forward", "from_init"}),
        ("Norm.forward", {"Norm.forward"}),
        ("Other", {"Other.forward"}),
        ("no_such_name", set()),
        ("", set()),
    ],
)
def test_what_a_function_calls_is_reached_from_it(
    tmp_path: Path, name: str, reached: set[str]
) -> None:
    """Directly or not, in circles too; a class stands for all of its methods."""
    found = reached_from(outline(tmp_path, CALLS), name)
    assert {f.name for f in found} == reached
    assert len(found) == len(reached)


# What the source tells of a cause


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
