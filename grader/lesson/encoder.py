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
)
from grader.lesson.mathematics import Block, Norm, attention, feed_forward, layer_norm

BLOCK = BlockChoices()


@dataclass(frozen=True)
class Half:
    """One sublayer of the block with its norm and its residual.

    Attributes:
        residual: what is added to the sublayer's output, as in `WiringChoices.first`.
    """

    sublayer: Callable[[Tensor], Tensor]
    norm: Callable[[Tensor], Tensor]
    residual: str


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
        wiring = choices.wiring
        stream = x
        for half in self._halves(choices):
            source = x if wiring.order == "parallel" else stream
            stream = self._through(half, source, stream, x, wiring.norm)
        last = {"norm1": self._weights.norm1, "norm2": self._weights.norm2}.get(wiring.last)
        return self._norm(last, choices.norm)(stream) if last else stream

    def _halves(self, choices: BlockChoices) -> list[Half]:
        wiring = choices.wiring
        first, second = self._norms(choices)
        halves = []
        if wiring.sublayers != "no-attention":
            halves.append(Half(self._attention(choices.attention), first, wiring.first))
        if wiring.sublayers != "no-ffn":
            halves.append(Half(self._feed_forward(choices.ffn), second, wiring.second))
        return halves[::-1] if wiring.order == "ffn-first" else halves

    def _norms(
        self, choices: BlockChoices
    ) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
        first = self._norm(self._weights.norm1, choices.norm)
        second = self._norm(self._weights.norm2, choices.norm)
        if choices.wiring.norm == "none":
            return _nothing, _nothing
        return {
            "both": (first, second),
            "only-first": (first, _nothing),
            "only-second": (_nothing, second),
            "swapped": (second, first),
            "first-twice": (first, first),
            "second-twice": (second, second),
        }[choices.wiring.norms]

    def _through(self, half: Half, source: Tensor, stream: Tensor, x: Tensor, norm: str) -> Tensor:
        """The stream after one half of the block.

        Args:
            half: the sublayer.
            source: what it works on.
            stream: what its output is added to.
            x: the block's input.
            norm: where the norm stands.
        """
        received = source if norm in ("post", "branch") else half.norm(source)
        output = half.sublayer(received)
        if norm == "branch":
            output = half.norm(output)
        normalised = half.norm(stream) if half.residual == "normalised" else stream
        added: dict[str, Callable[[], Tensor]] = {
            "x": lambda: stream + output,
            "normalised": lambda: normalised + output,
            "none": lambda: output,
            "doubled": lambda: stream + stream + output,
            "input": lambda: x + output,
        }
        key = ("sum", half.residual, id(stream), id(normalised), id(output), id(x))
        total = self._once(key, added[half.residual])
        return half.norm(total) if norm == "post" else total

    def _norm(self, norm: Norm, choices: NormChoices) -> Callable[[Tensor], Tensor]:
        def compute(flow: Tensor) -> Tensor:
            key = ("norm", id(norm), choices, id(flow))
            return self._once(key, lambda: layer_norm(flow, norm, choices=choices))

        return compute

    def _attention(self, choices: AttentionChoices) -> Callable[[Tensor], Tensor]:
        weights = self._weights

        def compute(flow: Tensor) -> Tensor:
            return self._once(
                ("attention", choices, id(flow)),
                lambda: attention(flow, weights.attention, weights.heads, choices),
            )

        return compute

    def _feed_forward(self, choices: FeedForwardChoices) -> Callable[[Tensor], Tensor]:
        def compute(flow: Tensor) -> Tensor:
            key = ("ffn", choices, id(flow))
            return self._once(key, lambda: feed_forward(flow, self._weights.ffn, choices))

        return compute

    def _once(self, key: tuple[object, ...], compute: Callable[[], Tensor]) -> Tensor:
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]


def _nothing(flow: Tensor) -> Tensor:
    return flow


def encoder_block(x: Tensor, weights: Block, choices: BlockChoices = BLOCK) -> Tensor:
    """The pre-norm block (slide 34), shape (B, T, d) to (B, T, d)."""
    return BlockComputation(weights).output(x, choices)
