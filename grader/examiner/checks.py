"""Comparisons for hidden tests: shape first, then dtype, then finiteness, then values.

A comparison that skips one of these steps can be passed by an empty tensor, by a scalar that
broadcasts, by a loose dtype or by NaN.  Tolerances come from the dtype and stand here only.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from grader.examiner.answers import fail
from grader.examiner.wording import shape_word


@dataclass(frozen=True)
class Tolerance:
    """Largest difference allowed: `absolute + relative * |expected|`."""

    absolute: float
    relative: float


# The lesson compares float32 with atol 1e-4 (slide 10).  float64 has 2^29 times finer steps;
# 1e-9 leaves room for any order of summation.
TOLERANCES = {
    torch.float32: Tolerance(1e-4, 1e-4),
    torch.float64: Tolerance(1e-9, 1e-9),
}
# A test whose answer is lost in rounding is allowed this many rounding steps of its dtype,
# multiplied by how much the computation magnifies them.
ROUNDING_STEPS = 16
# Every submission meets the same random tensors, so a process keeps them.
KEPT_DRAWS = 4_096
# Students choose the shapes of weights, so few and small ones are kept: 5 MB at most.
KEPT_WEIGHTS = 64
MAX_KEPT_VALUES = 20_000
# How far the deviation and the mean of a token are from those asked for, at most, in deviations.
MAX_SPREAD = 0.1
MAX_SHIFT = 0.5


def tolerance(dtype: torch.dtype, magnification: float = 1.0) -> Tolerance:
    """The tolerance for a dtype.

    Args:
        dtype: float32 or float64.
        magnification: by how much the right computation magnifies a rounding error of its
            input, such as mean / standard deviation for LayerNorm.
    """
    base = TOLERANCES[dtype]
    rounding = ROUNDING_STEPS * torch.finfo(dtype).eps * (magnification - 1)
    return Tolerance(base.absolute + rounding, base.relative)


def expect_shape(actual: Tensor, expected: tuple[int, ...], subject: str) -> None:
    """The shape is as expected.

    Raises:
        StudentFaultError: naming both shapes.
    """
    if tuple(actual.shape) != tuple(expected):
        raise fail(
            f"{subject} has the wrong shape.",
            f"Shape expected: {tuple(expected)}. Shape found: {shape_word(actual.shape)}.",
        )


def expect_like(actual: Tensor, expected: Tensor, subject: str) -> None:
    """Shape, dtype and finiteness are as expected; values are not looked at.

    Raises:
        StudentFaultError: naming the first that is not.
    """
    expect_shape(actual, tuple(expected.shape), subject)
    if actual.dtype != expected.dtype:
        raise fail(
            f"{subject} has the wrong dtype.",
            f"dtype expected: {_word(expected.dtype)}. dtype found: {_word(actual.dtype)}.",
        )
    # A sum takes a third of the time, and is finite only if every value is.
    if not math.isfinite(actual.sum().item()) and not bool(torch.isfinite(actual).all()):
        kind = "NaN (not a number)" if bool(torch.isnan(actual).any()) else "infinity"
        raise fail(f"{subject} holds {kind}. Look for a division by zero.")


def expect_close(
    actual: Tensor, expected: Tensor, subject: str, otherwise: str, magnification: float = 1.0
) -> None:
    """All values are as expected within the dtype's tolerance.

    Args:
        actual: from the student.
        expected: from the reference, in the shape and dtype that the answer must have.
        subject: what is compared, as the start of a sentence.
        otherwise: what to say when values differ.
        magnification: see `tolerance`.

    Raises:
        StudentFaultError: naming the first thing that is wrong.
    """
    if not close(actual, expected, magnification):
        expect_like(actual, expected, subject)
        raise fail(otherwise)


def expect_repeated(first: Tensor, second: Tensor, subject: str) -> None:
    """Two answers to the same question are equal, to the last bit.

    Raises:
        StudentFaultError: if they differ.
    """
    if first.shape != second.shape or first.dtype != second.dtype or not torch.equal(first, second):
        raise fail(
            f"{subject} is another one each time, for the same input. Look for random numbers: "
            "dropout, for instance, must do nothing in eval mode."
        )


def close(actual: Tensor, expected: Tensor, magnification: float = 1.0) -> bool:
    """Tell whether shape, dtype and all values agree; never true for NaN."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    if actual.dtype not in TOLERANCES:
        return False
    allowed = tolerance(actual.dtype, magnification)
    # NumPy takes a third of torch's time for a few hundred values.
    found, right = actual.detach().numpy(), expected.detach().numpy()
    with np.errstate(invalid="ignore", over="ignore"):
        differences = np.abs(found - right)
        return bool((differences <= allowed.absolute + allowed.relative * np.abs(right)).all())


def alike(first: Tensor, second: Tensor) -> bool:
    """Whether two runs of one module agree; NaN is like NaN here."""
    if close(first, second):
        return True
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.dtype not in TOLERANCES:
        return torch.equal(first, second)
    allowed = TOLERANCES[first.dtype]
    return torch.allclose(first, second, allowed.relative, allowed.absolute, equal_nan=True)


def input_gradient(function: Callable[[Tensor], Tensor], x: Tensor, upstream: Tensor) -> Tensor:
    """Gradient of `(function(x) * upstream).sum()` with respect to x.

    Args:
        function: of the reference.
        x: any shape.
        upstream: in the shape of the function's result.
    """
    leaf = x.clone().requires_grad_(True)
    (gradient,) = torch.autograd.grad((function(leaf) * upstream).sum(), leaf)
    return gradient


class Draw:
    """Random tensors of one test: the same for every submission of a run, others in the next.

    Attributes:
        seed: of the run; secret, since who knows it knows every input.

    Args:
        test: id of the test.
        fixed: draw the same in every run.  Anybody may know these, so no point may hang on them.
    """

    seed: ClassVar[int] = 0

    def __init__(self, test: str, fixed: bool = False) -> None:
        self._fixed = fixed
        self.turn_to(test)

    def turn_to(self, test: str) -> None:
        """Start with the random numbers of a test."""
        self._test = test
        self._drawn = 0

    def normal(
        self,
        *shape: int,
        mean: float = 0.0,
        std: float = 1.0,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Normally distributed values.  They must not be changed: others get the same tensor."""
        return _normal(self._next_seed(), shape, mean, std, dtype)

    def tokens(
        self,
        *shape: int,
        mean: float = 0.0,
        std: float = 1.0,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Tokens of at least two features, each with about this mean and deviation.

        What is sensitive to a token's deviation, as eps is, comes out alike for every seed: no
        token is nearly constant by chance.  They must not be changed.
        """
        return _tokens(self._next_seed(), shape, mean, std, dtype)

    def weights(self, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
        """Weights for each parameter: matrices around 0, vectors away from both 0 and 1.

        Ones and zeros hide mistakes in gains and shifts.  They must not be changed.
        """
        known = tuple(shapes.values())
        # Students choose the shapes: what is large is drawn anew each time, not kept.
        small = sum(map(math.prod, known)) <= MAX_KEPT_VALUES
        values = (_weights if small else _weights.__wrapped__)(self._next_seed(), known)
        return dict(zip(shapes, values, strict=True))

    def _next_seed(self) -> int:
        """Of the next draw: a hash, so that what one draw shows does not give away another."""
        self._drawn += 1
        run = "fixed" if self._fixed else self.seed
        key = f"{run}\0{self._test}\0{self._drawn}".encode()
        return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") >> 1


@functools.lru_cache(KEPT_DRAWS)
def _normal(
    seed: int, shape: tuple[int, ...], mean: float, std: float, dtype: torch.dtype
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(*shape, generator=generator, dtype=torch.float64)
    return (values * std + mean).to(dtype)


@functools.lru_cache(KEPT_DRAWS)
def _tokens(
    seed: int, shape: tuple[int, ...], mean: float, std: float, dtype: torch.dtype
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(*shape, generator=generator, dtype=torch.float64)
    centred = values - values.mean(-1, keepdim=True)
    unit = centred / centred.square().mean(-1, keepdim=True).sqrt()
    away = torch.rand(2, *shape[:-1], 1, generator=generator, dtype=torch.float64) * 2 - 1
    deviation, middle = 1 + MAX_SPREAD * away[0], MAX_SHIFT * away[1]
    return ((unit * deviation + middle) * std + mean).to(dtype)


@functools.lru_cache(KEPT_WEIGHTS)
def _weights(seed: int, shapes: tuple[tuple[int, ...], ...]) -> tuple[Tensor, ...]:
    sizes = [math.prod(shape) for shape in shapes]
    flat = torch.randn(sum(sizes), generator=torch.Generator().manual_seed(seed))
    parts = zip(shapes, torch.split(flat, sizes), strict=True)
    return tuple(_as_weight(part.view(shape)) for shape, part in parts)


def _as_weight(values: Tensor) -> Tensor:
    long_axes = [size for size in values.shape if size != 1]
    return values * 0.6 if len(long_axes) > 1 else 0.5 + values.abs()


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
