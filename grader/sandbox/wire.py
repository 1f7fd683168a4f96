"""Frames between a worker and the trusted side: a strict JSON header and a binary payload.

A frame is two big-endian 32-bit lengths, the header (JSON, UTF-8) and the payload
(safetensors, or nothing).  Lengths are checked before anything of that size is allocated.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any, NoReturn

from grader.errors import FrameError

PREFIX = struct.Struct(">II")
MAX_HEADER_BYTES = 1 << 20
MAX_PAYLOAD_BYTES = 64 << 20
# Made once: the functions of the json module make a new one for each call.
_COMPACT = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def to_json(value: dict[str, Any]) -> bytes:
    """Write an object without spaces.

    Raises:
        ValueError: if it holds NaN or an infinity.
    """
    return _COMPACT.encode(value).encode()


def encode_frame(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """Put a header and a payload into one frame.

    Raises:
        FrameError: if either is larger than the wire allows.
    """
    text = to_json(header)
    check_lengths(len(text), len(payload))
    return PREFIX.pack(len(text), len(payload)) + text + payload


def decode_prefix(prefix: bytes) -> tuple[int, int]:
    """Read the lengths of header and payload, in bytes.

    Raises:
        FrameError: if either is larger than the wire allows.
    """
    header_bytes, payload_bytes = PREFIX.unpack(prefix)
    check_lengths(header_bytes, payload_bytes)
    return header_bytes, payload_bytes


def check_lengths(header_bytes: int, payload_bytes: int) -> None:
    """Hold two lengths against the caps of the wire.

    Raises:
        FrameError: if either is too large.
    """
    if header_bytes > MAX_HEADER_BYTES or payload_bytes > MAX_PAYLOAD_BYTES:
        raise FrameError(f"a frame of {header_bytes} + {payload_bytes} bytes is over the cap")


def decode_header(text: bytes) -> dict[str, Any]:
    """Read the JSON header of a frame.

    The parser stops at Python's recursion limit, so deep nesting costs an error and no stack.

    Raises:
        FrameError: if it is not UTF-8, not JSON, nested too deep, no object, or holds NaN,
            an infinity or a key twice.
    """
    try:
        header = _STRICT.decode(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a header is not strict JSON: {error}") from error
    if not isinstance(header, dict):
        raise FrameError("a header is not a JSON object")
    return header


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice")
    return result


_STRICT = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique_keys
)
