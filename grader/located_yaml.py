"""YAML as plain data together with where each value stands, for messages with line and column."""

from __future__ import annotations

from typing import Any

import yaml

Place = tuple[int, int]
Located = dict[tuple[str | int, ...], Place]


def yaml_problem(error: yaml.YAMLError) -> str:
    """What is wrong with a text that is no YAML, and where."""
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or str(error)
    if mark is None:
        return f"is not valid YAML: {reason}"
    return f"line {mark.line + 1}, column {mark.column + 1}: is not valid YAML: {reason}"


def plain(
    node: yaml.Node, path: tuple[str | int, ...], places: Located, problems: list[str]
) -> Any:
    """Build plain data from a YAML node, noting where each value stands."""
    places[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.MappingNode):
        return _plain_mapping(node, path, places, problems)
    if isinstance(node, yaml.SequenceNode):
        return [
            plain(child, (*path, index), places, problems) for index, child in enumerate(node.value)
        ]
    try:
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError) as error:
        problems.append(sentence(places[path], dotted(path), f"cannot be read: {error}"))
        return None


def _plain_mapping(
    node: yaml.MappingNode, path: tuple[str | int, ...], places: Located, problems: list[str]
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = str(key_node.value)
        place = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        if key in result:
            problems.append(sentence(place, dotted((*path, key)), "stands twice"))
        result[key] = plain(value_node, (*path, key), places, problems)
        key_path = (*path, key, "<key>")
        places[key_path] = place
    return result


def dotted(path: tuple[str | int, ...]) -> str:
    """A path as it is written: milestones[0].id."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def sentence(place: Place, subject: str, reason: str) -> str:
    """One fault in a sentence."""
    line, column = place
    return f"line {line}, column {column}: {subject or 'the file'}: {reason}"
