"""Attention with other choices, against loops over heads."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from grader.lesson.mathematics import (
    ATTENTION,
    Attention,
    attention,
)
from tests.formulas import BLOCK, B, D, H, Option, T, drawn, ids_of
from tests.test_lesson_norm import made


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
