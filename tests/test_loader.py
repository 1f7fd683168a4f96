"""Loading a file the way a patient teacher would: what works is used, what does not is named."""

from __future__ import annotations

import inspect
import random
import types
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.loader import (
    KNOWS_COLUMNS,
    MAX_SOURCE_BYTES,
    StatementLoader,
    load_file,
    read_source,
)

pytestmark = pytest.mark.usefixtures("untouched_process")


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def load(
    folder: Path, text: str | bytes, definitions_only: bool = False, name: str = "loaded_answer.py"
) -> tuple[types.ModuleType, StatementLoader]:
    """Load one file of a submission that lies in a folder."""
    path = write(folder, name, text)
    return load_file(path, list(dict.fromkeys([path.parent, folder])), definitions_only)


def values(module: types.ModuleType) -> dict[str, Any]:
    """What the file defined."""
    return {name: value for name, value in vars(module).items() if not name.startswith("__")}


def faults(loader: StatementLoader) -> list[tuple[str, int]]:
    return [(fault.kind, fault.line) for fault in loader.skipped]


def test_a_file_is_executed_from_top_to_bottom(tmp_path: Path) -> None:
    """Names, order and the docstring are those of an ordinary import, however it is executed."""
    module, loader = load(tmp_path, '"""Mine."""\nx = 1\ny = x + 1\nx = 5\n')
    assert values(module) == {"x": 5, "y": 2}
    assert (module.__doc__, module.__name__) == ("Mine.", "loaded_answer")
    module, loader = load(tmp_path, '"""Mine."""\nx = 1;\ny = x + 1\nx = 5\n')
    assert values(module) == {"x": 5, "y": 2}
    assert (module.__doc__, module.__name__) == ("Mine.", "loaded_answer")
    assert loader.skipped == []


def test_a_statement_that_raises_is_skipped_with_its_line(tmp_path: Path) -> None:
    """What stands before and after it is there; what needs it fails in its turn."""
    text = "a = 1\n\nb = missing + 1\nc = 3\nd = b\ne = 5\n"
    module, loader = load(tmp_path, text)
    assert values(module) == {"a": 1, "c": 3, "e": 5}
    assert faults(loader) == [("NameError", 3), ("NameError", 5)]


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("raise SystemExit(0)", "SystemExit"),
        ("exit_ = __import__('sys').exit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import no_such_module_at_all", "ModuleNotFoundError"),
        ("for n in range(3):\n    n / 0", "ZeroDivisionError"),
        ("class Broken(missing):\n    pass", "NameError"),
        ("@missing\ndef decorated():\n    pass", "NameError"),
        ("return 5", "SyntaxError"),
        ("x = 1 / 0", "ZeroDivisionError"),
        ("PREDICTED = 4 * 16 + '16'", "TypeError"),
    ],
    ids=lambda text: text.partition("\n")[0],
)
def test_no_statement_keeps_the_rest_from_being_loaded(
    tmp_path: Path, statement: str, kind: str
) -> None:
    """Whatever a line at the top level does, definitions around it are there."""
    module, loader = load(tmp_path, f"before = 1\n{statement}\ndef after():\n    return 2\n")
    assert module.before == 1
    assert module.after() == 2
    assert [fault.kind for fault in loader.skipped] == [kind]
    assert loader.skipped[0].line in (2, 3)


COLUMNS = pytest.param(
    True, marks=pytest.mark.skipif(not KNOWS_COLUMNS, reason="from Python 3.11 on")
)


@pytest.mark.parametrize("knows_columns", [False, COLUMNS])
@pytest.mark.parametrize(
    ("text", "found", "wrong"),
    [
        ("a = 1; b = missing; c = 3\nd = 4\n", {"a": 1, "c": 3, "d": 4}, 1),
        ("missing; b = [1]; b.append(2); missing; b.append(3)\n", {"b": [1, 2, 3]}, 2),
        ('é = 1; "é".missing; ö = 2\n', {"é": 1, "ö": 2}, 1),
        ("b = (1,\n 2); missing; c = (3,\n missing); d = 4\n", {"b": (1, 2), "d": 4}, 2),
        ("b = 1; \nfor i in [1]: missing; b = 2\nc = i; \n", {"b": 1, "c": 1, "i": 1}, 1),
    ],
)
def test_statements_on_one_line_are_told_apart(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    knows_columns: bool,
    text: str,
    found: dict[str, object],
    wrong: int,
) -> None:
    """Of several statements with semicolons only those that raise are left out, and none twice."""
    monkeypatch.setattr("grader.sandbox.loader.KNOWS_COLUMNS", knows_columns)
    module, loader = load(tmp_path, text)
    assert values(module) == found
    assert len(loader.skipped) == wrong


@pytest.mark.parametrize("indent", ["", "\x0c\x0c"])
def test_a_decorator_that_raises_costs_its_function_only(tmp_path: Path, indent: str) -> None:
    """It stands on a line before the function's own, which may begin with form feeds."""
    text = f"a = 1; b = 2\n@missing\n\n\n{indent}def f(): ...\nc = 3; d = 4\n"
    module, loader = load(tmp_path, text)
    assert values(module) == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert faults(loader) == [("NameError", 2)]


FORGED = """
import sys, types
before = 1; doubled = 2 * before

class Forger:
    def __enter__(self): ...
    def __exit__(self, kind, error, trace):
        error.__traceback__ = TRACE

with Forger(): missing
after = 3
def f(): ...
"""


@pytest.mark.parametrize(
    "trace",
    [
        "None",
        "types.TracebackType(None, sys._getframe(1), 10**6, 1)",
        "types.TracebackType(None, sys._getframe(1), -4, 10)",
    ],
)
def test_a_traceback_that_tells_nothing_costs_no_definition(tmp_path: Path, trace: str) -> None:
    """Where the statement that raised is not known, none is taken for another one."""
    module, loader = load(tmp_path, FORGED.replace("TRACE", trace))
    assert (module.before, module.doubled, module.after) == (1, 2, 3)
    assert callable(module.f)
    assert {kind for kind, _ in faults(loader)} == {"NameError"}


def test_a_fault_inside_a_function_points_into_it(tmp_path: Path) -> None:
    """The line is where it happened, with the way that led there."""
    text = "def f():\n    return 1 / 0\n\nx = f()\ny = 2\n"
    module, loader = load(tmp_path, text)
    assert module.y == 2
    assert faults(loader) == [("ZeroDivisionError", 2)]
    assert [(frame.function, frame.line) for frame in loader.skipped[0].frames] == [
        ("<module>", 4),
        ("f", 2),
    ]


def test_a_statement_is_executed_once(tmp_path: Path) -> None:
    """Skipping one does not repeat those before it."""
    text = "import os\nlog = []\nlog.append('a')\nraise ValueError\nlog.append('b')\n1 / 0\n"
    module, _ = load(tmp_path, text)
    assert module.log == ["a", "b"]


def test_a_file_that_only_fails_has_a_bounded_list_of_faults(tmp_path: Path) -> None:
    """Ten faults are enough to see; the rest of the file is executed all the same."""
    module, loader = load(tmp_path, "missing\n" * 50 + "x = 1\n")
    assert len(loader.skipped) == 10
    assert module.x == 1


def test_a_file_that_python_cannot_read_is_a_syntax_error(tmp_path: Path) -> None:
    """It comes with its line, and nothing of the file is executed."""
    with pytest.raises(SyntaxError) as caught:
        load(tmp_path, "x = 1\ndef f(:\n    pass\n")
    assert caught.value.lineno == 2


def test_future_annotations_hold_for_every_statement(tmp_path: Path) -> None:
    """Annotations that name nothing are not evaluated, also after a skipped statement."""
    text = (
        "from __future__ import annotations\n1 / 0\n"
        "def f(x: Nowhere) -> NotThere:\n    return x\n"
        "class C:\n    y: Nothing\n"
    )
    module, loader = load(tmp_path, text)
    assert module.f(3) == 3
    assert module.f.__annotations__ == {"x": "Nowhere", "return": "NotThere"}
    assert faults(loader) == [("ZeroDivisionError", 2)]


def test_without_the_future_annotations_are_evaluated(tmp_path: Path) -> None:
    """The grader's own future statements do not leak into a student's file."""
    module, _ = load(tmp_path, "def f(x: int) -> str:\n    return ''\n")
    assert module.f.__annotations__ == {"x": int, "return": str}


DEFINITIONS = """\
import math
from torch import nn
SIZE = 4
WIDTH = 4 * SIZE
layer = nn.Linear(2, 2)
annotated: int = 7
def f(x):
    return x + SIZE
class C:
    pass
made = f(1)
typed = input()
from_class = C()
while True:
    break
print("loud")
if True:
    inside = 1
"""


def test_definitions_only_executes_what_defines_something(tmp_path: Path) -> None:
    """Imports, functions, classes and plain values; no loops, prints or calls of own functions."""
    module, loader = load(tmp_path, DEFINITIONS, definitions_only=True)
    expected = {"math", "nn", "SIZE", "WIDTH", "layer", "annotated", "f", "C"}
    assert values(module).keys() == expected
    assert module.f(1) == 5
    assert loader.skipped == []


def test_definitions_only_holds_for_imported_files_too(tmp_path: Path) -> None:
    """A loop in a helper does not come back through an import."""
    write(tmp_path, "loaded_helper.py", "X = 1\nfor i in range(3):\n    Y = 2\n")
    module, _ = load(tmp_path, "import loaded_helper\n", definitions_only=True)
    assert values(module.loaded_helper) == {"X": 1}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbfs = 'gr\xc3\xbc\xc3\x9f'\r\nt = 1\r\n", "grüß"),
        (b"# -*- coding: latin-1 -*-\ns = 'gr\xfc\xdf'\n", "grüß"),
        (b"#!/usr/bin/python\n# coding: cp1252\ns = '\x80'\n", "€"),
        ("s = '李雷'\n".encode(), "李雷"),
        (b"s = 'a'\rt = 1\r", "a"),
    ],
    ids=["bom-crlf", "latin-1", "cp1252", "utf-8", "old-mac"],
)
def test_text_is_read_in_its_own_encoding(tmp_path: Path, data: bytes, expected: str) -> None:
    """A byte order mark, a declared encoding and any line ends are understood."""
    module, _ = load(tmp_path, data)
    assert module.s == expected


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"a = 1\nb = 2\nc = 3\nd = 4\n# gr\xfc\xdfe\n", 5),
        (b"# gr\xfc\xdfe\na = 1\n", 1),
        (b"a = 1\n# gr\xfc\xdfe\n", 2),
        (b"a = 1\nb = '\0'\n", 2),
        ("a = 1\n".encode("utf-16"), 1),
    ],
    ids=["latin-1-below", "latin-1-first-line", "latin-1-second-line", "nul", "utf-16"],
)
def test_bytes_that_are_no_text_name_their_line(tmp_path: Path, data: bytes, line: int) -> None:
    """An editor's other encoding is said to be that, and where."""
    with pytest.raises(SyntaxError, match="UTF-8") as caught:
        read_source(write(tmp_path, "a.py", data))
    assert caught.value.lineno == line


def test_an_unknown_encoding_is_a_syntax_error(tmp_path: Path) -> None:
    """A declaration that names nothing does not end in another exception."""
    with pytest.raises(SyntaxError, match="klingon"):
        read_source(write(tmp_path, "a.py", b"# coding: klingon\nx = 1\n"))


def test_a_huge_file_is_not_parsed(tmp_path: Path) -> None:
    """Megabytes of source are refused before they cost memory."""
    with pytest.raises(SyntaxError, match="larger than 1 MB"):
        read_source(write(tmp_path, "a.py", b"#" * (MAX_SOURCE_BYTES + 1)))


def test_a_file_called_random_does_not_hide_the_standard_one(tmp_path: Path) -> None:
    """The submission's own modules are found last."""
    write(tmp_path, "random.py", "mine = True\n")
    write(tmp_path, "statistics.py", "mine = True\n")
    module, _ = load(tmp_path, "import random, statistics\n")
    assert module.random is random
    assert not hasattr(module.statistics, "mine")


def test_other_files_of_the_submission_can_be_imported(tmp_path: Path) -> None:
    """Beside the file and at the submission's top, files and packages."""
    write(tmp_path, "loaded_top.py", "A = 1\n")
    write(tmp_path, "sub/loaded_beside.py", "B = 2\n1 / 0\nC = 3\n")
    write(tmp_path, "loaded_pkg/__init__.py", "from .part import D\n")
    write(tmp_path, "loaded_pkg/part.py", "D = 4\n")
    text = (
        "from loaded_top import A\nfrom loaded_beside import B, C\nfrom loaded_pkg import D\n"
        "from loaded_pkg.part import D as E\n"
    )
    module, loader = load(tmp_path, text, name="sub/loaded_answer.py")
    assert values(module) == {"A": 1, "B": 2, "C": 3, "D": 4, "E": 4}
    assert loader.skipped == []


def test_another_submission_is_not_found_any_more(tmp_path: Path) -> None:
    """The folders of the file loaded before are forgotten."""
    write(tmp_path / "one", "loaded_secret.py", "A = 1\n")
    load(tmp_path / "one", "x = 1\n", name="loaded_first.py")
    _, loader = load(tmp_path / "two", "import loaded_secret\n", name="loaded_second.py")
    assert faults(loader) == [("ModuleNotFoundError", 1)]


def test_a_module_can_be_found_by_what_it_defines(tmp_path: Path) -> None:
    """Dataclasses and pickles look a class's module up: it is there."""
    text = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: 'int' = 3\n"
    module, loader = load(tmp_path, text)
    assert loader.skipped == []
    assert module.P().x == 3


def test_every_value_of_a_constant_is_remembered(tmp_path: Path) -> None:
    """A name that several milestones bind keeps its earlier values, in order."""
    _, loader = load(tmp_path, "N = 148\nM = [1, -2.5]\nN = 4 * 210\nother = len('x')\n")
    assert loader.values_of("N") == [148, 840]
    assert loader.values_of("M") == [[1, -2.5]]
    assert loader.values_of("other") == loader.values_of("absent") == []


def test_the_name_is_not_main(tmp_path: Path) -> None:
    """What stands under `if __name__ == '__main__'` is not executed."""
    module, _ = load(tmp_path, "x = 1\nif __name__ == '__main__':\n    x = 2\n")
    assert module.x == 1


def test_tracebacks_can_show_the_source(tmp_path: Path) -> None:
    """The text of a student's function is found, line for line."""
    module, _ = load(tmp_path, "def f():\n    return 1  # here\n")
    assert "# here" in inspect.getsource(module.f)
