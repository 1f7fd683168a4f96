"""Replies: strict models, so that nothing of another key, type or length gets through."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from grader.errors import FrameError
from grader.sandbox.vocabulary import (
    Called,
    Constant,
    Fault,
    SequenceValue,
    Several,
    TensorValue,
    parse_envelope,
)
from grader.sandbox.wire import decode_header, encode_frame

FAULT = {"kind": "ValueError", "message": "no", "file": "a.py", "line": 3,
         "frames": [{"file": "a.py", "line": 3, "function": "f"}]}  # fmt: skip
TENSOR = {"kind": "tensor", "key": "t0"}
CLAIM = {"name": "w", "key": "t0", "requires_grad": True}

BODIES: dict[str, dict[str, Any]] = {
    "loaded": {"reply": "loaded", "names": {"f": "function"}, "skipped": [FAULT]},
    "named": {"reply": "named", "names": ["torch.nn", "f"]},
    "constant": {"reply": "constant", "value": [1, [2.5, "x"]], "earlier": [1], "foreign": ""},
    "called": {
        "reply": "called",
        "output": {"kind": "sequence", "items": [TENSOR, {"kind": "foreign", "what": "int"}]},
        "input_after": "t1",
        "gradients": {"0": "t2"},
        "gradient_fault": FAULT,
        "operators": ["mean"],
    },
    "built": {
        "reply": "built",
        "handle": 0,
        "parameters": [CLAIM],
        "buffers": [],
        "children": [{"name": "a.b", "type": "Linear"}],
    },
    "ran": {
        "reply": "ran",
        "output": TENSOR,
        "observations": [{"child": "a", "inputs": [TENSOR], "output": TENSOR}],
        "input_gradients": {"0": "t1"},
        "parameter_gradients": {"w": "t2"},
        "gradient_fault": None,
        "operators": [],
    },
    "faulted": {"reply": "faulted", "fault": FAULT},
}
BODIES["several"] = {"reply": "several", "replies": [BODIES["constant"], BODIES["faulted"]]}


def envelope(body: object, number: object = 7) -> dict[str, object]:
    return {"id": number, "body": copy.deepcopy(body)}


def as_sent(model: BaseModel) -> Any:
    """A reply as the JSON that it came from."""
    return model.model_dump(mode="json", exclude_unset=True)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_every_reply_comes_back_as_it_was_sent(body: dict[str, Any]) -> None:
    """Through JSON and the schema nothing is lost, added or changed."""
    frame = encode_frame(envelope(body))
    parsed = parse_envelope(decode_header(frame[8:]))
    assert parsed.id == 7
    assert as_sent(parsed.body) == body


def test_replies_are_told_apart_by_their_word() -> None:
    """Each word gives its own class, and values inside have theirs."""
    called = parse_envelope(envelope(BODIES["called"])).body
    assert isinstance(called, Called)
    assert isinstance(called.output, SequenceValue)
    assert isinstance(called.output.items[0], TensorValue)
    several = parse_envelope(envelope(BODIES["several"])).body
    assert isinstance(several, Several)
    assert len(several.replies) == 2


FIXED = {"reply", "kind", "key", "type", "child", "function"}


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all mappings with fixed keys inside a body."""
    if path == ("value",):
        return []
    if isinstance(value, list):
        return [found for n, child in enumerate(value) for found in paths(child, (*path, n))]
    if not isinstance(value, dict):
        return []
    found = [path] if FIXED & value.keys() else []
    return found + [deeper for key in value for deeper in paths(value[key], (*path, key))]


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_an_unknown_key_is_refused_everywhere(body: dict[str, Any]) -> None:
    """Whether at the top or deep inside, nothing is smuggled along."""
    for path in paths(body):
        changed = envelope(body)
        at(changed["body"], path)["extra"] = 1
        with pytest.raises(FrameError, match="breaks the schema"):
            parse_envelope(changed)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_missing_key_is_refused(body: dict[str, Any]) -> None:
    """Every key that the constructor does not fill in must be there."""
    optional = {"earlier", "foreign"}
    for key in body.keys() - optional:
        changed = copy.deepcopy(body)
        del changed[key]
        with pytest.raises(FrameError):
            parse_envelope(envelope(changed))


WRONG: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "text for a number": ("built", ("handle",), "0"),
    "truth for a number": ("built", ("handle",), True),
    "fraction for a number": ("built", ("handle",), 1.0),
    "negative handle": ("built", ("handle",), -1),
    "huge handle": ("built", ("handle",), 10**10),
    "number for truth": ("built", ("parameters", 0, "requires_grad"), 1),
    "number for text": ("built", ("parameters", 0, "name"), 5),
    "list for a mapping": ("loaded", ("names",), []),
    "mapping for a list": ("built", ("parameters",), {}),
    "text for a list": ("called", ("operators",), "mean"),
    "null for a value": ("called", ("output",), None),
    "unknown kind": ("called", ("output", "kind"), "pickle"),
    "negative line": ("faulted", ("fault", "line"), -1),
    "reply inside itself": ("several", ("replies", 0), {"reply": "several", "replies": []}),
    "unknown word": ("constant", ("reply",), "passed"),
}


@pytest.mark.parametrize(("name", "path", "value"), WRONG.values(), ids=WRONG.keys())
def test_a_value_of_another_type_is_refused(name: str, path: tuple[Any, ...], value: Any) -> None:
    """Nothing is converted: 1 is not true, "0" is not 0, and unknown words mean nothing."""
    changed = envelope(BODIES[name])
    at(changed["body"], path[:-1])[path[-1]] = value
    with pytest.raises(FrameError, match="breaks the schema"):
        parse_envelope(changed)


LONG: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "parameter name": ("built", ("parameters", 0, "name"), "x" * 301),
    "defined name": ("loaded", ("names",), {"x" * 301: "value"}),
    "kind of a name": ("loaded", ("names",), {"x": "y" * 301}),
    "message": ("faulted", ("fault", "message"), "x" * 2001),
    "frames": ("faulted", ("fault", "frames"), FAULT["frames"] * 21),  # type: ignore[operator]
    "names": ("loaded", ("names",), {str(n): "value" for n in range(5001)}),
    "parameters": ("built", ("parameters",), [CLAIM] * 5001),
    "operators": ("ran", ("operators",), ["x"] * 5001),
    "items": ("called", ("output", "items"), [TENSOR] * 65),
    "observations": ("ran", ("observations",), BODIES["ran"]["observations"] * 513),
    "replies": ("several", ("replies",), [BODIES["constant"]] * 65),
    "names of a source": ("named", ("names",), ["x"] * 5001),
    "skipped": ("loaded", ("skipped",), [FAULT] * 11),
}


@pytest.mark.parametrize(("name", "path", "value"), LONG.values(), ids=LONG.keys())
def test_what_is_too_long_is_refused(name: str, path: tuple[Any, ...], value: Any) -> None:
    """Names, messages and lists all have their cap."""
    changed = envelope(BODIES[name])
    at(changed["body"], path[:-1])[path[-1]] = value
    with pytest.raises(FrameError, match="breaks the schema"):
        parse_envelope(changed)


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"id": 1},
        {"id": "1", "body": {"reply": "constant", "value": None}},
        {"id": -1, "body": {"reply": "constant", "value": None}},
        {"id": True, "body": {"reply": "constant", "value": None}},
        {"id": 1, "body": {"reply": "constant", "value": None}, "score": 100},
        {"id": 1, "body": []},
        {"id": 1, "body": {"reply": ["constant"]}},
        {"ready": True},
    ],
)
def test_another_envelope_is_refused(header: dict[str, object]) -> None:
    """The number is a number, the body one of the replies, and there is nothing else."""
    with pytest.raises(FrameError):
        parse_envelope(header)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = dict(TENSOR)
    for _ in range(depth):
        value = {"kind": "sequence", "items": [value]}
    return {**BODIES["called"], "output": value}


def test_values_nested_without_end_are_refused() -> None:
    """A reply as deep as the parser allows ends as a FrameError, not as the end of the process."""
    assert isinstance(parse_envelope(envelope(nested(3))).body, Called)
    with pytest.raises(FrameError):
        parse_envelope({"id": 1, "body": nested(300)})


def test_a_constant_carries_any_plain_data() -> None:
    """Numbers stay numbers of their own kind, and null is a value."""
    body = {"reply": "constant", "value": {"a": [1, 1.0, True, None]}}
    parsed = parse_envelope(envelope(body)).body
    assert isinstance(parsed, Constant)
    assert repr(parsed.value) == "{'a': [1, 1.0, True, None]}"


def test_replies_cannot_be_changed() -> None:
    """What was checked stays what it was."""
    with pytest.raises(ValueError, match="frozen"):
        Fault(kind="a", message="b").kind = "c"


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
words = st.sampled_from(
    [*BODIES, "tensor", "sequence", "foreign", "kind", "reply", "items", "value", "output", "t0"]
)
anything = st.recursive(
    leaves | words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(words | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from(["id", "body", "x"]), anything))
@example({"id": 1, "body": {"reply": "constant", "value": "\ud800"}})
@example({"id": 1, "body": {"reply": "loaded", "names": {"\ud800": "x"}, "skipped": []}})
@example({"id": 1, "body": {"reply": "constant", "value": None, "\ud800": 1}})
def test_arbitrary_headers_give_a_reply_or_a_frame_error(header: dict[str, object]) -> None:
    """No plain data brings another exception out."""
    try:
        parsed = parse_envelope(header)
    except FrameError:
        return
    assert parsed.id == header["id"]


@given(st.sampled_from(list(BODIES)), st.data())
def test_a_reply_with_one_thing_replaced_gives_a_reply_or_a_frame_error(
    name: str, data: st.DataObject
) -> None:
    """Near the schema, too, FrameError is the only exception."""
    changed = envelope(BODIES[name])
    path = data.draw(st.sampled_from(paths(BODIES[name])))
    target = at(changed["body"], path)
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(anything)
    try:
        parsed = parse_envelope(changed)
    except FrameError:
        return
    assert parsed.id == changed["id"]
