"""The whole encoder block, with the lesson's choices or others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from grader.lesson.choices import (
    AttentionChoices,
    BlockChoices,
    FeedForwardChoices,
    NormChoices,
    WiringChoices,
)
from grader.lesson.mathematics import Block, Norm, attention, feed_forward, layer_norm

BLOCK = BlockChoices()


Step = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Parts:
    """The sublayers of a block and its norms."""

    attend: Step
    feed: Step
    norm1: Step
    norm2: Step


@dataclass(frozen=True)
class Half:
    """One sublayer with its norm and its residual.

    Attributes:
        residual: what is added to the sublayer's output, as in `WiringChoices.first`.
    """

    sublayer: Step
    norm: Step
    residual: str


# What a residual sum is made of: the kind of residual, the stream, the sublayer's output, and
# the block's input.
Sum = Callable[[str, Tensor, Tensor, Tensor], Tensor]


def plain_sum(residual: str, stream: Tensor, output: Tensor, x: Tensor) -> Tensor:
    """The stream after a sublayer."""
    if residual == "none":
        return output
    if residual == "doubled":
        return stream + stream + output
    return (x if residual == "input" else stream) + output


def wired(x: Tensor, parts: Parts, wiring: WiringChoices, total: Sum = plain_sum) -> Tensor:
    """The parts of a block in the order that the wiring says.

    Args:
        x: shape (B, T, d).
        parts: sublayers and norms.
        wiring: how they are connected.
        total: makes the residual sums.
    """
    stream = x
    for half in _halves(parts, wiring):
        source = x if wiring.order == "parallel" else stream
        received = source if wiring.norm in ("post", "branch") else half.norm(source)
        output = half.sublayer(received)
        if wiring.norm == "branch":
            output = half.norm(output)
        beside = half.norm(stream) if half.residual == "normalised" else stream
        summed = total(half.residual, beside, output, x)
        stream = half.norm(summed) if wiring.norm == "post" else summed
    last = {"norm1": parts.norm1, "norm2": parts.norm2}.get(wiring.last)
    return last(stream) if last else stream


def _halves(parts: Parts, wiring: WiringChoices) -> list[Half]:
    norms = {
        "both": (parts.norm1, parts.norm2),
        "only-first": (parts.norm1, _nothing),
        "only-second": (_nothing, parts.norm2),
        "swapped": (parts.norm2, parts.norm1),
        "first-twice": (parts.norm1, parts.norm1),
        "second-twice": (parts.norm2, parts.norm2),
    }
    first, second = norms[wiring.norms] if wiring.norm != "none" else (_nothing, _nothing)
    halves = []
    if wiring.sublayers != "no-attention":
        halves.append(Half(parts.attend, first, wiring.first))
    if wiring.sublayers != "no-ffn":
        halves.append(Half(parts.feed, second, wiring.second))
    return halves[::-1] if wiring.order == "ffn-first" else halves


def _nothing(flow: Tensor) -> Tensor:
    return flow


class BlockComputation:
    """An encoder block computed with different choices, each intermediate result only once.

    Args:
        weights: of the block; none of them may change.
    """

    def __init__(self, weights: Block) -> None:
        self._weights = weights
        self._known: dict[tuple[object, ...], Tensor] = {}
        self._kept: list[Tensor] = []  # alive, so that no other tensor gets its identity

    def output(self, x: Tensor, choices: BlockChoices = BLOCK) -> Tensor:
        """What comes out, shape (B, T, d) to (B, T, d).

        Raises:
            IndexError: if the choices ask for an axis that x has not.
            RuntimeError: if what they make does not line up.
        """
        self._kept.append(x)
        parts = Parts(
            self._attention(choices.attention),
            self._feed_forward(choices.ffn),
            self._norm(self._weights.norm1, choices.norm),
            self._norm(self._weights.norm2, choices.norm),
        )
        return wired(x, parts, choices.wiring, self._sum)

    def _sum(self, residual: str, stream: Tensor, output: Tensor, x: Tensor) -> Tensor:
        key = ("sum", residual, id(stream), id(output), id(x))
        return self._once(key, lambda: plain_sum(residual, stream, output, x))

    def _norm(self, norm: Norm, choices: NormChoices) -> Step:
        def compute(flow: Tensor) -> Tensor:
            key = ("norm", id(norm), choices, id(flow))
            return self._once(key, lambda: layer_norm(flow, norm, choices=choices))

        return compute

    def _attention(self, choices: AttentionChoices) -> Step:
        weights = self._weights

        def compute(flow: Tensor) -> Tensor:
            return self._once(
                ("attention", choices, id(flow)),
                lambda: attention(flow, weights.attention, weights.heads, choices),
            )

        return compute

    def _feed_forward(self, choices: FeedForwardChoices) -> Step:
        def compute(flow: Tensor) -> Tensor:
            key = ("ffn", choices, id(flow))
            return self._once(key, lambda: feed_forward(flow, self._weights.ffn, choices))

        return compute

    def _once(self, key: tuple[object, ...], compute: Callable[[], Tensor]) -> Tensor:
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]


def encoder_block(x: Tensor, weights: Block, choices: BlockChoices = BLOCK) -> Tensor:
    """The pre-norm block (slide 34), shape (B, T, d) to (B, T, d)."""
    return BlockComputation(weights).output(x, choices)
