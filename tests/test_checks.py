"""Comparisons: shape, dtype, finiteness and values, each of which can fail alone."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.checks import TOLERANCES, close, expect_like

NAN, INF = math.nan, math.inf
X = torch.tensor([[1.0, -2.0, 3.0]])


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_values_within_the_tolerance_are_close(dtype: torch.dtype) -> None:
    """The tolerance is that of the dtype, relative to the expected value and absolute."""
    expected = torch.tensor([0.0, 1000.0], dtype=dtype)
    allowed = TOLERANCES[dtype]
    steps = torch.tensor([allowed.absolute, 1000 * allowed.relative], dtype=dtype)
    assert close(expected + 0.9 * steps, expected)
    assert not close(expected + torch.tensor([1.1, 0.0], dtype=dtype) * steps, expected)
    assert not close(expected - torch.tensor([0.0, 1.3], dtype=dtype) * steps, expected)


def test_a_magnified_rounding_error_is_allowed() -> None:
    """By as much as the computation magnifies it, and no more."""
    assert not close(X + 5e-4, X)
    assert close(X + 5e-4, X, magnification=1000.0)
    assert not close(X + 5e-2, X, magnification=1000.0)


@pytest.mark.parametrize(
    "actual",
    [
        torch.tensor([1.0, -2.0, 3.0]),
        torch.tensor([[1.0, -2.0, 3.0]], dtype=torch.float64),
        torch.tensor([[1, -2, 3]]),
        torch.tensor([[1.0, NAN, 3.0]]),
        torch.tensor([[1.0, -2.0, INF]]),
        torch.empty(0, 3),
    ],
    ids=["shape", "finer dtype", "whole numbers", "NaN", "infinity", "nothing"],
)
def test_what_differs_in_any_way_is_not_close(actual: Tensor) -> None:
    """Nothing broadcasts, nothing is converted."""
    assert not close(actual, X)


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_equal_values_that_are_no_numbers_are_not_close(value: float) -> None:
    """Nor is a warning written to the log."""
    both = torch.tensor([value])
    assert not close(both, both.clone())


def test_what_requires_a_gradient_can_be_compared() -> None:
    """As parameters do."""
    assert close(X.clone().requires_grad_(True), X.clone().requires_grad_(True))


@pytest.mark.parametrize(
    ("values", "kind"),
    [([INF, 1.0], "infinity"), ([INF, -INF], "infinity"), ([NAN, INF], "NaN"), ([NAN, 0.0], "NaN")],
)
def test_what_is_not_finite_is_named(values: list[float], kind: str) -> None:
    """Also where infinities would cancel out."""
    with pytest.raises(StudentFaultError, match=kind):
        expect_like(torch.tensor(values), torch.zeros(2), "The result")


def test_large_values_are_finite() -> None:
    """Though their sum is not."""
    expect_like(torch.full((2,), 3e38), torch.zeros(2), "The result")
