"""The lesson's mathematics: its own choices against torch, the others against naive formulas."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import typing
from collections.abc import Callable, Iterable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from grader.examiner.checks import TOLERANCES, Draw
from grader.examiner.diagnosis import encoder, ffn, layernorm
from grader.examiner.diagnosis.finding import same
from grader.lesson.choices import (
    MISCONCEPTIONS,
    AttentionChoices,
    BlockChoices,
    Change,
    Choices,
    FeedForwardChoices,
    NormChoices,
    WiringChoices,
    changed,
    changes_of,
    pairs_of,
)
from grader.lesson.encoder import BlockComputation, encoder_block
from grader.lesson.mathematics import (
    ATTENTION,
    FEED_FORWARD,
    LAYER_NORM,
    Attention,
    Block,
    FeedForward,
    Norm,
    attention,
    block_parameter_count,
    feed_forward,
    ffn_parameter_count,
    gelu,
    gelu_tanh,
    layer_norm,
    normalise,
)

Function = Callable[[Tensor], Tensor]
Option = tuple[str, str]
# Large enough to be seen in every place that it can be added.
EPS = 0.3
B, T, D, H, HIDDEN = 3, 5, 12, 3, 20
PARTS = (NormChoices, FeedForwardChoices, AttentionChoices, WiringChoices)
LESSONS = (NormChoices(), FeedForwardChoices(), AttentionChoices(), BlockChoices())


def drawn(*shape: int, dtype: torch.dtype = torch.float64, std: float = 1.0) -> Tensor:
    """Values away from mean 0, the same for each shape."""
    return Draw(f"lesson {shape}").normal(*shape, mean=0.4, std=std, dtype=dtype)


def drawn_block(d: int, heads: int, hidden: int, dtype: torch.dtype = torch.float64) -> Block:
    draw = Draw("weights of the lesson")
    shapes = {"g1": (d,), "s1": (d,), "g2": (d,), "s2": (d,)}
    matrices = dict.fromkeys("qkvo", (d, d)) | {"w1": (hidden, d), "w2": (d, hidden)}
    values = draw.weights({**shapes, **matrices, "b1": (hidden,), "b2": (d,)})
    w = {name: value.to(dtype) for name, value in values.items()}
    projections = Attention(*(w[name] for name in "qkvo"))
    network = FeedForward(w["w1"], w["b1"], w["w2"], w["b2"])
    return Block(Norm(w["g1"], w["s1"]), projections, Norm(w["g2"], w["s2"]), network, heads)


BLOCK = drawn_block(D, H, HIDDEN)


def assert_agree(actual: Tensor, expected: Tensor) -> None:
    """As closely as the grader compares: rounding is magnified where variances are tiny."""
    allowed = TOLERANCES[expected.dtype]
    assert_close(actual, expected, rtol=allowed.relative, atol=allowed.absolute)


def ids_of(options: Iterable[Option]) -> list[str]:
    return [f"{choice}-{option}" for choice, option in options]


def options_of(kind: type) -> set[Option]:
    return {(choice, o) for choice, options in MISCONCEPTIONS[kind].items() for o in options}


# The lesson's own choices, against torch


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


# LayerNorm with other choices


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


# The feed-forward network with other choices


ACTIVATIONS: dict[str, Function] = {
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu-sigmoid": lambda x: x / (1 + torch.exp(-1.702 * x)),
    "relu": lambda x: x.clamp(min=0),
    "leaky-relu": lambda x: torch.maximum(x, x / 100),
    "elu": lambda x: torch.where(x > 0, x, x.clamp(max=0).exp() - 1),
    "silu": F.silu,
    "tanh": lambda x: (x.exp() - (-x).exp()) / (x.exp() + (-x).exp()),
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "cdf": torch.special.ndtr,
    "none": lambda x: x.clone(),
}


def network(
    x: Tensor, w: FeedForward, between: Function = F.gelu, biases: tuple[int, int] = (1, 1)
) -> Tensor:
    """W2 between(W1 x + b1) + b2, with torch's own layers."""
    hidden = F.linear(x, w.w1, w.b1 * biases[0])
    return F.linear(between(hidden), w.w2, w.b2 * biases[1])


def by_feature(x: Tensor, w: FeedForward) -> Tensor:
    """The network for each feature, on its values along the sequence."""
    return torch.stack([network(column, w) for column in x.unbind(-1)], dim=-1)


NETWORKS: dict[Option, Callable[[Tensor, FeedForward], Tensor]] = {
    ("place", "after"): lambda x, w: F.gelu(network(x, w, ACTIVATIONS["none"])),
    ("place", "before"): lambda x, w: network(F.gelu(x), w, ACTIVATIONS["none"]),
    ("place", "twice"): lambda x, w: F.gelu(network(x, w)),
    ("mixing", "sequence"): by_feature,
    ("first_bias", "unused"): lambda x, w: network(x, w, biases=(0, 1)),
    ("second_bias", "unused"): lambda x, w: network(x, w, biases=(1, 0)),
    ("residual", "added"): lambda x, w: x + network(x, w),
    **{("activation", name): partial(network, between=f) for name, f in ACTIVATIONS.items()},
}


@pytest.mark.parametrize("shape", [(D, D), (2, D, D), (2, 3, D, D)])
def test_the_feed_forward_network_is_two_linear_layers_with_gelu(shape: tuple[int, ...]) -> None:
    x = drawn(*shape)
    assert_close(feed_forward(x, BLOCK.ffn), network(x, BLOCK.ffn))


@pytest.mark.parametrize("option", NETWORKS, ids=ids_of(NETWORKS))
@pytest.mark.parametrize("shape", [(D, D), (2, D, D), (2, 3, D, D)])
def test_another_feed_forward_network(option: Option, shape: tuple[int, ...]) -> None:
    """Each option computes what its formula with torch's layers does."""
    x = drawn(*shape)
    actual = feed_forward(x, BLOCK.ffn, made(FEED_FORWARD, option))
    assert_close(actual, NETWORKS[option](x, BLOCK.ffn))


@pytest.mark.parametrize("place", ["after", "before", "twice"])
def test_another_activation_stands_in_another_place(place: str) -> None:
    """The activation that is chosen is the one that is moved."""
    x = drawn(2, 4, D)
    choices = dataclasses.replace(made(FEED_FORWARD, ("place", place)), activation="relu")
    expected = {
        "after": F.relu(network(x, BLOCK.ffn, ACTIVATIONS["none"])),
        "before": network(F.relu(x), BLOCK.ffn, ACTIVATIONS["none"]),
        "twice": F.relu(network(x, BLOCK.ffn, F.relu)),
    }
    assert_close(feed_forward(x, BLOCK.ffn, choices), expected[place])


def test_layers_along_a_sequence_of_another_length_raise() -> None:
    with pytest.raises(RuntimeError):
        feed_forward(drawn(2, 5, D), BLOCK.ffn, made(FEED_FORWARD, ("mixing", "sequence")))


# Attention with other choices


def per_head(projected: Tensor, heads: int) -> Tensor:
    """The features of each head, shape (B, h, T, dk)."""
    return torch.stack(projected.chunk(heads, dim=-1), dim=1)


def concatenated(mixed: Tensor) -> Tensor:
    return torch.cat(mixed.unbind(1), dim=-1)


def projected(x: Tensor, w: Attention, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    return (
        per_head(F.linear(x, w.q), heads),
        per_head(F.linear(x, w.k), heads),
        per_head(F.linear(x, w.v), heads),
    )


def attended(
    x: Tensor,
    w: Attention,
    heads: int,
    scale: float | None = None,
    causal: bool = False,
    order: str = "qkv",
) -> Tensor:
    """Attention with torch's own function.

    Args:
        x: input.
        w: projections.
        heads: number of heads.
        scale: what scores are multiplied by; torch's own without.
        causal: whether later tokens are masked.
        order: what stands in the places of queries, keys and values; `x` is the input.
    """
    parts = dict(zip("qkv", projected(x, w, heads), strict=True)) | {"x": per_head(x, heads)}
    q, k, v = (parts[name] for name in order)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)
    return F.linear(concatenated(mixed), w.o)


def shared(x: Tensor, w: Attention, heads: int, over: str) -> Tensor:
    """Attention with shares by loops, each a part of the sum over keys, queries or heads."""
    q, k, v = projected(x, w, heads)
    result = torch.zeros_like(q)
    for b, h, i, j in itertools.product(*map(range, q.shape[:3]), range(q.shape[2])):
        others = {
            "keys": [(h, i, other) for other in range(q.shape[2])],
            "queries": [(h, other, j) for other in range(q.shape[2])],
            "heads": [(other, i, j) for other in range(heads)],
        }
        scores = {
            (a, s, t): float(q[b, a, s] @ k[b, a, t]) / math.sqrt(q.shape[-1])
            for a, s, t in [(h, i, j), *others.get(over, [])]
        }
        share = scores[h, i, j]
        if over in others:
            whole = sum(math.exp(scores[place]) for place in others[over])
            share = math.exp(share) / whole
        result[b, h, i] += share * v[b, h, j]
    return F.linear(concatenated(result), w.o)


def split_by_reshape(x: Tensor, w: Attention, heads: int) -> Tensor:
    """Each head gets the next tokens with all their features, cut to its width."""
    sequences = []
    for sequence in x:
        pieces = [(sequence @ matrix.T).flatten().chunk(heads) for matrix in (w.q, w.k, w.v)]
        q, k, v = (torch.stack([p.view(len(sequence), -1) for p in piece]) for piece in pieces)
        sequences.append(concatenated(F.scaled_dot_product_attention(q, k, v)[None])[0] @ w.o.T)
    return torch.stack(sequences)


def merged_by_reshape(x: Tensor, w: Attention, heads: int) -> Tensor:
    """The heads' results one after another, cut into rows of d numbers."""
    mixed = F.scaled_dot_product_attention(*projected(x, w, heads))
    rows = [torch.stack(one.flatten().split(x.shape[-1])) for one in mixed]
    return F.linear(torch.stack(rows), w.o)


def across_batch(x: Tensor, w: Attention, heads: int) -> Tensor:
    """The first tokens of all sequences attend to each other, then the second ones, ..."""
    return torch.stack([attended(x[:, [t]].movedim(0, 1), w, heads)[0] for t in range(T)], dim=1)


ATTENTIONS: dict[Option, Callable[[Tensor, Attention, int], Tensor]] = {
    ("scale", "none"): lambda x, w, heads: attended(x, w, heads, scale=1.0),
    ("scale", "dk"): lambda x, w, heads: attended(x, w, heads, scale=heads / D),
    ("scale", "sqrt-d"): lambda x, w, heads: attended(x, w, heads, scale=D**-0.5),
    ("scale", "times"): lambda x, w, heads: attended(x, w, heads, scale=(D / heads) ** 0.5),
    ("softmax", "queries"): lambda x, w, heads: shared(x, w, heads, "queries"),
    ("softmax", "heads"): lambda x, w, heads: shared(x, w, heads, "heads"),
    ("softmax", "none"): lambda x, w, heads: shared(x, w, heads, "nothing"),
    ("split", "reshaped"): split_by_reshape,
    ("merge", "reshaped"): merged_by_reshape,
    ("heads", "one"): lambda x, w, heads: attended(x, w, 1),
    ("out", "unused"): lambda x, w, heads: attended(
        x, dataclasses.replace(w, o=torch.eye(D).double()), heads
    ),
    ("mask", "causal"): lambda x, w, heads: attended(x, w, heads, causal=True),
    ("scores", "kq"): lambda x, w, heads: attended(x, w, heads, order="kqv"),
    ("values", "k"): lambda x, w, heads: attended(x, w, heads, order="qkk"),
    ("values", "q"): lambda x, w, heads: attended(x, w, heads, order="qkq"),
    ("values", "x"): lambda x, w, heads: attended(x, w, heads, order="qkx"),
    ("batch", "second"): across_batch,
}


@pytest.mark.parametrize("option", ATTENTIONS, ids=ids_of(ATTENTIONS))
def test_another_attention(option: Option) -> None:
    """Each option computes what loops or torch's own attention does in its place."""
    x = drawn(B, T, D)
    actual = attention(x, BLOCK.attention, H, made(ATTENTION, option))
    assert_close(actual, ATTENTIONS[option](x, BLOCK.attention, H))


def test_attention_by_loops_is_the_lessons() -> None:
    x = drawn(B, T, D)
    expected = shared(x, BLOCK.attention, H, "keys")
    assert_close(attention(x, BLOCK.attention, H), expected)


# The wiring of the block


def first_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (D,), BLOCK.norm1.gain, BLOCK.norm1.shift)


def second_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (D,), BLOCK.norm2.gain, BLOCK.norm2.shift)


def attn(x: Tensor) -> Tensor:
    return attended(x, BLOCK.attention, H)


def net(x: Tensor) -> Tensor:
    return network(x, BLOCK.ffn)


def first_half(x: Tensor) -> Tensor:
    return x + attn(first_norm(x))


def second_half(x: Tensor) -> Tensor:
    return x + net(second_norm(x))


def twice_with(norm: Function) -> Function:
    def compute(x: Tensor) -> Tensor:
        middle = x + attn(norm(x))
        return middle + net(norm(middle))

    return compute


def swapped(x: Tensor) -> Tensor:
    middle = x + attn(second_norm(x))
    return middle + net(first_norm(middle))


def post(x: Tensor) -> Tensor:
    middle = first_norm(x + attn(x))
    return second_norm(middle + net(middle))


def branch(x: Tensor) -> Tensor:
    middle = x + first_norm(attn(x))
    return middle + second_norm(net(middle))


def second_normalised(x: Tensor) -> Tensor:
    normalised = second_norm(first_half(x))
    return normalised + net(normalised)


def second_doubled(x: Tensor) -> Tensor:
    return first_half(x) + second_half(first_half(x))


WIRINGS: dict[tuple[Option, ...], Function] = {
    (): lambda x: second_half(first_half(x)),
    (("norm", "post"),): post,
    (("norm", "branch"),): branch,
    (("norm", "none"),): twice_with(lambda x: x),
    (("norms", "only-first"),): lambda x: first_half(x) + net(first_half(x)),
    (("norms", "only-second"),): lambda x: second_half(x + attn(x)),
    (("norms", "swapped"),): swapped,
    (("norms", "first-twice"),): twice_with(first_norm),
    (("norms", "second-twice"),): twice_with(second_norm),
    (("first", "normalised"),): lambda x: second_half(first_norm(x) + attn(first_norm(x))),
    (("first", "none"),): lambda x: second_half(attn(first_norm(x))),
    (("first", "doubled"),): lambda x: second_half(2 * x + attn(first_norm(x))),
    (("second", "normalised"),): second_normalised,
    (("second", "none"),): lambda x: net(second_norm(first_half(x))),
    (("second", "doubled"),): second_doubled,
    (("second", "input"),): lambda x: x + net(second_norm(first_half(x))),
    (("order", "ffn-first"),): lambda x: first_half(second_half(x)),
    (("order", "parallel"),): lambda x: x + attn(first_norm(x)) + net(second_norm(x)),
    (("sublayers", "no-attention"),): second_half,
    (("sublayers", "no-ffn"),): first_half,
    (("last", "norm1"),): lambda x: first_norm(second_half(first_half(x))),
    (("last", "norm2"),): lambda x: second_norm(second_half(first_half(x))),
    (("first", "none"), ("second", "none")): lambda x: net(second_norm(attn(first_norm(x)))),
    (("norm", "post"), ("first", "none")): lambda x: second_norm(
        first_norm(attn(x)) + net(first_norm(attn(x)))
    ),
    (("norm", "post"), ("norms", "only-second")): lambda x: second_norm(
        x + attn(x) + net(x + attn(x))
    ),
    (("norm", "branch"), ("sublayers", "no-attention")): lambda x: x + second_norm(net(x)),
    (("norm", "none"), ("order", "parallel")): lambda x: x + attn(x) + net(x),
    (("norms", "swapped"), ("order", "ffn-first"), ("sublayers", "no-attention")): lambda x: (
        x + net(first_norm(x))
    ),
}


@pytest.mark.parametrize(
    "options", WIRINGS, ids=["+".join(ids_of(options)) or "the-lesson" for options in WIRINGS]
)
def test_another_wiring(options: tuple[Option, ...]) -> None:
    """Each option of the wiring computes its formula, alone and with others."""
    x = drawn(B, T, D)
    actual = encoder_block(x, BLOCK, made(BlockChoices(), *options))
    assert_close(actual, WIRINGS[options](x))


INNER = [change for change in changes_of(BlockChoices) if change.part != "wiring"]


def identified(change: Change) -> str:
    return "-".join(filter(None, (change.part, change.choice, change.option)))


@pytest.mark.parametrize("change", INNER, ids=identified)
def test_a_choice_inside_a_part_reaches_that_part_of_the_block(change: Change) -> None:
    """The block is the composition of its parts, whatever their choices."""
    choices = changed(BlockChoices(), (change,))
    x = drawn(D, D, D)

    def compose() -> Tensor:
        flow = layer_norm(x, BLOCK.norm1, choices=choices.norm)
        middle = x + attention(flow, BLOCK.attention, H, choices.attention)
        flow = layer_norm(middle, BLOCK.norm2, choices=choices.norm)
        return middle + feed_forward(flow, BLOCK.ffn, choices.ffn)

    assert_close(encoder_block(x, BLOCK, choices), compose())


# What is asked for tells every change from the lesson


def answer(compute: Callable[..., Tensor], *question: Tensor | float) -> Tensor | None:
    try:
        return compute(*question)
    except (IndexError, RuntimeError, ZeroDivisionError):  # as the search expects
        return None


def told_apart(
    lesson: Callable[..., Tensor],
    other: Callable[..., Tensor],
    questions: Iterable[tuple[Tensor | float, ...]],
) -> bool:
    """Whether some question has another answer, or none, by the diagnosis' own comparison."""
    for question in questions:
        wrong = answer(other, *question)
        if wrong is None or not same(wrong, lesson(*question)):
            return True
    return False


@pytest.mark.parametrize("change", changes_of(NormChoices), ids=identified)
def test_the_questions_about_layer_norm_show_each_change(change: Change) -> None:
    """At least one input of the diagnosis has another result than the lesson's, or none."""

    def compute(x: Tensor, eps: float, *changes: Change) -> Tensor:
        gain, shift = torch.linspace(0.5, 1.5, x.shape[-1]), torch.linspace(-1, 2, x.shape[-1])
        return layer_norm(x, Norm(gain, shift), eps, changed(NormChoices(), changes))

    assert told_apart(compute, lambda *asked: compute(*asked, change), layernorm.pool())


@pytest.mark.parametrize("change", changes_of(FeedForwardChoices), ids=identified)
def test_the_questions_about_the_network_show_each_change(change: Change) -> None:
    """At least one input of the diagnosis has another result than the lesson's, or none."""

    def compute(x: Tensor, *changes: Change) -> Tensor:
        weights = drawn_block(ffn.D, 1, ffn.F, torch.float32).ffn
        return feed_forward(x, weights, changed(FeedForwardChoices(), changes))

    assert told_apart(compute, lambda x: compute(x, change), [(x,) for x in ffn.pool()])


@pytest.mark.parametrize("change", encoder.CHANGES, ids=identified)
def test_the_questions_about_the_block_show_each_change(change: Change) -> None:
    """At least one input of the diagnosis has another result than the lesson's, or none."""

    def compute(x: Tensor, *changes: Change) -> Tensor:
        weights = drawn_block(encoder.D, encoder.H, encoder.F, torch.float32)
        return encoder_block(x, weights, changed(BlockChoices(), changes))

    assert told_apart(compute, lambda x: compute(x, change), [(x,) for x in encoder.pool()])


# The choices themselves


@pytest.mark.parametrize("kind", PARTS)
def test_every_option_other_than_the_lessons_has_a_name(kind: type) -> None:
    """What can be set and what has a name are the same."""
    hints = typing.get_type_hints(kind)
    defaults = dataclasses.asdict(kind())
    assert options_of(kind) == {
        (choice, option)
        for choice, hint in hints.items()
        for option in typing.get_args(hint)
        if option != defaults[choice]
    }


@pytest.mark.parametrize(
    ("kind", "tested"),
    [
        (NormChoices, {*ROWS, *AXES, *ELSEWHERE}),
        (FeedForwardChoices, {*NETWORKS}),
        (AttentionChoices, {*ATTENTIONS}),
        (WiringChoices, {options[0] for options in WIRINGS if len(options) == 1}),
    ],
)
def test_every_option_is_compared_with_a_formula(kind: type, tested: set[Option]) -> None:
    """A new option needs a formula in this file."""
    assert options_of(kind) == tested


def test_every_misconception_has_a_kebab_case_id() -> None:
    names = [c.misconception for kind in PARTS for c in changes_of(kind)]
    assert names
    assert [n for n in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", n)] == []


def test_the_changes_of_a_block_are_those_of_its_parts() -> None:
    """Each knows the part that it is in, and nothing else is different."""
    parts = {"wiring": 3, "norm": 0, "attention": 2, "ffn": 1}
    expected = {
        dataclasses.replace(change, part=part)
        for part, number in parts.items()
        for change in changes_of(PARTS[number])
    }
    changes = changes_of(BlockChoices)
    assert set(changes) == expected
    assert len(changes) == len(expected)


@pytest.mark.parametrize("kind", [*PARTS, BlockChoices])
def test_a_pair_changes_two_places(kind: type) -> None:
    """Every two changes are paired once, except two of one place."""
    changes = changes_of(kind)
    pairs = list(pairs_of(changes))
    places = [(c.part, c.choice) for c in changes]
    excluded = sum(math.comb(places.count(place), 2) for place in set(places))
    assert [pair for pair in pairs if pair[0].place == pair[1].place] == []
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)
    assert len(pairs) == math.comb(len(changes), 2) - excluded


def some_of(changes: list[Change]) -> list[tuple[Change, ...]]:
    """No change, every single one, and some pairs."""
    pairs = itertools.islice(pairs_of(changes), 0, None, 37)
    return [(), *((change,) for change in changes), *pairs]


def settings_of(choices: object) -> dict[tuple[str, ...], str]:
    """Every setting of choices, by part and choice."""
    assert dataclasses.is_dataclass(choices)
    found: dict[tuple[str, ...], str] = {}
    for field in dataclasses.fields(choices):
        value = getattr(choices, field.name)
        if isinstance(value, str):
            found["", field.name] = value
        else:
            inner = settings_of(value)
            found |= {(field.name, choice): option for (_, choice), option in inner.items()}
    return found


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: type(lesson).__name__)
def test_a_change_sets_its_own_choice_and_no_other(lesson: Choices) -> None:
    """Alone and in pairs; the choices that are changed stay as they were."""
    changes = changes_of(type(lesson))
    before = settings_of(lesson)
    for made in some_of(changes):
        expected = before | {change.place: change.option for change in made}
        assert settings_of(changed(lesson, made)) == expected
        assert settings_of(lesson) == before


# Each intermediate result only once


def test_a_computation_that_is_asked_often_answers_as_a_fresh_one() -> None:
    """Whatever was asked before, with whatever choices, no result is mixed up with another."""
    weights = drawn_block(4, 2, 6)
    often = BlockComputation(weights)
    inputs = [drawn(4, 4, 4), drawn(2, 3, 4)]
    for changes in some_of(changes_of(BlockChoices)):
        choices = changed(BlockChoices(), changes)
        for x in inputs:
            kept = answer(partial(often.output, choices=choices), x)
            fresh = answer(partial(encoder_block, weights=weights, choices=choices), x)
            assert (kept is None) == (fresh is None), changes
            if kept is not None and fresh is not None:
                assert_close(kept, fresh, equal_nan=True)


def test_an_input_that_is_gone_is_not_taken_for_a_new_one() -> None:
    """A new tensor may lie where an earlier one lay."""
    computation = BlockComputation(BLOCK)
    for number in range(50):
        actual = computation.output(torch.full((1, 2, D), 0.1).double().cumsum(2) * number)
        x = torch.full((1, 2, D), 0.1).double().cumsum(2) * number
        assert_close(actual, encoder_block(x, BLOCK))


def test_nothing_is_computed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of the wiring alone share what norms and sublayers have computed."""
    counted: list[tuple[int, AttentionChoices]] = []

    def counting(x: Tensor, w: Attention, heads: int, choices: AttentionChoices) -> Tensor:
        counted.append((id(x), choices))
        return attention(x, w, heads, choices)

    monkeypatch.setattr("grader.lesson.encoder.attention", counting)
    computation, x = BlockComputation(BLOCK), drawn(B, T, D)
    for options in WIRINGS:
        computation.output(x, made(BlockChoices(), *options))
    assert 0 < len(counted) < len(WIRINGS)
    assert len(set(counted)) == len(counted)
