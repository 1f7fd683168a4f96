"""What a source file says, read from its syntax tree without running a line of it.

The tree is read in a worker in which no student code has run yet, behind all walls: parsing a
hostile file can use up memory or the stack.  What comes back are names and flags only.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.sandbox.loader import compiled, read_source

MAX_ITEMS = 500
# Lines that are no Python, by what they come from.
FOREIGN_LINES = {
    "merge-marker": re.compile(r"^(<{7}|={7}|>{7})(\s|$)"),
    "notebook-line": re.compile(r"^\s*[!%]\s*\w"),
    "prompt-line": re.compile(r"^\s*(>>>|In \[\d*\]:)"),
}

Facts = dict[str, Any]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def outline_of(path: Path) -> Facts:
    """The outline of one file, in the form of `vocabulary.Outline`."""
    try:
        source = read_source(path)
    except SyntaxError:
        return _unreadable("encoding")
    try:
        tree = ast.parse(source)
    except TabError:
        return _unreadable("tabs")
    except SyntaxError as error:
        return _unreadable(_foreign_line(source, error.lineno) or type(error).__name__)
    except (MemoryError, RecursionError, ValueError):
        return _unreadable("nesting")
    return _facts(tree)


def names_in(path: Path) -> set[str] | None:
    """Every name that a file imports, loads, stores or follows a dot with, but local variables.

    Compiled code lists them, in a tenth of the time that an outline takes.

    Returns:
        The names; `None` if Python does not compile the file.
    """
    try:
        waiting = [compiled(read_source(path), path)]
    except (SyntaxError, MemoryError, RecursionError, ValueError):
        return None
    found: set[str] = set()
    while waiting:
        code = waiting.pop()
        found.update(code.co_names)
        waiting += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    return found


def _unreadable(reason: str) -> Facts:
    return {"functions": [], "classes": [], "calls": [], "unreadable": reason}


def _foreign_line(source: str, number: int | None) -> str:
    """What the line is at which Python gave up, if it is no Python."""
    lines = source.splitlines()
    line = lines[number - 1] if number and number <= len(lines) else ""
    return next((what for what, pattern in FOREIGN_LINES.items() if pattern.match(line)), "")


def _facts(tree: ast.Module) -> Facts:
    every = list(ast.walk(tree))
    top = list(_nodes(tree.body))
    nodes = dict(_functions(every, top))  # of two definitions with one name the last one counts
    own = {name for name in nodes if "." not in name}
    origins = {name: origin for name, origin in _imported(every) if name not in own}
    functions = [_function(name, node, origins) for name, node in nodes.items()]
    classes = [
        {"name": node.name[:300], "line": node.lineno, "bases": _names(node.bases, origins)}
        for node in every
        if isinstance(node, ast.ClassDef)
    ]
    calls = [name for node in top for name in _call_name(node, origins)]
    return {
        "functions": functions[:MAX_ITEMS],
        "classes": classes[:MAX_ITEMS],
        "calls": _first(calls),
        "unreadable": "",
    }


def _imported(every: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names bound by imports, with what they stand for."""
    for node in every:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    yield alias.asname, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _functions(every: Sequence[ast.AST], top: Sequence[ast.AST]) -> Iterator[tuple[str, Function]]:
    """Functions of the file and methods of its classes; those inside others belong to them."""
    for node in every:
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function):
                    yield f"{node.name}.{inner.name}", inner
    for found in top:
        if isinstance(found, Function):
            yield found.name, found


def _nodes(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Nodes of some statements in their order, without those inside functions and classes."""
    waiting: list[ast.AST] = [*reversed(statements)]
    while waiting:
        found = waiting.pop()
        yield found
        if not isinstance(found, (Function, ast.Lambda, ast.ClassDef)):
            waiting += [*reversed(list(ast.iter_child_nodes(found)))]


def _function(name: str, node: Function, origins: dict[str, str]) -> Facts:
    arguments = node.args
    parameters = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    every = list(ast.walk(node))
    own = list(_nodes(node.body))
    attributes = [n.attr for n in every if isinstance(n, ast.Attribute)]
    calls = [name for found in every for name in _call_name(found, origins)]
    return {
        "name": name[:300],
        "line": node.lineno,
        "parameters": _first(parameters),
        "calls": _first(calls),
        "attributes": _first(attributes),
        "gives": _gives(node, own),
        "changes": _first(list(_changed(own))),
        "keeps": dict(list(_kept(own, origins))[:MAX_ITEMS]),
        "fixed": _first(list(_fixed(own, origins))),
    }


def _gives(node: Function, own: Sequence[ast.AST]) -> str:
    """What comes of a call, as in `vocabulary.FunctionOutline`."""
    returns = [found for found in own if isinstance(found, ast.Return)]
    if any(isinstance(found, (ast.Yield, ast.YieldFrom)) for found in own):
        return "value"
    if any(not _is_none(found.value) for found in returns):
        return "value"
    if returns:
        return "none"
    if all(_is_empty(statement) for statement in node.body):
        return "unwritten"
    return "printed" if _prints_a_result(node.body[-1]) else "nothing"


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _is_empty(statement: ast.stmt) -> bool:
    """Tell whether a statement is `pass`, `...` or a docstring."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass)


def _prints_a_result(statement: ast.stmt) -> bool:
    """Tell whether a statement prints a value, and not only its shape or a text."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return False
    values = (ast.Name, ast.BinOp, ast.Call, ast.Subscript)
    return call.func.id == "print" and any(isinstance(a, values) for a in call.args)


def _changed(own: Sequence[ast.AST]) -> Iterator[str]:
    """Names of tensors that are written into: `x -= y`, `x[0] = y`, `x.sub_(y)`."""
    for found in own:
        if isinstance(found, ast.AugAssign):
            yield _root(found.target)
        elif isinstance(found, ast.Assign):
            yield from (_root(t) for t in found.targets if isinstance(t, ast.Subscript))
        elif isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute):
            name = found.func.attr
            if name.endswith("_") and not name.endswith("__"):
                yield _root(found.func.value)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _kept(own: Sequence[ast.AST], origins: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Attributes of `self` that are set, with the call or the kind of value they are set to."""
    for found in own:
        if isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute):
            owner, inside = found.func.value, [n for a in found.args for n in _calls(a, origins)]
            if found.func.attr == "append" and _root(owner) == "self" and inside:
                yield _dotted(owner, {}).removeprefix("self."), f"list of {inside[0]}"[:300]
        if not isinstance(found, (ast.Assign, ast.AnnAssign)) or found.value is None:
            continue
        targets = found.targets if isinstance(found, ast.Assign) else [found.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and _root(target) == "self":
                yield target.attr[:300], _kind(found.value, origins)[:300]


def _kind(value: ast.expr, origins: dict[str, str]) -> str:
    if isinstance(value, (ast.List, ast.ListComp, ast.Tuple)):
        inside = list(_calls(value, origins))
        return f"list of {inside[0]}" if inside else "list"
    if isinstance(value, ast.Call):
        return _dotted(value.func, origins) or "call"
    return type(value).__name__


def _fixed(own: Sequence[ast.AST], origins: dict[str, str]) -> Iterator[str]:
    """Calls that are given whole numbers above 1 as they are."""
    for found in own:
        if isinstance(found, ast.Call):
            values = [a.value for a in found.args if isinstance(a, ast.Constant)]
            if any(type(value) is int and value > 1 for value in values):
                yield _dotted(found.func, origins)


def _calls(node: ast.AST, origins: dict[str, str]) -> Iterator[str]:
    for found in ast.walk(node):
        yield from _call_name(found, origins)


def _call_name(node: ast.AST, origins: dict[str, str]) -> Iterator[str]:
    """The name that a call calls; none for other nodes."""
    if isinstance(node, ast.Call):
        name = _dotted(node.func, origins)
        if name and not name.endswith("()"):  # what it calls is a result, called before
            yield name


def _names(nodes: list[ast.expr], origins: dict[str, str]) -> list[str]:
    return _first([_dotted(node, origins) for node in nodes])


def _dotted(node: ast.AST, origins: dict[str, str]) -> str:
    """A name with its dots, from where it was imported: `torch.nn.functional.gelu`.

    The result of a call is written with brackets: `super().__init__`.
    """
    parts: list[str] = []
    called = ""
    while isinstance(node, (ast.Attribute, ast.Call)):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr + called)
            called, node = "", node.value
        else:
            called, node = called + "()", node.func
    parts.append((origins.get(node.id, node.id) if isinstance(node, ast.Name) else "") + called)
    return ".".join(reversed(parts))[:300]


def _first(names: list[str]) -> list[str]:
    """Different names, in their order, as many as may cross the boundary."""
    return [name[:300] for name in dict.fromkeys(names) if name][:MAX_ITEMS]
