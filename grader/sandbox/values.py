"""Values of student code on their way out: tensors by key, everything else by description."""

from __future__ import annotations

import functools
import math
import types
from typing import Any

import torch
from torch import Tensor

from grader.errors import RefusedTensorError
from grader.sandbox.tensors import plain

MAX_ITEMS = 64
MAX_LITERAL_ITEMS = 10_000
TOO_LARGE = "number that is too large or not finite"
NOT_ONLY_LITERALS = "list that is too long or holds something else than numbers"


class Outgoing:
    """The tensors of one reply."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}

    def add(self, tensor: Tensor) -> str:
        """Copy a tensor into the reply and name it.

        Raises:
            RefusedTensorError: if it has no plain values.
        """
        key = f"t{len(self.tensors)}"
        with torch._C.DisableTorchFunctionSubclass():
            self.tensors[key] = plain(tensor)
        return key

    def value(self, value: object, depth: int = 0) -> dict[str, Any]:
        """Describe a value; tensors inside tuples and lists are carried too."""
        if isinstance(value, Tensor):
            try:
                return {"kind": "tensor", "key": self.add(value)}
            except RefusedTensorError as error:
                return {"kind": "foreign", "what": str(error)[:300]}
        if isinstance(value, (tuple, list)) and depth < 3 and len(value) <= MAX_ITEMS:
            items = [self.value(item, depth + 1) for item in value]
            return {"kind": "sequence", "items": items}
        return {"kind": "foreign", "what": type(value).__name__[:300]}


def kind_of(value: object) -> str:
    """Class, function, module or value."""
    if isinstance(value, type):
        return "class"
    if isinstance(value, types.ModuleType):
        return "module"
    functions = (types.FunctionType, types.BuiltinFunctionType, functools.partial)
    return "function" if isinstance(value, functions) else "value"


def foreign_word(value: object) -> str:
    """What stands where a literal should: the value's type, or what is wrong with a literal."""
    if type(value) in (int, float):
        return TOO_LARGE
    if type(value) in (list, tuple):
        return NOT_ONLY_LITERALS
    return type(value).__name__[:300]


def is_literal(value: Any, depth: int = 0) -> bool:
    """Tell whether a value is plain JSON data: exact types only, finite, of modest size."""
    if value is None or type(value) in (bool, str):
        return not isinstance(value, str) or len(value) <= MAX_LITERAL_ITEMS
    if type(value) is int:
        return abs(value) < 1 << 53
    if type(value) is float:
        return math.isfinite(value)
    if type(value) in (list, tuple):
        return (
            depth < 4
            and len(value) <= MAX_LITERAL_ITEMS
            and all(is_literal(item, depth + 1) for item in value)
        )
    return False
