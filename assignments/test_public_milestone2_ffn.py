"""Public tests of milestone 2, the feed-forward sublayer.  Do not change this file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

Student = Callable[[str, str], Any]
Build = Callable[..., Any]

FILE = "milestone2_ffn"


def formula(d_model: int, d_ff: int) -> int:
    """Number of parameters of the two layers, weights and biases (slide 52)."""
    return d_model * d_ff + d_ff + d_ff * d_model + d_model


def count(module: nn.Module) -> int:
    """Number of parameters that PyTorch finds in the module."""
    return sum(parameter.numel() for parameter in module.parameters())


def run(ffn: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The output of the network for x, which must be a tensor of the same shape."""
    out = ffn(x)
    is_tensor = isinstance(out, torch.Tensor)
    assert is_tensor, (
        f"FFN: expected a tensor from forward, but got {out!r}. Does forward end with return?"
    )
    same_shape = out.shape == x.shape
    assert same_shape, (
        f"FFN: for x of shape {tuple(x.shape)}, expected an output of the same shape, but got "
        f"{tuple(out.shape)}. To how many features does each layer lead? Read slides 24 and 29 "
        "again."
    )
    result: torch.Tensor = out
    return result


def test_prediction(student: Student) -> None:
    """PREDICTED_PARAMETERS is the number of parameters of FFN(d_model=4, d_ff=16)."""
    predicted = student(FILE, "PREDICTED_PARAMETERS")
    right = predicted == formula(4, 16)
    assert right, (
        f"PREDICTED_PARAMETERS is {predicted!r}, and that is not right. Count for FFN(4, 16): "
        "the weights and the biases of the first layer, then those of the second (slide 52)."
    )


@pytest.mark.parametrize(("d_model", "d_ff"), [(4, 16), (6, 10)])
def test_parameter_count(build: Build, d_model: int, d_ff: int) -> None:
    """FFN has as many parameters as the formula of slide 52 says, for every size."""
    yours = count(build(FILE, "FFN", d_model=d_model, d_ff=d_ff))
    right = yours == formula(d_model, d_ff)
    assert right, (
        f"FFN({d_model}, {d_ff}): expected {formula(d_model, d_ff)} parameters, but PyTorch "
        f"finds {yours} in yours. Compare your two layers with the shapes of W1 and W2 on "
        "slide 24, and with the sum on slide 52."
    )


@pytest.mark.parametrize("shape", [(1, 4), (2, 5, 4)])
def test_output_shape(build: Build, shape: tuple[int, ...]) -> None:
    """The output has the shape of the input."""
    torch.manual_seed(0)
    run(build(FILE, "FFN", d_model=4, d_ff=16), torch.randn(*shape))


def test_tokens_do_not_mix(build: Build) -> None:
    """A change in one token leaves the output of all other tokens as it was."""
    torch.manual_seed(0)
    ffn = build(FILE, "FFN", d_model=4, d_ff=16).eval()
    x = torch.randn(1, 3, 4)
    changed = x.clone()
    changed[0, 0] += 1
    others_same = torch.allclose(run(ffn, x)[0, 1:], run(ffn, changed)[0, 1:], atol=1e-6)
    assert others_same, (
        "The first of three tokens was changed, and the output of the other two changed too. "
        "Expected: every token passes through the network on its own. Read slides 24 and 32 "
        "again."
    )
