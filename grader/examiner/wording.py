"""Words of student code that may be repeated in a message: known ones only.

The name of an exception's class, or of a value's, is chosen by the student's code, which has
seen hidden inputs and could spell them out.  So only words that everybody uses get through.
"""

from __future__ import annotations

import builtins

EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
) | {"LinAlgError", "OutOfMemoryError"}

VALUES = (
    frozenset(name for name, value in vars(builtins).items() if isinstance(value, type))
    | frozenset(
        f"a tensor of dtype {name}"
        for name in ("complex32", "complex64", "complex128", "uint16", "uint32", "uint64")
    )
    | {
        "NoneType",
        "a meta tensor, which has a shape but no values",
        "a nested tensor",
        "a quantized tensor",
        "a sparse tensor",
        "a tensor with too many elements",
        "ndarray",
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
