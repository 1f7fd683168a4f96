"""Loads a student's file the way a patient teacher would: what works of it is used.

A statement at the top level that raises (a plot without a screen, a training loop that fails,
`input()` without a keyboard) is noted and skipped, and the definitions below it are still
there.  In `definitions_only` mode, used after a load that never ended or killed its process,
only what defines something is executed.  Other files of the submission are found last, so a
student's `random.py` never hides the standard one.
"""

from __future__ import annotations
import __future__

import ast
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TypeGuard

from grader.sandbox.faults import fault_of
from grader.sandbox.vocabulary import Fault

MAX_SOURCE_BYTES = 1 << 20
MAX_SKIPPED = 10
# Line, from 1, and column in bytes of UTF-8, from 0: as in a syntax tree.
Place = tuple[int, int]
# First and last line, first and last column.
Position = tuple[int | None, int | None, int | None, int | None]
AT_THE_END_OF_THE_LINE = sys.maxsize


def _columns_of(code: types.CodeType) -> list[int | None]:
    """Column of each instruction of two bytes; none are known before Python 3.11."""
    positions: Callable[[], Iterable[Position]] = getattr(code, "co_positions", tuple)
    return [column for _, _, column, _ in positions()]


# Python may also have been told to forget them.
KNOWS_COLUMNS = any(column is not None for column in _columns_of(compile("x", "", "exec")))


class SubmissionFinder(importlib.abc.MetaPathFinder):
    """Finds the submission's own modules, after everything that is installed."""

    def __init__(self, folders: Sequence[Path], definitions_only: bool) -> None:
        self.folders = folders
        self.definitions_only = definitions_only

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a top-level module or package of the submission."""
        if path is not None:
            return None
        for folder in self.folders:
            file = folder / f"{fullname}.py"
            if file.is_file():
                loader = StatementLoader(fullname, file, self.definitions_only)
                return importlib.util.spec_from_file_location(fullname, file, loader=loader)
            if (folder / fullname).is_dir():
                return importlib.machinery.PathFinder.find_spec(fullname, [str(folder)])
        return None


class StatementLoader(importlib.abc.Loader):
    """Executes one file.

    Attributes:
        skipped: top-level statements that raised.
    """

    def __init__(self, name: str, path: Path, definitions_only: bool) -> None:
        self.name = name
        self.path = path
        self.definitions_only = definitions_only
        self.skipped: list[Fault] = []
        self._source = ""
        self._together = True

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        """Leave the creation of the module to Python."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Execute the file in a module's namespace.

        Raises:
            SyntaxError: if the file does not parse.
        """
        source = self._source = read_source(self.path)
        lines = source.splitlines(keepends=True)
        linecache.cache[str(self.path)] = (len(source), None, lines, str(self.path))
        whole = None if self.definitions_only else _compiled_whole(source, self.path)
        raised = None if whole is None else _raised(whole, module, self.path.parent)
        if whole is not None and raised is None:
            return
        tree = _parsed(source, self.path)
        statements = list(chosen_statements(tree, self.definitions_only))
        if raised is not None:
            statements = statements[self._skip(*raised, statements) :]
        elif ast.get_docstring(tree) is not None:
            module.__doc__ = ast.get_docstring(tree)
        flags = _future_flags(tree)
        while statements:
            first = _on_lines_of_their_own(statements) if self._together else statements[:1]
            statements = statements[self._execute(first, module, flags) :]

    def _execute(self, statements: Sequence[ast.stmt], module: types.ModuleType, flags: int) -> int:
        """Execute statements up to the first that raises, and note that one.

        Returns:
            How many statements are dealt with, the one that raised among them.
        """
        together = ast.Module(body=list(statements), type_ignores=[])
        try:
            code = compile(together, str(self.path), "exec", flags=flags, dont_inherit=True)
        except BaseException as error:
            if len(statements) > 1:  # one of them does not compile
                return self._execute(statements[:1], module, flags)
            return self._skip(None, fault_of(error, self.path.parent), statements)
        raised = _raised(code, module, self.path.parent)
        return len(statements) if raised is None else self._skip(*raised, statements)

    def _skip(self, at: Place | None, fault: Fault, statements: Sequence[ast.stmt]) -> int:
        """Note the statement that raised.

        Where an exception does not tell, the statements are executed again, each by itself.

        Returns:
            How many statements are dealt with, that one among them.
        """
        if at is None and len(statements) > 1:
            self._together = False
            return 0
        failed = _statement_at(at, statements) if at else 0
        if len(self.skipped) < MAX_SKIPPED:
            line = fault.line or statements[failed].lineno
            self.skipped.append(fault.model_copy(update={"line": line}))
        return failed + 1

    def values_of(self, name: str) -> list[object]:
        """Every plain constant that a top-level name is bound to, in order."""
        values: list[object] = []
        tree = _parsed(self._source, self.path)
        for statement in chosen_statements(tree, self.definitions_only):
            if _binds(statement, name) and _is_plain(statement.value):
                with suppress(Exception):  # the statement itself may have raised
                    code = compile(ast.Expression(statement.value), str(self.path), "eval")
                    values.append(eval(code, {}))  # noqa: S307
        return values


def _compiled_whole(source: str, path: Path) -> types.CodeType | None:
    """A file compiled in one go, which takes half of the time; `None` if that is not possible.

    Where one of its statements raises, the place has to tell which one it is.
    """
    if ";" in source and not KNOWS_COLUMNS:
        return None
    try:
        return compiled(source, path)
    except Exception:  # its statements may compile one by one
        return None


@functools.lru_cache(1)
def compiled(source: str, path: Path) -> types.CodeType:
    """Compile a file; the last one is kept, since it is read for its names and then executed.

    Raises:
        SyntaxError: if Python does not compile it; also `MemoryError` and `RecursionError`.
    """
    return compile(source, str(path), "exec", dont_inherit=True)


def _raised(
    code: types.CodeType, module: types.ModuleType, folder: Path
) -> tuple[Place | None, Fault] | None:
    """Execute code in a module's namespace.

    Returns:
        Place in the module, as far as it is known, and fault, if it has raised.  The exception
        itself must not be kept: it holds on to all that the student's functions had in memory.
    """
    try:
        exec(code, module.__dict__)  # noqa: S102
    except BaseException as error:
        return _place_in(error, code), fault_of(error, folder)
    return None


def load_file(
    path: Path, folders: Sequence[Path], definitions_only: bool
) -> tuple[types.ModuleType, StatementLoader]:
    """Load a milestone's file as a module, with the submission's other files in reach.

    Args:
        path: the file.
        folders: where its imports may find other files of the submission.
        definitions_only: execute only statements that define something.

    Returns:
        The module, and its loader with what raised.

    Raises:
        SyntaxError: if the file does not parse.
    """
    sys.argv[:] = [str(path)]  # as where the file is run by itself: no words of the grader's
    finder = SubmissionFinder(folders, definitions_only)
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, SubmissionFinder)] + [finder]
    name = path.stem
    loader = StatementLoader(name, path, definitions_only)
    spec = importlib.machinery.ModuleSpec(name, loader, origin=str(path))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    loader.exec_module(module)
    return module, loader


def forget_files(folder: Path) -> None:
    """Take the modules of a folder's files out of this process again.

    Args:
        folder: what was loaded from it is forgotten.
    """
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, SubmissionFinder)]
    for name, module in list(sys.modules.items()):
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if isinstance(origin, str) and origin.startswith(f"{folder}/"):
            del sys.modules[name]


def read_source(path: Path) -> str:
    """Read a Python file as text.

    Raises:
        SyntaxError: with the line, if the bytes are no text in the declared encoding, hold
            NUL bytes, or are too many.
    """
    data = path.read_bytes()
    if len(data) > MAX_SOURCE_BYTES:
        raise SyntaxError(f"the file is larger than {MAX_SOURCE_BYTES >> 20} MB")
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise SyntaxError("the file holds NUL bytes: save it as UTF-8 text", _at(path, line))
    try:
        return importlib.util.decode_source(data)
    except UnicodeDecodeError as error:
        reason = "this line is not UTF-8 text: save the file as UTF-8"
        raise SyntaxError(reason, _at(path, _line_of(data, error))) from error
    except SyntaxError as error:
        try:
            data.decode("utf-8-sig")
        except UnicodeDecodeError as undecodable:
            line = _line_of(data, undecodable)
            raise SyntaxError(f"{error.msg}: save the file as UTF-8", _at(path, line)) from error
        raise


def _line_of(data: bytes, error: UnicodeDecodeError) -> int:
    return data[: error.start].count(b"\n") + 1


def _parsed(source: str, path: Path) -> ast.Module:
    """Parse a source.

    Raises:
        SyntaxError: also for nesting that the parser gives up on.
    """
    try:
        with warnings.catch_warnings():  # student code may have made errors of them
            warnings.simplefilter("ignore")
            return ast.parse(source, filename=str(path))
    except (MemoryError, RecursionError):
        raise SyntaxError("brackets or blocks are nested too deep", _at(path, 1)) from None


def _at(path: Path, line: int) -> tuple[str, int, int, str]:
    return (str(path), line, 1, "")


def _on_lines_of_their_own(statements: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """The first statements, up to one that begins on the line where another ends.

    A traceback may tell lines only, so such a statement is executed alone.
    """
    for index, (statement, following) in enumerate(pairwise(statements)):
        if (statement.end_lineno or statement.lineno) >= _first_line(following):
            return statements[: max(index, 1)]
    return statements


def _place_in(error: BaseException, code: types.CodeType) -> Place | None:
    """Where in the module's own frame an exception left it; a traceback can be changed."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            return trace.tb_lineno, _column(code, trace.tb_lasti)
        trace = trace.tb_next
    return None


def _column(code: types.CodeType, instruction: int) -> int:
    """Column of an instruction, given by its offset in bytes, as far as Python knows it."""
    columns, index = _columns_of(code), instruction // 2
    column = columns[index] if 0 <= index < len(columns) else None
    return AT_THE_END_OF_THE_LINE if column is None else column


def _statement_at(place: Place, statements: Sequence[ast.stmt]) -> int:
    """Index of the statement that a place belongs to."""
    begun = [index for index, statement in enumerate(statements) if _begin(statement) <= place]
    return begun[-1] if begun else 0


def _begin(statement: ast.stmt) -> Place:
    """Where a statement begins: at its first decorator, which has its line to itself."""
    first = _first_line(statement)
    return first, statement.col_offset if first == statement.lineno else 0


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _binds(statement: ast.stmt, name: str) -> TypeGuard[ast.Assign]:
    return isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == name for target in statement.targets
    )


def _is_plain(expression: ast.expr) -> bool:
    """Tell whether an expression is made of numbers and texts only."""
    allowed = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.List, ast.Tuple, ast.operator,
               ast.unaryop, ast.expr_context)  # fmt: skip
    return all(isinstance(node, allowed) for node in ast.walk(expression))


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                feature = getattr(__future__, alias.name, None)
                flags |= feature.compiler_flag if feature is not None else 0
    return flags


def chosen_statements(tree: ast.Module, definitions_only: bool) -> Iterator[ast.stmt]:
    """The statements to execute, in their order."""
    if not definitions_only:
        yield from tree.body
        return
    own = {
        node.name
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    for statement in tree.body:
        if _defines(statement, own):
            yield statement


def _defines(statement: ast.stmt, own: set[str]) -> bool:
    """Tell whether a statement defines something without running the student's functions."""
    if isinstance(
        statement,
        (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    ):
        return True
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            root = node.func
            while isinstance(root, (ast.Attribute, ast.Call, ast.Subscript)):
                root = root.func if isinstance(root, ast.Call) else root.value
            if not isinstance(root, ast.Name) or root.id in own or root.id == "input":
                return False
    return True
