"""Sources that Python cannot read, and that nobody may run."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.sandbox.outline import MAX_ITEMS, outline_of
from grader.sandbox.vocabulary import Outline
from tests.corpus_run import ROOT
from tests.outlines import functions, outline


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
