"""Public tests of milestone 1, LayerNorm from scratch.  Do not change this file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Student = Callable[[str, str], Any]

FILE = "milestone1_layernorm"
EXAMPLE = (1.0, 3.0, 5.0, 7.0)


def expected(x: torch.Tensor) -> torch.Tensor:
    """What nn.LayerNorm computes for x, without gain and shift."""
    result: torch.Tensor = nn.LayerNorm(x.shape[-1], elementwise_affine=False, eps=1e-5)(x)
    return result


def run(student: Student, x: torch.Tensor) -> torch.Tensor:
    """The result of layernorm_scratch for x, which must be a tensor of the same shape."""
    out = student(FILE, "layernorm_scratch")(x.clone())
    is_tensor = isinstance(out, torch.Tensor)
    assert is_tensor, (
        f"layernorm_scratch: expected a tensor, but got {out!r}. "
        "Does your function end with return?"
    )
    same_shape = out.shape == x.shape
    assert same_shape, (
        f"layernorm_scratch: for x of shape {tuple(x.shape)}, expected a result of the same "
        f"shape, but got {tuple(out.shape)}. Print the shape after each of your lines, and "
        "read slide 10 again."
    )
    result: torch.Tensor = out
    return result


def show(x: torch.Tensor) -> list[float]:
    """The numbers of x in one list, rounded to four decimals."""
    return [round(value, 4) for value in x.detach().flatten().tolist()]


def test_prediction(student: Student) -> None:
    """PREDICTED_XHAT holds the four numbers that LayerNorm gives for [1, 3, 5, 7]."""
    predicted = student(FILE, "PREDICTED_XHAT")
    is_list = isinstance(predicted, (list, tuple)) and len(predicted) == 4
    four_numbers = is_list and all(isinstance(number, (int, float)) for number in predicted)
    assert four_numbers, (
        f"PREDICTED_XHAT: expected a list of four numbers, but got {predicted!r}. "
        "Replace None by your own list (slide 51)."
    )
    pairs = zip(predicted, show(expected(torch.tensor([EXAMPLE]))), strict=True)
    wrong = [
        place for place, (yours, right) in enumerate(pairs, 1) if not abs(yours - right) < 2e-4
    ]
    assert not wrong, (
        f"PREDICTED_XHAT: not right yet at these places: {wrong} (1 is the first). "
        "Compute the mean and the variance of 1, 3, 5, 7 on paper, then put them "
        "into the formula of slide 5. Round to four decimals."
    )


def test_example_of_the_lesson(student: Student) -> None:
    """For x = [1, 3, 5, 7] the function gives the same numbers as nn.LayerNorm."""
    x = torch.tensor([EXAMPLE])
    yours = run(student, x)
    same_values = torch.allclose(yours, expected(x), atol=1e-4)
    assert same_values, (
        f"For x = [1, 3, 5, 7], expected {show(expected(x))}, but got {show(yours)}. "
        "Read the formula on slide 5 again, one piece at a time."
    )


def test_every_token_of_a_batch(student: Student) -> None:
    """In a batch of shape (2, 3, 4) every token is normalised over its own features."""
    torch.manual_seed(0)
    x = 2 * torch.randn(2, 3, 4) + 1
    yours = run(student, x)
    same_values = torch.allclose(yours, expected(x), atol=1e-4)
    assert same_values, (
        f"First token of a batch of shape (2, 3, 4): expected {show(expected(x)[0, 0])}, "
        f"but got {show(yours[0, 0])}. Over which dimension do you take the mean and the "
        "variance? Read slides 7 and 13 again."
    )


def test_equal_features(student: Student) -> None:
    """Four equal features give four zeros, because eps keeps the root away from zero."""
    yours = run(student, torch.full((1, 4), 3.0))
    all_zero = torch.allclose(yours, torch.zeros(1, 4))
    assert all_zero, (
        f"For x = [3, 3, 3, 3], expected four zeros, but got {show(yours)}. "
        "The variance is 0 here. What is the epsilon on slide 5 for?"
    )
