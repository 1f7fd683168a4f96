"""Public tests of milestone 3, the pre-norm EncoderBlock.  Do not change this file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

Student = Callable[[str, str], Any]
Build = Callable[..., Any]

FILE = "milestone3_encoder_block"
SIZES = [(8, 2, 32), (12, 3, 24)]


def formula(d: int, d_ff: int) -> int:
    """Number of parameters: attention, two norms, feed-forward network (slides 37 and 38)."""
    return 4 * d * d + 2 * (d + d) + (d * d_ff + d_ff) + (d_ff * d + d)


def count(module: nn.Module) -> int:
    """Number of parameters that PyTorch finds in the module."""
    return sum(parameter.numel() for parameter in module.parameters())


def run(block: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The output of the block for x, which must be a tensor of the same shape."""
    out = block(x.clone())
    is_tensor = isinstance(out, torch.Tensor)
    assert is_tensor, (
        f"EncoderBlock: expected a tensor from forward, but got {out!r}. "
        "Does forward end with return?"
    )
    same_shape = out.shape == x.shape
    assert same_shape, (
        f"EncoderBlock: for x of shape {tuple(x.shape)}, expected an output of the same shape, "
        f"but got {tuple(out.shape)}. Print x.shape after each sublayer (slide 49)."
    )
    result: torch.Tensor = out
    return result


def show(x: torch.Tensor) -> list[float]:
    """The numbers of x in one list, rounded to four decimals."""
    return [round(value, 4) for value in x.detach().flatten().tolist()]


def test_prediction(student: Student) -> None:
    """PREDICTED_PARAMETERS is the number of parameters of EncoderBlock(d=8, h=2, d_ff=32)."""
    predicted = student(FILE, "PREDICTED_PARAMETERS")
    right = predicted == formula(8, 32)
    assert right, (
        f"PREDICTED_PARAMETERS is {predicted!r}, and that is not right. Count for "
        "EncoderBlock(8, 2, 32): attention, first norm, second norm, feed-forward network "
        "(slides 37 and 38)."
    )


@pytest.mark.parametrize(("d", "h", "d_ff"), SIZES)
def test_parameter_count(build: Build, d: int, h: int, d_ff: int) -> None:
    """The block has as many parameters as its four parts have together."""
    yours = count(build(FILE, "EncoderBlock", d=d, h=h, d_ff=d_ff))
    right = yours == formula(d, d_ff)
    assert right, (
        f"EncoderBlock({d}, {h}, {d_ff}): expected {formula(d, d_ff)} parameters, but PyTorch "
        f"finds {yours} in yours. Expected in the attention: {4 * d * d}; in each of the two "
        f"norms: {2 * d}; in the feed-forward network: {d * d_ff + d_ff + d_ff * d + d}. "
        "Print the block to see its parts, and read slide 34 again."
    )


@pytest.mark.parametrize(("d", "h", "d_ff"), SIZES)
def test_output_shape(build: Build, d: int, h: int, d_ff: int) -> None:
    """The output has the shape of the input, (2, 5, d)."""
    torch.manual_seed(0)
    run(build(FILE, "EncoderBlock", d=d, h=h, d_ff=d_ff), torch.randn(2, 5, d))


def test_zero_weights_pass_x_on(build: Build) -> None:
    """With all parameters zero both sublayers add nothing, and x comes out as it went in."""
    torch.manual_seed(0)
    block = build(FILE, "EncoderBlock", d=8, h=2, d_ff=32).eval()
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.zero_()
    x = torch.randn(2, 5, 8)
    out = run(block, x)
    unchanged = torch.allclose(out, x, atol=1e-6)
    assert unchanged, (
        "All parameters of the block were set to 0, so both sublayers compute 0. Expected: x "
        f"comes out unchanged. The first token went in as {show(x[0, 0])} and came out as "
        f"{show(out[0, 0])}. Look for a missing residual connection or a norm in the wrong "
        "place: slides 16 and 18."
    )


def test_same_answer_twice(build: Build) -> None:
    """In eval mode the block gives the same output for the same input."""
    torch.manual_seed(0)
    block = build(FILE, "EncoderBlock", d=8, h=2, d_ff=32).eval()
    x = torch.randn(2, 5, 8)
    same = torch.equal(run(block, x), run(block, x))
    assert same, (
        "The same x gave two different outputs in eval mode. Expected: the same output twice. "
        "Does forward make new layers or random numbers? Make all layers in __init__ (slide 37)."
    )
