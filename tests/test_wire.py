"""Frames: strict JSON, caps before allocation, and no exception but FrameError."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grader.errors import FrameError
from grader.sandbox.wire import (
    MAX_HEADER_BYTES,
    MAX_PAYLOAD_BYTES,
    PREFIX,
    decode_header,
    decode_prefix,
    encode_frame,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(header=st.dictionaries(st.text(), json_values, max_size=5), payload=st.binary(max_size=64))
def test_a_frame_comes_back_as_it_was(header: dict[str, Any], payload: bytes) -> None:
    """Prefix, header and payload of any frame survive the way."""
    frame = encode_frame(header, payload)
    header_bytes, payload_bytes = decode_prefix(frame[: PREFIX.size])
    text = frame[PREFIX.size : PREFIX.size + header_bytes]
    assert decode_header(text) == header
    assert frame[PREFIX.size + header_bytes :] == payload
    assert payload_bytes == len(payload)


def test_the_prefix_is_two_big_endian_words() -> None:
    """Both ends agree on the bytes, not only with themselves."""
    assert encode_frame({"a": 1}, b"xyz") == b"\0\0\0\x07\0\0\0\x03" + b'{"a":1}' + b"xyz"


@pytest.mark.parametrize(
    ("header_bytes", "payload_bytes"),
    [
        (MAX_HEADER_BYTES + 1, 0),
        (0, MAX_PAYLOAD_BYTES + 1),
        (0xFFFFFFFF, 0),
        (2, 0xFFFFFFFF),
    ],
)
def test_lengths_over_the_cap_are_refused_from_the_prefix_alone(
    header_bytes: int, payload_bytes: int
) -> None:
    """Eight lying bytes are refused before anything of that size is waited for."""
    with pytest.raises(FrameError, match="over the cap"):
        decode_prefix(struct.pack(">II", header_bytes, payload_bytes))


def test_lengths_at_the_cap_are_accepted() -> None:
    """The caps themselves are allowed."""
    lengths = (MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES)
    assert decode_prefix(struct.pack(">II", *lengths)) == lengths


def test_a_frame_over_the_cap_is_not_sent() -> None:
    """The sender notices before the receiver has to."""
    with pytest.raises(FrameError, match="over the cap"):
        encode_frame({"text": "x" * MAX_HEADER_BYTES})


def test_a_header_with_nan_is_not_sent() -> None:
    """What is no JSON is not written either."""
    with pytest.raises(ValueError, match="JSON compliant"):
        encode_frame({"value": float("nan")})


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b'{"a": 1} x',
        b'{"a": 1}{"b": 2}',
        b"[1]",
        b'"text"',
        b"null",
        b'{"a": NaN}',
        b'{"a": [Infinity]}',
        b'{"a": -Infinity}',
        b'{"a": 1, "a": 2}',
        b'{"x": {"a": 1, "a": 1}}',
        b'{"a": "\xff"}',
        b"\xff\xfe{\0}\0",
        b'{"a": "\n"}',
        b"{'a': 1}",
    ],
)
def test_what_is_not_strict_json_is_refused(text: bytes) -> None:
    """Half frames, other values, constants, repeated keys, other encodings: all FrameError."""
    with pytest.raises(FrameError):
        decode_header(text)


@pytest.mark.parametrize("number", [b"1e999", b"-1e999"])
def test_a_number_that_overflows_is_refused(number: bytes) -> None:
    """An infinity by another name is an infinity."""
    with pytest.raises(FrameError):
        decode_header(b'{"a": ' + number + b"}")


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a": ' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * MAX_HEADER_BYTES,
    ],
    ids=["lists", "objects", "open"],
)
def test_deep_nesting_costs_an_error_and_no_stack(text: bytes) -> None:
    """A header of brackets ends as a FrameError, not as the end of the process."""
    with pytest.raises(FrameError):
        decode_header(text)


def test_an_endless_number_is_refused() -> None:
    """Python's quadratic conversion of digits is not set in motion."""
    with pytest.raises(FrameError):
        decode_header(b'{"a": ' + b"9" * 500_000 + b"}")


@settings(max_examples=300)
@given(st.binary(max_size=200))
@example(b'{"\\ud800": "\\ud800"}')
def test_arbitrary_bytes_give_an_object_or_a_frame_error(text: bytes) -> None:
    """No input brings another exception out, and what comes out is an object."""
    try:
        header = decode_header(text)
    except FrameError:
        return
    assert header == json.loads(text)


@given(st.binary(min_size=PREFIX.size, max_size=PREFIX.size))
def test_arbitrary_prefixes_give_bounded_lengths_or_a_frame_error(prefix: bytes) -> None:
    """Whatever eight bytes say, no more is allocated than the caps allow."""
    try:
        header_bytes, payload_bytes = decode_prefix(prefix)
    except FrameError:
        return
    assert header_bytes <= MAX_HEADER_BYTES
    assert payload_bytes <= MAX_PAYLOAD_BYTES
