"""The lesson's formulas as pure functions of tensors.

They are the reference that every hidden test compares with.  Letters as in the lesson: B
sequences, T tokens, d features of a token, h heads, dk = d / h, f = d_ff.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


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


def normalise(x: Tensor, eps: float = 1e-5) -> Tensor:
    """LayerNorm without gain and shift (slide 5).

    Args:
        x: shape (..., d).
        eps: added to the variance inside the root.
    """
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt()


def layer_norm(x: Tensor, norm: Norm, eps: float = 1e-5) -> Tensor:
    """LayerNorm with gain and shift (slide 5), shape (..., d) to (..., d)."""
    return normalise(x, eps) * norm.gain + norm.shift


def gelu(x: Tensor) -> Tensor:
    """The exact GELU, x Phi(x) (slide 26)."""
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def gelu_tanh(x: Tensor) -> Tensor:
    """The tanh approximation of GELU (Hendrycks and Gimpel, arXiv:1606.08415, section 2)."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def feed_forward(x: Tensor, weights: FeedForward, exact: bool = True) -> Tensor:
    """W2 GELU(W1 x + b1) + b2 (slide 24), shape (..., d) to (..., d)."""
    hidden = x @ weights.w1.T + weights.b1
    activated = gelu(hidden) if exact else gelu_tanh(hidden)
    return activated @ weights.w2.T + weights.b2


def attention(x: Tensor, weights: Attention, heads: int) -> Tensor:
    """Multi-head self-attention (slide 37), shape (B, T, d) to (B, T, d)."""
    batch, tokens, features = x.shape
    width = features // heads

    def split(matrix: Tensor) -> Tensor:
        return (x @ matrix.T).view(batch, tokens, heads, width).transpose(1, 2)

    queries, keys, values = split(weights.q), split(weights.k), split(weights.v)
    shares = (queries @ keys.transpose(-2, -1) / math.sqrt(width)).softmax(-1)
    return (shares @ values).transpose(1, 2).reshape(batch, tokens, features) @ weights.o.T


def encoder_block(x: Tensor, weights: Block) -> Tensor:
    """The pre-norm block (slide 34), shape (B, T, d) to (B, T, d)."""
    stream = x + attention(layer_norm(x, weights.norm1), weights.attention, weights.heads)
    return stream + feed_forward(layer_norm(stream, weights.norm2), weights.ffn)


def ffn_parameter_count(d: int, f: int) -> int:
    """Parameters of the feed-forward network (slide 52): 148 for d = 4, f = 16."""
    return d * f + f + f * d + d


def block_parameter_count(d: int, f: int) -> int:
    """Parameters of the block (slide 54): 840 for d = 8, f = 32."""
    return 4 * d * d + 2 * 2 * d + ffn_parameter_count(d, f)
