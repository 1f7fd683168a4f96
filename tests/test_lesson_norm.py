"""LayerNorm with other choices, against formulas written in another way."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from grader.lesson.choices import (
    Choices,
    changed,
    changes_of,
)
from grader.lesson.mathematics import (
    LAYER_NORM,
    Norm,
    layer_norm,
    normalise,
)
from tests.formulas import EPS, Function, Option, drawn, ids_of


def spread(row: Tensor) -> float:
    """The variance of one token."""
    return float(row.var(correction=0))


def centred(row: Tensor) -> Tensor:
    mean = sum(row.tolist()) / len(row)
    return torch.tensor([value - mean for value in row.tolist()], dtype=torch.float64)


def by_four(row: Tensor, eps: float) -> Tensor:
    mean = sum(row.tolist()) / 4
    deviations = [value - mean for value in row.tolist()]
    root = math.sqrt(sum(value**2 for value in deviations) / 4 + eps)
    return torch.tensor([value / root for value in deviations], dtype=torch.float64)


def moved(x: Tensor, axis: int, eps: float) -> Tensor:
    """LayerNorm over one axis, brought to the end and back."""
    last = x.movedim(axis, -1)
    return F.layer_norm(last, last.shape[-1:], eps=eps).movedim(-1, axis)


def torchs(row: Tensor, eps: float) -> Tensor:
    return F.layer_norm(row, row.shape, eps=eps)


# What becomes of the features of one token.
ROWS: dict[Option, Callable[[Tensor, float], Tensor]] = {
    ("count", "four"): by_four,
    ("centre", "none"): lambda row, eps: row / math.sqrt(spread(row) + eps),
    ("centre", "reversed"): lambda row, eps: -torchs(row, eps),
    ("spread", "unbiased"): lambda row, eps: centred(row) / (row.var(unbiased=True) + eps).sqrt(),
    ("spread", "sum"): lambda row, eps: centred(row) / math.sqrt(len(row) * spread(row) + eps),
    ("spread", "around-zero"): lambda row, eps: (
        centred(row) / math.sqrt(row.dot(row) / len(row) + eps)
    ),
    ("spread", "absolute"): lambda row, eps: (
        centred(row) / (F.l1_loss(row, row.mean().expand_as(row)) + eps)
    ),
    ("spread", "none"): lambda row, eps: centred(row),
    ("spread", "untouched"): lambda row, eps: row,
    ("spread", "range"): lambda row, eps: centred(row) / (max(row) - min(row) + eps),
    ("spread", "not-rooted"): lambda row, eps: centred(row) / (spread(row) + eps),
    ("spread", "inverse"): lambda row, eps: centred(row) * math.sqrt(spread(row) + eps),
    ("eps", "outside"): lambda row, eps: centred(row) / (row.std(correction=0) + eps),
    ("eps", "both"): lambda row, eps: centred(row) / (math.sqrt(spread(row) + eps) + eps),
    ("eps", "none"): lambda row, eps: centred(row) / row.std(correction=0),
    ("eps", "fixed-3"): lambda row, eps: torchs(row, 0.001),
    ("eps", "fixed-5"): lambda row, eps: torchs(row, 0.00001),
    ("eps", "fixed-6"): lambda row, eps: torchs(row, 0.000001),
    ("eps", "fixed-8"): lambda row, eps: torchs(row, 0.00000001),
}
AXES: dict[Option, Callable[[Tensor, float], Tensor]] = {
    ("axis", "tokens"): lambda x, eps: moved(x, -2, eps),
    ("axis", "batch"): lambda x, eps: moved(x, 0, eps),
    ("axis", "second"): lambda x, eps: moved(x, 1, eps),
    ("axis", "third"): lambda x, eps: moved(x, 2, eps),
    ("axis", "sequence"): lambda x, eps: F.layer_norm(x, x.shape[-2:], eps=eps),
    ("axis", "not-first"): lambda x, eps: F.layer_norm(x, x.shape[1:], eps=eps),
    ("axis", "all"): torchs,
    ("axis", "not-last"): lambda x, eps: F.batch_norm(
        x.flatten(0, -2), None, None, training=True, eps=eps
    ).view_as(x),
}
# These have tests of their own.
ELSEWHERE = {("kept", "dropped"), ("gain", "unused"), ("shift", "unused")}


def made(lesson: Choices, *options: Option) -> Choices:
    """The lesson's choices with some options."""
    found = [c for c in changes_of(type(lesson)) if (c.choice, c.option) in options]
    assert len(found) == len(options)
    return changed(lesson, tuple(found))


@pytest.mark.parametrize("option", ROWS, ids=ids_of(ROWS))
@pytest.mark.parametrize("shape", [(9,), (5, 5), (3, 4, 6), (2, 3, 4, 5)])
@pytest.mark.parametrize("std", [1.5, 3e-3])
def test_another_norm_of_each_token(option: Option, shape: tuple[int, ...], std: float) -> None:
    """Each option that works on a token's features does so as written out for one token."""
    x = drawn(*shape, std=std)
    rows = [ROWS[option](row, EPS) for row in x.reshape(-1, shape[-1])]
    expected = torch.stack(rows).reshape(shape)
    assert_close(normalise(x, EPS, made(LAYER_NORM, option)), expected)


@pytest.mark.parametrize("option", AXES, ids=ids_of(AXES))
@pytest.mark.parametrize("shape", [(4, 4, 4), (3, 4, 6), (2, 3, 4, 5)])
def test_a_norm_over_other_axes(option: Option, shape: tuple[int, ...]) -> None:
    """Each option for the axis takes mean and variance over that axis."""
    x = drawn(*shape)
    actual = normalise(x, EPS, made(LAYER_NORM, option))
    assert_close(actual, AXES[option](x, EPS))


@pytest.mark.parametrize("option", ["all", "not-first", "not-last", "batch"])
def test_a_single_axis_is_every_axis(option: str) -> None:
    x = drawn(9)
    assert_close(normalise(x, EPS, made(LAYER_NORM, ("axis", option))), normalise(x, EPS))


@pytest.mark.parametrize(
    ("shape", "option"),
    [((6,), "tokens"), ((6,), "sequence"), ((6,), "second"), ((4, 6), "third")],
)
def test_an_axis_that_is_not_there_raises(shape: tuple[int, ...], option: str) -> None:
    with pytest.raises(IndexError):
        normalise(drawn(*shape), EPS, made(LAYER_NORM, ("axis", option)))


def test_a_dropped_axis_lines_the_means_up_with_the_wrong_axis() -> None:
    """In a square x, column j loses the mean of row j; other shapes do not line up."""
    x = drawn(5, 5)
    means, variances = x.mean(1).tolist(), x.var(1, correction=0).tolist()
    expected = [
        [(x[i, j].item() - means[j]) / math.sqrt(variances[j] + EPS) for j in range(5)]
        for i in range(5)
    ]
    choices = made(LAYER_NORM, ("kept", "dropped"))
    assert_close(normalise(x, EPS, choices), torch.tensor(expected, dtype=torch.float64))
    with pytest.raises(RuntimeError):
        normalise(drawn(4, 8), EPS, choices)


def test_gain_and_shift_may_stay_unused() -> None:
    x, gain, shift = drawn(3, 4, 6), drawn(6) + 1, drawn(6)
    norm = Norm(gain, shift)
    without_gain = layer_norm(x, norm, EPS, made(LAYER_NORM, ("gain", "unused")))
    without_shift = layer_norm(x, norm, EPS, made(LAYER_NORM, ("shift", "unused")))
    assert_close(without_gain, F.layer_norm(x, (6,), None, shift, EPS))
    assert_close(without_shift, F.layer_norm(x, (6,), gain, None, EPS))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([("centre", "none"), ("spread", "around-zero")], lambda x: F.rms_norm(x, (6,), None, EPS)),
        ([("spread", "sum"), ("eps", "none")],
         lambda x: F.normalize(x - x.mean(2, keepdim=True), dim=2)),
        ([("axis", "tokens"), ("spread", "unbiased"), ("eps", "outside")],
         lambda x: (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + EPS)),
        ([("axis", "all"), ("spread", "range"), ("eps", "none")],
         lambda x: (x - x.mean()) / (x.max() - x.min())),
        ([("axis", "all"), ("kept", "dropped")], lambda x: torchs(x, EPS)),
    ],
    ids=["rms-norm", "unit-length", "z-score-of-tokens", "range-of-all", "no-axis-to-keep"],
)  # fmt: skip
def test_several_choices_of_a_norm_together(options: list[Option], expected: Function) -> None:
    x = drawn(3, 4, 6)
    assert_close(normalise(x, EPS, made(LAYER_NORM, *options)), expected(x))
