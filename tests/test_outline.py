"""The outline of a source file: what it defines, calls, returns and keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.sandbox.outline import names_in
from tests.outlines import IMPORTS, function, functions, outline


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


def test_every_name_of_a_file_is_known(tmp_path: Path) -> None:
    """Imported, called, followed by a dot, inside functions and classes; no texts, no comments."""
    path = tmp_path / "answer.py"
    path.write_text(
        '"""in_text"""\n'
        "from torch.nn.functional import layer_norm as ln  # in_comment\n"
        "from helpers import *\n"
        "class Norm(Base):\n"
        "    def forward(self, x):\n"
        "        return [starred(y.attribute) for y in x if (lambda z: z.deep)(y)]\n"
    )
    names = names_in(path)
    assert names is not None
    assert {"torch.nn.functional", "layer_norm", "ln", "helpers", "Norm", "Base", "forward"} < names
    assert {"starred", "attribute", "deep"} < names
    assert not {"in_text", "in_comment", "x", "y"} & names


@pytest.mark.parametrize("source", [b"def f(:\n", b"\xff\n", b"x = 1\0\n", b"return 1\n"])
def test_names_of_a_file_that_does_not_compile_are_not_known(tmp_path: Path, source: bytes) -> None:
    path = tmp_path / "answer.py"
    path.write_bytes(source)
    assert names_in(path) is None


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
