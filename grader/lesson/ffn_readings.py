"""Readings of the parameters of a feed-forward network."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from grader.lesson.parameter_names import (
    Shapes,
    digits_of,
    is_gain,
    is_vector,
    leaf,
    module_of,
    squeezed,
)
from grader.lesson.roles import FeedForwardRoles

# Honest code has a handful: two matrices, and the ways to take its biases.
MAX_READINGS = 48


def feed_forward_readings(shapes: Shapes, d: int, f: int) -> Iterator[FeedForwardRoles]:
    """Readings of the parameters of a feed-forward network.

    Args:
        shapes: shape of each parameter, in the order of definition.
        d: features of a token; different from `f`.
        f: features in between.
    """
    wide = [name for name, shape in shapes.items() if squeezed(shape) == (f, d)]
    narrow = [name for name, shape in shapes.items() if squeezed(shape) == (d, f)]
    for first, second in itertools.product(wide, narrow):
        for w1, w2, transposed in ((first, second, False), (second, first, True)):
            b1 = _biases(shapes, f, w1)[0]
            for b2 in _biases(shapes, d, w2):
                yield FeedForwardRoles(w1, w2, b1, b2, transposed)
    yield from _folded_readings(shapes, d, f)


def likeliest_readings(shapes: Shapes, d: int, f: int) -> list[FeedForwardRoles]:
    """The first readings, as many as are tried: their number is a product of what a class holds."""
    return list(itertools.islice(feed_forward_readings(shapes, d, f), MAX_READINGS))


def _folded_readings(shapes: Shapes, d: int, f: int) -> Iterator[FeedForwardRoles]:
    """Readings in which a column (or row) of ones in the input carries the bias."""
    for transposed in (False, True):
        first, second = (f, d + 1), (d, f + 1)
        if transposed:
            first, second = first[::-1], second[::-1]
        firsts = [name for name, shape in shapes.items() if shape == first]
        seconds = [name for name, shape in shapes.items() if shape == second]
        for w1, w2 in itertools.product(firsts, seconds):
            yield FeedForwardRoles(w1, w2, None, None, transposed, folded=True)


def _biases(shapes: Shapes, size: int, weight: str) -> list[str | None]:
    """The vectors of a size that may belong to a weight: beside it, else the likeliest first."""
    fitting = [name for name, shape in shapes.items() if is_vector(shape, size)]
    module = module_of(weight)
    beside = [name for name in fitting if module_of(name) == module]
    if len(beside) == 1 and module:
        return [beside[0]]
    in_order = [
        name for name in reversed(fitting) if not is_gain(name) and not _owned(name, beside)
    ]
    numbers = digits_of(leaf(weight))
    in_order.sort(key=lambda name: not (numbers and digits_of(leaf(name)) == numbers))
    return [*in_order] or [None]


def _owned(name: str, beside: Sequence[str]) -> bool:
    """Tell whether a vector lies in a module of its own, as a norm's does."""
    return bool(module_of(name)) and name not in beside
