"""Words of student code that may be repeated in a message: known ones only.

The name of an exception's class, or of a value's, is chosen by the student's code, which has
seen hidden inputs and could spell them out.  So only words that everybody uses get through.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import torch

from grader.sandbox.values import NOT_ONLY_LITERALS, TOO_LARGE

TOO_MANY_ELEMENTS = "a tensor with too many elements"
TOO_MANY_DIMENSIONS = "a tensor with too many dimensions"
# Of a shape that student code has made, so much is repeated: a few sizes as small as those that
# the tests use.  Larger numbers could spell something out.
SHOWN_DIMENSIONS = 4
SHOWN_SIZE = 64

EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
) | {"LinAlgError", "OutOfMemoryError"}

# What a tensor may hold that no formula of the lesson gives.
NUMBERS = frozenset(
    {"truth values (bool)"}
    | {f"whole numbers ({name})" for name in ("int64", "int32", "int16", "int8", "uint8")}
)
VALUES = (
    frozenset(name for name, value in vars(builtins).items() if isinstance(value, type))
    | frozenset(
        f"a tensor of dtype {name}"
        for name in ("complex32", "complex64", "complex128", "uint16", "uint32", "uint64")
    )
    | NUMBERS
    | {
        "NoneType",
        "a meta tensor, which has a shape but no values",
        "a nested tensor",
        "a quantized tensor",
        "a sparse tensor",
        TOO_LARGE,
        NOT_ONLY_LITERALS,
        TOO_MANY_ELEMENTS,
        TOO_MANY_DIMENSIONS,
        "ndarray",
        "Parameter",
        "Tensor",
        "function",
        "generator",
        "module",
    }
)


def exception_word(kind: str) -> str:
    """The class of an exception, or that it is one of the student's own."""
    return kind if kind in EXCEPTIONS else "an exception of its own"


def value_word(what: str) -> str:
    """The kind of a value, or that it is another one."""
    return what if what in VALUES else "a value of another kind"


def dtype_word(dtype: torch.dtype) -> str:
    """What a tensor holds that no formula of the lesson gives."""
    name = str(dtype).removeprefix("torch.")
    return f"truth values ({name})" if name == "bool" else f"whole numbers ({name})"


def shape_word(shape: Sequence[int]) -> str:
    """A shape, as far as it may be repeated."""
    if len(shape) > SHOWN_DIMENSIONS:
        return f"one with more than {SHOWN_DIMENSIONS} dimensions"
    sizes = [str(size) if size <= SHOWN_SIZE else f"more than {SHOWN_SIZE}" for size in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
