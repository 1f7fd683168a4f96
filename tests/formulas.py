"""What the tests of the lesson share: drawn tensors and weights, comparisons, ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor
from torch.testing import assert_close

from grader.examiner.checks import TOLERANCES, Draw
from grader.lesson.choices import (
    MISCONCEPTIONS,
    AttentionChoices,
    BlockChoices,
    FeedForwardChoices,
    NormChoices,
    WiringChoices,
)
from grader.lesson.mathematics import (
    Attention,
    Block,
    FeedForward,
    Norm,
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
