"""The lesson's own choices, against torch."""

from __future__ import annotations

import typing

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from grader.lesson.choices import (
    BlockChoices,
    WiringChoices,
)
from grader.lesson.encoder import encoder_block
from grader.lesson.mathematics import (
    Block,
    Norm,
    attention,
    block_parameter_count,
    ffn_parameter_count,
    gelu,
    gelu_tanh,
    layer_norm,
    normalise,
)
from tests.formulas import assert_agree, drawn, drawn_block
from tests.test_lesson_attention import attended


@pytest.mark.parametrize("shape", [(7,), (3, 6), (2, 5, 8), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("eps", [1e-5, 1e-3, 0.5])
def test_layer_norm_agrees_with_torch(
    shape: tuple[int, ...], dtype: torch.dtype, eps: float
) -> None:
    """With gain and shift and without, for large and for tiny variances."""
    gain, shift = drawn(shape[-1], dtype=dtype) + 1, drawn(shape[-1], dtype=dtype)
    for std in (2.0, 3e-3):
        x = drawn(*shape, dtype=dtype, std=std)
        plain = F.layer_norm(x, shape[-1:], eps=eps)
        whole = F.layer_norm(x, shape[-1:], gain, shift, eps)
        assert_agree(normalise(x, eps), plain)
        assert_agree(layer_norm(x, Norm(gain, shift), eps), whole)


def test_eps_is_1e_5_unless_given() -> None:
    x = drawn(4, 6, std=3e-3)
    norm = Norm(torch.ones(6).double(), torch.zeros(6).double())
    assert_close(normalise(x), F.layer_norm(x, (6,)))
    assert_close(layer_norm(x, norm), F.layer_norm(x, (6,)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_gelus_agree_with_torch(dtype: torch.dtype) -> None:
    """From far below zero to far above it."""
    x = torch.linspace(-6, 6, 401, dtype=dtype)
    assert_close(gelu(x), F.gelu(x))
    assert_close(gelu_tanh(x), F.gelu(x, approximate="tanh"))


@pytest.mark.parametrize(("d", "heads"), [(4, 1), (4, 2), (4, 4), (12, 3), (6, 2)])
@pytest.mark.parametrize(("batch", "tokens"), [(1, 1), (2, 5), (4, 3)])
def test_attention_agrees_with_torch(d: int, heads: int, batch: int, tokens: int) -> None:
    """For one head and several, one token and several."""
    weights = drawn_block(d, heads, 8).attention
    x = drawn(batch, tokens, d)
    assert_close(attention(x, weights, heads), attended(x, weights, heads))


def torch_layer(weights: Block, norm_first: bool) -> nn.TransformerEncoderLayer:
    """The block as torch has it, with the given weights and no biases in the attention."""
    network, projections = weights.ffn, weights.attention
    layer = nn.TransformerEncoderLayer(
        len(network.b2), weights.heads, len(network.b1), dropout=0.0, activation="gelu",
        batch_first=True, norm_first=norm_first, dtype=network.w1.dtype,
    )  # fmt: skip
    values = {
        "self_attn.in_proj_weight": torch.cat([projections.q, projections.k, projections.v]),
        "self_attn.in_proj_bias": torch.zeros(3 * len(network.b2)),
        "self_attn.out_proj.weight": projections.o,
        "self_attn.out_proj.bias": torch.zeros(len(network.b2)),
        "linear1.weight": network.w1,
        "linear1.bias": network.b1,
        "linear2.weight": network.w2,
        "linear2.bias": network.b2,
        "norm1.weight": weights.norm1.gain,
        "norm1.bias": weights.norm1.shift,
        "norm2.weight": weights.norm2.gain,
        "norm2.bias": weights.norm2.shift,
    }
    layer.load_state_dict(values)
    return layer


@pytest.mark.parametrize(("d", "heads", "hidden"), [(8, 2, 32), (12, 3, 20), (6, 1, 6)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_block_agrees_with_torch(
    d: int, heads: int, hidden: int, dtype: torch.dtype, norm: typing.Literal["pre", "post"]
) -> None:
    """Pre-norm, the lesson's, is torch's norm_first, and post-norm its default."""
    weights = drawn_block(d, heads, hidden, dtype)
    choices = BlockChoices(wiring=WiringChoices(norm=norm))
    x = drawn(2, 7, d, dtype=dtype)
    expected = torch_layer(weights, norm_first=norm == "pre")(x)
    assert_agree(encoder_block(x, weights, choices), expected)


@pytest.mark.parametrize(("d", "heads", "hidden"), [(4, 1, 16), (8, 2, 32), (12, 3, 20)])
def test_parameters_are_counted_as_torch_counts_them(d: int, heads: int, hidden: int) -> None:
    """Without the biases that torch has in its attention."""
    layer = torch_layer(drawn_block(d, heads, hidden), norm_first=True)
    counts = {name: values.numel() for name, values in layer.named_parameters()}
    network = [count for name, count in counts.items() if name.startswith("linear")]
    biases = [c for n, c in counts.items() if n.startswith("self_attn") and n.endswith("bias")]
    assert ffn_parameter_count(d, hidden) == sum(network)
    assert block_parameter_count(d, hidden) == sum(counts.values()) - sum(biases)
