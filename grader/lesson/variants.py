"""The assignment's solutions with changed choices, to prove that the suites notice each of them.

Names and order of the parameters are those of the stubs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from grader.lesson.choices import (
    AttentionChoices,
    BlockChoices,
    Change,
    Choices,
    FeedForwardChoices,
    NormChoices,
    changed,
)
from grader.lesson.encoder import Parts, wired
from grader.lesson.mathematics import (
    Attention,
    FeedForward,
    Norm,
    attention,
    feed_forward,
    layer_norm,
    normalise,
)

# Part, choice and option of each change.
Settings = Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Variant:
    """The source of a solution with some choices made otherwise.

    Attributes:
        names: the misconceptions in it; none for the lesson's own choices.
        source: a whole milestone file.
    """

    names: tuple[str, ...]
    source: str


def variants(head: str, factory: Callable[..., object], changes: Sequence[Change]) -> list[Variant]:
    """The solution as it is, and once for each single change.

    Args:
        head: constants of the file, then the name that is looked for and an equals sign.
        factory: the function of this module that makes what the name stands for.
        changes: the changes to make.
    """
    sets: list[tuple[Change, ...]] = [(), *((change,) for change in changes)]
    return [variant(head, factory, changes) for changes in sets]


def variant(head: str, factory: Callable[..., object], changes: tuple[Change, ...]) -> Variant:
    """The solution with some changes; for the arguments see `variants`."""
    settings = tuple((change.part, change.choice, change.option) for change in changes)
    maker = factory.__name__
    source = f"from {__name__} import {maker}\n\n{head} {maker}({settings!r})\n"
    return Variant(tuple(sorted({change.misconception for change in changes})), source)


def with_settings(choices: Choices, settings: Settings) -> Choices:
    """Choices with some of them made otherwise."""
    changes = tuple(Change(part, choice, option, "") for part, choice, option in settings)
    return changed(choices, changes)


def layer_norm_function(settings: Settings) -> Callable[..., Tensor]:
    """A LayerNorm function for milestone 1."""
    choices = with_settings(NormChoices(), settings)

    def layernorm_scratch(x: Tensor, eps: float = 1e-5) -> Tensor:
        return normalise(x, eps, choices)

    return layernorm_scratch


def feed_forward_class(settings: Settings) -> type[nn.Module]:
    """An FFN for milestone 2."""
    choices = with_settings(FeedForwardChoices(), settings)

    class FFN(nn.Module):
        def __init__(self, d_model: int, d_ff: int) -> None:
            super().__init__()
            self.w1 = nn.Linear(d_model, d_ff)
            self.w2 = nn.Linear(d_ff, d_model)

        def forward(self, x: Tensor) -> Tensor:
            weights = FeedForward(self.w1.weight, self.w1.bias, self.w2.weight, self.w2.bias)
            return feed_forward(x, weights, choices)

    return FFN


class ChangedNorm(nn.Module):
    """A LayerNorm with gain and shift."""

    def __init__(self, d: int, choices: NormChoices) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.bias = nn.Parameter(torch.zeros(d))
        self.choices = choices

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, T, d) to the same shape."""
        return layer_norm(x, Norm(self.weight, self.bias), choices=self.choices)


class ChangedAttention(nn.Module):
    """Multi-head self-attention with the stub's projections."""

    def __init__(self, d: int, heads: int, choices: AttentionChoices) -> None:
        super().__init__()
        self.Wq = nn.Linear(d, d, bias=False)
        self.Wk = nn.Linear(d, d, bias=False)
        self.Wv = nn.Linear(d, d, bias=False)
        self.Wo = nn.Linear(d, d, bias=False)
        self.heads = heads
        self.choices = choices

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, T, d) to the same shape."""
        weights = Attention(self.Wq.weight, self.Wk.weight, self.Wv.weight, self.Wo.weight)
        return attention(x, weights, self.heads, self.choices)


def encoder_block_class(settings: Settings) -> type[nn.Module]:
    """An EncoderBlock for milestone 3."""
    choices = with_settings(BlockChoices(), settings)
    inside = [("", choice, option) for part, choice, option in settings if part == "ffn"]

    class EncoderBlock(nn.Module):
        def __init__(self, d: int, h: int, d_ff: int) -> None:
            super().__init__()
            self.norm1 = ChangedNorm(d, choices.norm)
            self.attn = ChangedAttention(d, h, choices.attention)
            self.norm2 = ChangedNorm(d, choices.norm)
            self.ffn = feed_forward_class(inside)(d, d_ff)

        def forward(self, x: Tensor) -> Tensor:
            return wired(x, Parts(self.attn, self.ffn, self.norm1, self.norm2), choices.wiring)

    return EncoderBlock
