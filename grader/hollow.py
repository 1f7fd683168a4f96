"""Hollow answers: the solution with every function and every `forward` emptied of its work.

They show which points an assignment gives for nothing.  They are made from the source alone, so
they can be made for any assignment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.model import Scorecard
from grader.report.feedback import points
from grader.rubric import Rubric

# What a function gives back in place of its work, from its first argument `{x}`.
RETURNS = {
    "return x": "return {x}",
    "return zeros": "import torch; return torch.zeros_like({x})",
    "return ones": "import torch; return torch.ones_like({x})",
    "return random numbers": "import torch; return torch.rand_like({x})",
    "return 2 * x": "return 2 * {x}",
}
WITHOUT_LAYERS = ", without any layers"
FORWARD = "forward"
CONSTRUCTOR = "__init__"
# The most that a hollow answer may earn, as a share of all points.
MAX_SHARE = 0.05

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Hollow:
    """A hollow answer.

    Attributes:
        title: what it does in place of the work.
        sources: content of each file.
    """

    title: str
    sources: dict[str, str]


def hollow_answers(rubric: Rubric) -> Iterator[Hollow]:
    """Every hollow answer to an assignment.

    Constants have the values of the stubs.  Modules keep the layers of the solution, which are
    then right and unused, or have none.  Of solutions that are not Python there are none: they
    earn nothing themselves.
    """
    solutions, stubs = rubric.root / rubric.solutions, rubric.root / rubric.stubs
    try:
        read = {path.name: path.read_text("utf-8-sig") for path in sorted(solutions.glob("*.py"))}
        constants = {name: _constants(stubs / name) for name in read}
        layered = any(_has_modules(source) for source in read.values())
    except (OSError, SyntaxError, ValueError):
        return
    for title, body in RETURNS.items():
        for keep_layers in (True, False) if layered else (True,):
            sources = {
                name: hollowed(source, body, constants.get(name, {}), keep_layers)
                for name, source in read.items()
            }
            yield Hollow(title + ("" if keep_layers else WITHOUT_LAYERS), sources)


def hollowed(source: str, body: str, constants: dict[str, ast.expr], keep_layers: bool) -> str:
    """A source whose functions and forward methods do nothing but return.

    Args:
        source: of a solution.
        body: what they do, with `{x}` for their first argument.
        constants: values for names at the top level, in place of the solution's.
        keep_layers: whether modules keep their constructors.
    """
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, Function):
            _empty(node, body, 0)
        elif isinstance(node, ast.ClassDef):
            _empty_methods(node, body, keep_layers)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for name in _names(node):
                node.value = constants.get(name, node.value)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _empty_methods(defined: ast.ClassDef, body: str, keep_layers: bool) -> None:
    methods = {node.name: node for node in defined.body if isinstance(node, Function)}
    if FORWARD not in methods:
        return
    _empty(methods[FORWARD], body, 1)
    if CONSTRUCTOR in methods and not keep_layers:
        methods[CONSTRUCTOR].body = ast.parse("super().__init__()").body


def _empty(function: Function, body: str, first: int) -> None:
    """Replace what a function does, if it has an argument behind the first ones."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    if len(arguments) > first:
        (written,) = ast.parse(f"def f(): {body.format(x=arguments[first].arg)}").body
        assert isinstance(written, ast.FunctionDef)
        function.body = written.body


def _has_modules(source: str) -> bool:
    return any(
        isinstance(node, Function) and node.name == FORWARD
        for defined in ast.parse(source).body
        if isinstance(defined, ast.ClassDef)
        for node in defined.body
    )


def _constants(path: Path) -> dict[str, ast.expr]:
    """Values of the literals at the top level of a file, by name."""
    found: dict[str, ast.expr] = {}
    for node in ast.parse(path.read_text("utf-8-sig")).body if path.is_file() else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            found |= dict.fromkeys(_names(node), node.value)
    return found


def _names(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def earned_for_nothing(title: str, card: Scorecard) -> str:
    """Which criteria pay for a hollow answer; empty if none does."""
    paying = [
        f"{milestone.id}/{criterion.id} {points(criterion.score)}"
        for milestone in card.milestones
        for criterion in milestone.criteria
        if criterion.score
    ]
    if not paying:
        return ""
    total = f"{points(earned(card))} of {points(card.max_score)} points"
    return f"`{title}` earns {total}: {', '.join(paying)}"


def earned(card: Scorecard) -> float:
    """Points of all milestones, whatever lateness takes."""
    return sum(milestone.score for milestone in card.milestones)


def too_much(card: Scorecard) -> bool:
    """Whether an answer that does nothing earns more than may be left to chance."""
    return earned(card) > MAX_SHARE * card.max_score
