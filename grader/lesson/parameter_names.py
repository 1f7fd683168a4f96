"""What names and shapes of parameters tell."""

from __future__ import annotations

import re
from collections.abc import Mapping

Shapes = Mapping[str, tuple[int, ...]]

GAIN_WORDS = frozenset({"weight", "gamma", "gain", "scale", "g", "w", "a", "alpha"})
SHIFT_WORDS = frozenset({"bias", "beta", "shift", "offset", "b"})


def digits_of(name: str) -> list[str]:
    """The numbers in a name."""
    return re.findall(r"\d+", name)


def words_of(name: str) -> frozenset[str]:
    """Words of the last two parts of a dotted name, lower case, digits dropped."""
    parts = name.split(".")[-2:]
    words = [re.sub(r"\d", "", word.lower()) for part in parts for word in part.split("_")]
    return frozenset(words)


def is_gain(name: str) -> bool:
    """Tell whether a name sounds like a norm's gain (or any weight)."""
    return bool(leaf_words(name) & GAIN_WORDS)


def is_shift(name: str) -> bool:
    """Tell whether a name sounds like a norm's shift (or any bias)."""
    return bool(leaf_words(name) & SHIFT_WORDS)


def leaf_words(name: str) -> frozenset[str]:
    """Words of the last part of a dotted name, lower case, digits dropped."""
    return frozenset(re.sub(r"\d", "", word) for word in leaf(name).lower().split("_"))


def is_vector(shape: tuple[int, ...], size: int) -> bool:
    """Tell whether a shape is (size,), perhaps with axes of size 1."""
    return squeezed(shape) == (size,)


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its axes of size 1."""
    return tuple(size for size in shape if size != 1)


def module_of(name: str) -> str:
    """The module that holds a parameter: all but the last part of its dotted name."""
    return name.rpartition(".")[0]


def leaf(name: str) -> str:
    """The last part of a dotted name."""
    return name.rpartition(".")[2]
