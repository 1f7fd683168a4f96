"""Which of a student's parameters plays which part.

A correct module may hold its weights under other names, packed in one matrix, per head, or
transposed.  Each function here lists the plausible readings of the parameters, best first:
the stub's names, then shapes and the order of definition.  A test tries them in turn; random
weights make an accidental match impossible, and every reading that matches is a correct module.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grader.lesson.mathematics import Attention, Block, FeedForward, Norm

Shapes = Mapping[str, tuple[int, ...]]
Values = Mapping[str, Tensor]
MAX_READINGS = 192

GAIN_WORDS = frozenset({"weight", "gamma", "gain", "scale", "g", "w", "a", "alpha"})
SHIFT_WORDS = frozenset({"bias", "beta", "shift", "offset", "b"})


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
    """Names of the attention's parameters and the way to read the four projections from them."""

    names: frozenset[str]
    extract: Callable[[Values], Attention] = field(compare=False)

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


def feed_forward_readings(shapes: Shapes, d: int, f: int) -> Iterator[FeedForwardRoles]:
    """Readings of the parameters of a feed-forward network.

    Args:
        shapes: shape of each parameter, in the order of definition.
        d: features of a token; different from `f`.
        f: features in between.
    """
    wide = [name for name, shape in shapes.items() if _squeezed(shape) == (f, d)]
    narrow = [name for name, shape in shapes.items() if _squeezed(shape) == (d, f)]
    for first, second in itertools.product(wide, narrow):
        for w1, w2, transposed in ((first, second, False), (second, first, True)):
            b1 = _biases(shapes, f, w1)[0]
            for b2 in _biases(shapes, d, w2):
                yield FeedForwardRoles(w1, w2, b1, b2, transposed)
    yield from _folded_readings(shapes, d, f)


def _folded_readings(shapes: Shapes, d: int, f: int) -> Iterator[FeedForwardRoles]:
    """Readings in which a column (or row) of ones in the input carries the bias."""
    for transposed in (False, True):
        first, second = (f, d + 1), (d, f + 1)
        if transposed:
            first, second = first[::-1], second[::-1]
        firsts = [name for name, shape in shapes.items() if shape == first]
        seconds = [name for name, shape in shapes.items() if shape == second]
        for w1, w2 in itertools.product(firsts, seconds):
            yield FeedForwardRoles(w1, w2, None, None, transposed, folded=True)


def _biases(shapes: Shapes, size: int, weight: str) -> list[str | None]:
    """The vectors of a size that may belong to a weight: beside it, else the likeliest first."""
    fitting = [name for name, shape in shapes.items() if _is_vector(shape, size)]
    module = _module(weight)
    beside = [name for name in fitting if _module(name) == module]
    if len(beside) == 1 and module:
        return [beside[0]]
    in_order = [
        name for name in reversed(fitting) if not _is_gain(name) and not _owned(name, beside)
    ]
    digits = _digits(_leaf(weight))
    in_order.sort(key=lambda name: not (digits and _digits(_leaf(name)) == digits))
    return [*in_order] or [None]


def _owned(name: str, beside: Sequence[str]) -> bool:
    """Tell whether a vector lies in a module of its own, as a norm's does."""
    return bool(_module(name)) and name not in beside


def _digits(name: str) -> list[str]:
    return re.findall(r"\d+", name)


@dataclass(frozen=True)
class BlockParts:
    """Readings of each part of a block's parameters, best first; a part may have none."""

    ffns: tuple[FeedForwardRoles, ...]
    attentions: tuple[AttentionRoles, ...]
    norms: tuple[tuple[NormRoles, NormRoles], ...]


@functools.lru_cache(maxsize=64)
def block_roles(
    shapes: tuple[tuple[str, tuple[int, ...]], ...], d: int, heads: int, f: int
) -> BlockParts:
    """Readings of the parameters of an encoder block.

    Args:
        shapes: name and shape of each parameter, in the order of definition.
        d: features of a token; different from `f`.
        heads: attention heads.
        f: features inside the feed-forward network.
    """
    named = dict(shapes)
    ffns = tuple(feed_forward_readings(named, d, f))
    known = ffns[0].names if ffns else frozenset()
    rest = {name: shape for name, shape in named.items() if name not in known}
    attentions = tuple(itertools.islice(attention_readings(rest, d, heads), MAX_READINGS))
    norms: dict[tuple[NormRoles, NormRoles], None] = {}
    for used in [ffn.names for ffn in ffns] or [frozenset[str]()]:
        left = {name: shape for name, shape in named.items() if name not in used}
        norms |= dict.fromkeys(norm_readings(left, d))
    return BlockParts(ffns, attentions, tuple(norms))


def attention_readings(shapes: Shapes, d: int, heads: int) -> Iterator[AttentionRoles]:
    """Readings of the parameters of multi-head self-attention without biases.

    Parameters below one child of the block are tried first, so that a stray matrix elsewhere
    does not hide them.
    """
    children = dict.fromkeys(name.partition(".")[0] for name in shapes if "." in name)
    for child in sorted(children, key=lambda name: name != "attn"):
        inside = {n: s for n, s in shapes.items() if n.startswith(child + ".")}
        yield from _attention_readings(inside, d, heads)
    yield from _attention_readings(shapes, d, heads)


def _attention_readings(shapes: Shapes, d: int, heads: int) -> Iterator[AttentionRoles]:
    square = [name for name, shape in shapes.items() if _squeezed(shape) == (d, d)]
    packed = [n for n, s in shapes.items() if _squeezed(s) in {(3 * d, d), (d, 3 * d)}]
    width = d // heads
    single = [n for n, s in shapes.items() if s in {(width, d), (d, width)} and heads > 1]
    spatial = [n for n, s in shapes.items() if sorted(s) == sorted((heads, d, width))]
    if len(square) == 4:
        yield from _square_readings(square)
    if len(packed) == 1 and len(square) == 1:
        yield from _packed_readings(packed[0], square[0], shapes, d, heads)
    if len(single) == 3 * heads and len(square) == 1:
        yield from _per_head_readings(single, square[0], heads, width)
    if len(single) == 4 * heads and not square:
        yield from _per_head_readings(single, None, heads, width)
    if len(spatial) in (3, 4) and len(spatial) + len(square) == 4:
        yield from _spatial_readings(spatial, square, shapes, d, heads)


def _square_readings(names: Sequence[str]) -> Iterator[AttentionRoles]:
    by_name = _by_letter(names)
    orders = [by_name] if by_name else list(itertools.permutations(names))
    for order in orders:
        for turned in (False, True):

            def extract(
                values: Values, order: Sequence[str] = order, turned: bool = turned
            ) -> Attention:
                matrices = [values[name].squeeze() for name in order]
                return Attention(*(matrix.T if turned else matrix for matrix in matrices))

            yield AttentionRoles(frozenset(names), extract)


def _by_letter(names: Sequence[str]) -> tuple[str, ...]:
    """Order names as q, k, v, o if their words tell; otherwise nothing."""
    letters: dict[str, str] = {}
    for name in names:
        for letter, words in _PROJECTION_WORDS.items():
            if _words(name) & words:
                letters.setdefault(letter, name)
                break
        else:
            letters.setdefault("o", name)
    if len(letters) == 4 and len(set(letters.values())) == 4:
        return tuple(letters[letter] for letter in "qkvo")
    return ()


_PROJECTION_WORDS = {
    "q": frozenset({"q", "wq", "query", "queries", "qproj", "toq"}),
    "k": frozenset({"k", "wk", "key", "keys", "kproj", "tok"}),
    "v": frozenset({"v", "wv", "value", "values", "vproj", "tov"}),
}


def _words(name: str) -> frozenset[str]:
    """Words of the last two parts of a dotted name, lower case, digits dropped."""
    parts = name.split(".")[-2:]
    words = [re.sub(r"\d", "", word.lower()) for part in parts for word in part.split("_")]
    return frozenset(words)


def _packed_readings(
    packed: str, out: str, shapes: Shapes, d: int, heads: int
) -> Iterator[AttentionRoles]:
    """One matrix for queries, keys and values: all queries first, or head after head."""
    standing = _squeezed(shapes[packed]) == (3 * d, d)
    for by_head, turned in itertools.product((False, True), repeat=2):

        def extract(values: Values, by_head: bool = by_head, turned: bool = turned) -> Attention:
            matrix = values[packed].squeeze()
            rows = matrix if standing else matrix.T
            if by_head:
                parts = rows.reshape(heads, 3, d // heads, d).transpose(0, 1)
            else:
                parts = rows.reshape(3, heads, d // heads, d)
            q, k, v = (part.reshape(d, d) for part in parts)
            o = values[out].squeeze()
            return Attention(q, k, v, o.T if turned else o)

        yield AttentionRoles(frozenset({packed, out}), extract)


def _per_head_readings(
    single: Sequence[str], out: str | None, heads: int, width: int
) -> Iterator[AttentionRoles]:
    """Small matrices for each head; the output projection is one matrix, or one a head."""
    kinds = len(single) // heads
    alternating = [single[kind::kinds] for kind in range(kinds)]
    blocks = [single[kind * heads : (kind + 1) * heads] for kind in range(kinds)]
    named = _heads_by_letter(single, heads, kinds)
    groupings: list[list[Sequence[str]]] = [named] if named else [alternating, blocks]
    for groups, turned in itertools.product(groupings, (False, True)):

        def extract(
            values: Values, groups: list[Sequence[str]] = groups, turned: bool = turned
        ) -> Attention:
            q, k, v = (
                torch.cat([_standing(values[name], width) for name in group])
                for group in groups[:3]
            )
            if out is None:
                rows = torch.cat([_standing(values[name], width) for name in groups[3]])
                return Attention(q, k, v, rows.T)
            o = values[out].squeeze()
            return Attention(q, k, v, o.T if turned else o)

        yield AttentionRoles(frozenset(single) | frozenset({out} if out else ()), extract)


def _heads_by_letter(names: Sequence[str], heads: int, kinds: int) -> list[Sequence[str]]:
    """Names of each kind of projection if their words tell; otherwise nothing."""
    for words_of in (_words, _any_part):
        groups: list[Sequence[str]] = [
            [name for name in names if words_of(name) & words]
            for words in _PROJECTION_WORDS.values()
        ]
        if kinds == 4:
            taken = {name for group in groups for name in group}
            groups.append([name for name in names if name not in taken])
        if all(len(group) == heads for group in groups):
            return groups
    return []


def _any_part(name: str) -> frozenset[str]:
    return frozenset().union(*(_words(part) for part in name.split(".")))


def _standing(matrix: Tensor, width: int) -> Tensor:
    return matrix if matrix.shape[0] == width else matrix.T


def _spatial_readings(
    spatial: Sequence[str], square: Sequence[str], shapes: Shapes, d: int, heads: int
) -> Iterator[AttentionRoles]:
    """Weights with an axis of their own for the heads, as einsum code holds them."""
    names = [name for name in shapes if name in {*spatial, *square}]
    order = _by_letter(names) or tuple(names)
    width = d // heads
    for turned in (False, True):

        def extract(values: Values, turned: bool = turned) -> Attention:
            q, k, v = (_unfold(values[name], heads, width, d) for name in order[:3])
            last = values[order[3]]
            if last.dim() == 3:
                o = _unfold(last, heads, width, d).T
            else:
                o = last.T if turned else last
            return Attention(q, k, v, o)

        yield AttentionRoles(frozenset(names), extract)


def _unfold(weight: Tensor, heads: int, width: int, d: int) -> Tensor:
    """Bring (heads, width, d) in any order of axes to (d, d), rows grouped by head."""
    axes = [list(weight.shape).index(size) for size in (heads, width, d)]
    return weight.permute(*axes).reshape(d, d)


def norm_readings(shapes: Shapes, d: int) -> Iterator[tuple[NormRoles, NormRoles]]:
    """Readings of what is left of a block's parameters as two norms."""
    stacked = [name for name, shape in shapes.items() if shape == (2, d)]
    if len(stacked) == 2:
        pair = _pair(stacked)
        yield NormRoles(pair.gain, pair.shift, 0), NormRoles(pair.gain, pair.shift, 1)
    vectors = [name for name, shape in shapes.items() if _is_vector(shape, d)]
    modules = list(dict.fromkeys(_module(name) for name in vectors))
    groups = [[name for name in vectors if _module(name) == module] for module in modules]
    norms = [_pair(group) for group in groups if 1 <= len(group) <= 2 and _module(group[0])]
    loose = [name for name in vectors if not any(name in norm.names for norm in norms)]
    norms += _loose_pairs(loose)
    nothing = NormRoles(None, None)
    if len(norms) >= 2:
        named = _by_number(norms)
        if named:
            yield named
        else:
            for first, second in itertools.permutations(norms[:4], 2):
                yield first, second
    elif norms:
        yield norms[0], norms[0]
        yield norms[0], nothing
        yield nothing, norms[0]
    else:
        yield nothing, nothing


def _pair(names: Sequence[str]) -> NormRoles:
    """Gain and shift of one module, by name, else in the order of definition."""
    if len(names) == 1:
        return NormRoles(None, names[0]) if _is_shift(names[0]) else NormRoles(names[0], None)
    first, second = names
    if _is_shift(first) and not _is_shift(second):
        first, second = second, first
    return NormRoles(first, second)


def _loose_pairs(names: Sequence[str]) -> list[NormRoles]:
    """Pairs among vectors that the block holds itself, such as g1, b1, g2, b2."""
    pairs = []
    left = list(names)
    for gain in [name for name in names if _is_gain(name)]:
        partner = next((n for n in left if _is_shift(n) and _digits(n) == _digits(gain)), None)
        if partner is not None and gain in left:
            pairs.append(NormRoles(gain, partner))
            left.remove(gain)
            left.remove(partner)
    pairs += [NormRoles(left[i], left[i + 1]) for i in range(0, len(left) - 1, 2)]
    return pairs


def _by_number(norms: Sequence[NormRoles]) -> tuple[NormRoles, NormRoles] | None:
    """The norms that the stub calls norm1 and norm2, if they carry these names."""
    found = {_module(next(iter(norm.names))): norm for norm in norms}
    if "norm1" in found and "norm2" in found:
        return found["norm1"], found["norm2"]
    return None


def _is_gain(name: str) -> bool:
    return bool(_leaf_words(name) & GAIN_WORDS)


def _is_shift(name: str) -> bool:
    return bool(_leaf_words(name) & SHIFT_WORDS)


def _leaf_words(name: str) -> frozenset[str]:
    return frozenset(re.sub(r"\d", "", word) for word in _leaf(name).lower().split("_"))


def _is_vector(shape: tuple[int, ...], size: int) -> bool:
    return _squeezed(shape) == (size,)


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)


def _module(name: str) -> str:
    return name.rpartition(".")[0]


def _leaf(name: str) -> str:
    return name.rpartition(".")[2]
