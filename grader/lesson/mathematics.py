"""The lesson's formulas as pure functions of tensors.

They are the reference that every hidden test compares with: with the lesson's choices, which are
the defaults.  With others they compute what a misconception does.  Letters as in the lesson: B
sequences, T tokens, d features of a token, h heads, dk = d / h, f = d_ff.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as functional
from torch import Tensor

from grader.lesson.choices import (
    AttentionChoices,
    FeedForwardChoices,
    NormChoices,
)

LAYER_NORM = NormChoices()
FEED_FORWARD = FeedForwardChoices()
ATTENTION = AttentionChoices()
# Both forms of GELU, for what is not about the difference.
GELUS = (FEED_FORWARD, FeedForwardChoices(activation="gelu-tanh"))


@dataclass(frozen=True)
class Norm:
    """Gain and shift of a LayerNorm, both of shape (d,)."""

    gain: Tensor
    shift: Tensor


@dataclass(frozen=True)
class FeedForward:
    """Weights of the feed-forward network.

    Attributes:
        w1: shape (f, d).
        b1: shape (f,).
        w2: shape (d, f).
        b2: shape (d,).
    """

    w1: Tensor
    b1: Tensor
    w2: Tensor
    b2: Tensor


@dataclass(frozen=True)
class Attention:
    """Projections of multi-head self-attention, each of shape (d, d), as nn.Linear holds them."""

    q: Tensor
    k: Tensor
    v: Tensor
    o: Tensor


@dataclass(frozen=True)
class Block:
    """All weights of an encoder block, and its number of heads."""

    norm1: Norm
    attention: Attention
    norm2: Norm
    ffn: FeedForward
    heads: int


def normalise(x: Tensor, eps: float = 1e-5, choices: NormChoices = LAYER_NORM) -> Tensor:
    """LayerNorm without gain and shift (slide 5).

    Args:
        x: shape (..., d).
        eps: added to the variance inside the root.
        choices: how it is computed.

    Raises:
        IndexError: if x has not the axis that the choices ask for.
        RuntimeError: if what they make does not line up with x.
    """
    axes = _axes(x, choices.axis)
    mean = _mean(x, axes, choices.kept == "kept", choices.count)
    centred = {"mean": x - mean, "none": x, "reversed": mean - x}[choices.centre]
    return _divided(centred, x - mean, x, axes, eps, choices)


def _mean(x: Tensor, axes: tuple[int, ...], keep: bool, count: str) -> Tensor:
    return x.sum(axes, keepdim=keep) / 4 if count == "four" else x.mean(axes, keepdim=keep)


def _axes(x: Tensor, axis: str) -> tuple[int, ...]:
    """The axes that mean and variance are taken over."""
    if axis == "features":
        return (-1,)
    if axis == "tokens":
        return (range(x.dim())[-2] - x.dim(),)
    if axis in ("batch", "second", "third"):
        return (range(x.dim())[("batch", "second", "third").index(axis)] - x.dim(),)
    if axis == "sequence":
        return (range(x.dim())[-2] - x.dim(), -1)
    if axis in ("not-first", "not-last") and x.dim() > 1:
        return tuple(range(x.dim() - 1) if axis == "not-last" else range(1, x.dim()))
    return tuple(range(x.dim()))


def _divided(
    centred: Tensor,
    deviation: Tensor,
    x: Tensor,
    axes: tuple[int, ...],
    eps: float,
    choices: NormChoices,
) -> Tensor:
    """The centred x divided by what the choices say."""
    fixed = {"fixed-3": 1e-3, "fixed-5": 1e-5, "fixed-6": 1e-6, "fixed-8": 1e-8, "none": 0.0}
    amount = fixed.get(choices.eps, eps)
    outside = amount if choices.eps in ("outside", "both") else 0.0
    inside = 0.0 if choices.eps == "outside" else amount
    if choices.spread == "untouched":
        return x
    if choices.spread == "none":
        return centred
    keep = choices.kept == "kept"
    if choices.spread == "absolute":
        return centred / (deviation.abs().mean(axes, keepdim=keep) + amount)
    if choices.spread == "range":
        return centred / (x.amax(axes, keepdim=keep) - x.amin(axes, keepdim=keep) + amount)
    variance = _variance(x, axes, choices, keep)
    if choices.spread == "not-rooted":
        return centred / (variance + amount)
    root = (variance + inside).sqrt() + outside
    return centred * root if choices.spread == "inverse" else centred / root


def _variance(x: Tensor, axes: tuple[int, ...], choices: NormChoices, keep: bool) -> Tensor:
    mean = _mean(x, axes, True, choices.count)
    squares = (x if choices.spread == "around-zero" else x - mean).square()
    if choices.spread == "sum":
        return squares.sum(axes, keepdim=keep)
    if choices.spread == "unbiased":
        count = math.prod(x.shape[axis] for axis in axes)
        return squares.sum(axes, keepdim=keep) / (count - 1)
    return _mean(squares, axes, keep, choices.count)


def layer_norm(
    x: Tensor, norm: Norm, eps: float = 1e-5, choices: NormChoices = LAYER_NORM
) -> Tensor:
    """LayerNorm with gain and shift (slide 5), shape (..., d) to (..., d)."""
    result = normalise(x, eps, choices)
    if choices.gain == "used":
        result = result * norm.gain
    return result + norm.shift if choices.shift == "used" else result


def gelu(x: Tensor) -> Tensor:
    """The exact GELU, x Phi(x) (slide 26)."""
    return x * normal_cdf(x)


def normal_cdf(x: Tensor) -> Tensor:
    """Phi, the cumulative distribution of the standard normal (slide 26)."""
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def gelu_tanh(x: Tensor) -> Tensor:
    """The tanh approximation of GELU (Hendrycks and Gimpel, arXiv:1606.08415, section 2)."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": gelu,
    "gelu-tanh": gelu_tanh,
    # The other approximation of the same paper.
    "gelu-sigmoid": lambda x: x * torch.sigmoid(1.702 * x),
    "relu": torch.relu,
    "leaky-relu": functional.leaky_relu,
    "elu": functional.elu,
    "silu": lambda x: x * torch.sigmoid(x),
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "cdf": normal_cdf,
    "none": lambda x: x,
}


def feed_forward(
    x: Tensor, weights: FeedForward, choices: FeedForwardChoices = FEED_FORWARD
) -> Tensor:
    """W2 GELU(W1 x + b1) + b2 (slide 24), shape (..., d) to (..., d)."""
    activation = ACTIVATIONS[choices.activation]
    flow = x.transpose(-1, -2) if choices.mixing == "sequence" else x
    if choices.place == "before":
        flow = activation(flow)
    hidden = flow @ weights.w1.T
    if choices.first_bias == "used":
        hidden = hidden + weights.b1
    if choices.place in ("between", "twice"):
        hidden = activation(hidden)
    result = hidden @ weights.w2.T
    if choices.second_bias == "used":
        result = result + weights.b2
    if choices.place in ("after", "twice"):
        result = activation(result)
    if choices.mixing == "sequence":
        result = result.transpose(-1, -2)
    return result + x if choices.residual == "added" else result


def attention(
    x: Tensor, weights: Attention, heads: int, choices: AttentionChoices = ATTENTION
) -> Tensor:
    """Multi-head self-attention (slide 37), shape (B, T, d) to (B, T, d)."""
    if choices.batch == "second":
        right = dataclasses.replace(choices, batch="first")
        return attention(x.transpose(0, 1), weights, heads, right).transpose(0, 1)
    batch, tokens, features = x.shape
    heads = 1 if choices.heads == "one" else heads
    width = features // heads

    def split(projected: Tensor) -> Tensor:
        if choices.split == "reshaped":
            return projected.reshape(batch, heads, tokens, width)
        return projected.view(batch, tokens, heads, width).transpose(1, 2)

    queries, keys = split(x @ weights.q.T), split(x @ weights.k.T)
    if choices.scores == "kq":
        queries, keys = keys, queries
    sources = {"v": x @ weights.v.T, "k": x @ weights.k.T, "q": x @ weights.q.T, "x": x}
    shares = _shares(queries @ keys.transpose(-2, -1), width, features, choices)
    mixed = shares @ split(sources[choices.values].contiguous())
    merged = mixed if choices.merge == "reshaped" else mixed.transpose(1, 2)
    result = merged.reshape(batch, tokens, features)
    return result @ weights.o.T if choices.out == "used" else result


def _shares(scores: Tensor, width: int, features: int, choices: AttentionChoices) -> Tensor:
    """From the scores of shape (B, h, T, T) to what each token takes from each other."""
    root = math.sqrt(width)
    divisors = {
        "sqrt-dk": root,
        "none": 1.0,
        "dk": float(width),
        "sqrt-d": math.sqrt(features),
        "times": 1 / root,
    }
    scores = scores / divisors[choices.scale]
    if choices.mask == "causal":
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    if choices.softmax == "none":
        return scores
    return scores.softmax({"keys": -1, "queries": -2, "heads": 1}[choices.softmax])


def ffn_parameter_count(d: int, f: int) -> int:
    """Parameters of the feed-forward network (slide 52): 148 for d = 4, f = 16."""
    return d * f + f + f * d + d


def block_parameter_count(d: int, f: int) -> int:
    """Parameters of the block (slide 54): 840 for d = 8, f = 32."""
    return 4 * d * d + 2 * 2 * d + ffn_parameter_count(d, f)
