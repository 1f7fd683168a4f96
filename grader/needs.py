"""Criteria that count only where others of their milestone have earned something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.located_yaml import Located, dotted, sentence
from grader.text import perhaps

Path = tuple[str | int, ...]


def withheld(needs: Mapping[str, Sequence[str]], earning: set[str]) -> dict[str, tuple[str, ...]]:
    """Criteria that have earned something and do not count, because of others that have not.

    Args:
        needs: ids of the criteria that each one needs.
        earning: ids of those whose own tests have earned something.

    Returns:
        What each of them waits for; a criterion that waits has earned nothing for others either.
    """
    waiting: dict[str, tuple[str, ...]] = {}
    while True:
        counting = earning - waiting.keys()
        found = {
            name: missing
            for name in needs
            if name in earning and (missing := tuple(n for n in needs[name] if n not in counting))
        }
        if found == waiting:
            return waiting
        waiting = found


def needs_problems(criteria: list[Any], path: Path, places: Located) -> Iterator[str]:
    """What is wrong with the key `needs` of a milestone's criteria, in plain data.

    Args:
        criteria: of the milestone; some of them may be invalid.
        path: of the list in the rubric.
        places: line and column of each value.
    """
    needed = {
        index: criterion["needs"]
        for index, criterion in enumerate(criteria)
        if isinstance(criterion, dict) and isinstance(criterion.get("needs"), list)
    }
    identifiers = [c.get("id") if isinstance(c, dict) else None for c in criteria]
    known = [name for name in identifiers if isinstance(name, str)]
    graph = {
        identifiers[index]: [name for name in names if name in known and isinstance(name, str)]
        for index, names in needed.items()
        if isinstance(identifiers[index], str)
    }
    for index, names in needed.items():
        for number, name in enumerate(names):
            reason = _reason(identifiers[index], name, known, graph)
            if reason:
                location = (*path, index, "needs", number)
                yield sentence(places[location], dotted(location), reason)


def _reason(own: object, name: object, known: list[str], graph: Mapping[Any, list[str]]) -> str:
    """Why a criterion cannot need another one; empty if it can."""
    if not isinstance(name, str):
        return ""  # the model says so
    if name == own:
        return "a criterion cannot need itself"
    if name not in known:
        near = perhaps(name, [other for other in known if other != own])
        return f"no such criterion in this milestone: {name}{near}"
    if own in _reached(name, graph):
        return f"{own} and {name} need each other, so neither would ever count"
    return ""


def _reached(start: str, graph: Mapping[Any, list[str]]) -> set[str]:
    """Everything that a criterion needs, directly or not."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found
