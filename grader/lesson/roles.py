"""Which of a student's parameters plays which part.

A correct module may hold its weights under other names, packed in one matrix, per head, or
transposed.  The `*_readings` modules list the plausible readings of a module's parameters, best
first: the stub's names, then shapes and the order of definition.  A test tries them in turn;
random weights make an accidental match impossible, and every reading that matches is a correct
module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grader.lesson.mathematics import Attention, Block, FeedForward, Norm

Values = Mapping[str, Tensor]


@dataclass(frozen=True)
class FeedForwardRoles:
    """Names of the parameters that are w1, b1, w2 and b2; a bias may be absent.

    Attributes:
        transposed: the matrices are held as (in, out) and used as x @ w.
        folded: each matrix holds its bias as the last column (or row, if transposed).
    """

    w1: str
    w2: str
    b1: str | None
    b2: str | None
    transposed: bool
    folded: bool = False

    @property
    def names(self) -> frozenset[str]:
        """All names used."""
        return frozenset(name for name in (self.w1, self.w2, self.b1, self.b2) if name)

    def read(self, values: Values) -> FeedForward:
        """The weights in the lesson's shapes."""
        w1, w2 = values[self.w1].squeeze(), values[self.w2].squeeze()
        if self.transposed:
            w1, w2 = w1.T, w2.T
        if self.folded:
            return FeedForward(w1[:, :-1], w1[:, -1], w2[:, :-1], w2[:, -1])
        b1 = values[self.b1].reshape(-1) if self.b1 else w1.new_zeros(w1.shape[0])
        b2 = values[self.b2].reshape(-1) if self.b2 else w2.new_zeros(w2.shape[0])
        return FeedForward(w1, b1, w2, b2)


@dataclass(frozen=True)
class AttentionRoles:
    """Names of the attention's parameters and the way to read the four projections from them.

    Attributes:
        turned: matrices are held as (in, out) and used as x @ w.
    """

    names: frozenset[str]
    extract: Callable[[Values], Attention] = field(compare=False)
    turned: bool = False

    def read(self, values: Values) -> Attention:
        """The four projections, each (d, d)."""
        return self.extract(values)


@dataclass(frozen=True)
class NormRoles:
    """Names of a norm's gain and shift; either may be absent.

    Attributes:
        row: where one parameter holds the vectors of both norms as rows, the row of this one.
    """

    gain: str | None
    shift: str | None
    row: int | None = None

    @property
    def names(self) -> frozenset[str]:
        """All names used."""
        return frozenset(name for name in (self.gain, self.shift) if name)

    @property
    def vectors(self) -> frozenset[tuple[str, int | None]]:
        """All vectors used, by name and row."""
        return frozenset((name, self.row) for name in self.names)

    def read(self, values: Values, d: int) -> Norm:
        """Gain and shift, each (d,); an absent one does nothing."""
        gain = self._vector(values[self.gain]) if self.gain else torch.ones(d)
        shift = self._vector(values[self.shift]) if self.shift else torch.zeros(d)
        return Norm(gain, shift)

    def changed(self, values: Values) -> dict[str, Tensor]:
        """Parameters in which this norm's vectors, and no others, have other values."""
        result = {}
        for name in self.names:
            result[name] = values[name].clone()
            self._vector(result[name]).mul_(2).add_(0.5)
        return result

    def _vector(self, parameter: Tensor) -> Tensor:
        return parameter.view(-1) if self.row is None else parameter[self.row]


@dataclass(frozen=True)
class BlockRoles:
    """One reading of all parameters of a block."""

    norm1: NormRoles
    attention: AttentionRoles
    norm2: NormRoles
    ffn: FeedForwardRoles

    @property
    def names(self) -> frozenset[str]:
        """All names used."""
        parts = (self.norm1, self.attention, self.norm2, self.ffn)
        return frozenset().union(*(part.names for part in parts))

    def read(self, values: Values, d: int, heads: int) -> Block:
        """All weights in the lesson's shapes."""
        return Block(
            self.norm1.read(values, d),
            self.attention.read(values),
            self.norm2.read(values, d),
            self.ffn.read(values),
            heads,
        )
