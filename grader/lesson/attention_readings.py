"""Readings of the parameters of multi-head self-attention."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from grader.lesson.mathematics import Attention
from grader.lesson.parameter_names import Shapes, squeezed, words_of
from grader.lesson.roles import AttentionRoles, Values


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
    square = [name for name, shape in shapes.items() if squeezed(shape) == (d, d)]
    packed = [n for n, s in shapes.items() if squeezed(s) in {(3 * d, d), (d, 3 * d)}]
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

            yield AttentionRoles(frozenset(names), extract, turned)


def _by_letter(names: Sequence[str]) -> tuple[str, ...]:
    """Order names as q, k, v, o if their words tell; otherwise nothing."""
    letters: dict[str, str] = {}
    for name in names:
        for letter, words in _PROJECTION_WORDS.items():
            if words_of(name) & words:
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


def _packed_readings(
    packed: str, out: str, shapes: Shapes, d: int, heads: int
) -> Iterator[AttentionRoles]:
    """One matrix for queries, keys and values: all queries first, or head after head."""
    standing = squeezed(shapes[packed]) == (3 * d, d)
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

        yield AttentionRoles(frozenset({packed, out}), extract, turned)


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

        yield AttentionRoles(frozenset(single) | frozenset({out} if out else ()), extract, turned)


def _heads_by_letter(names: Sequence[str], heads: int, kinds: int) -> list[Sequence[str]]:
    """Names of each kind of projection if their words tell; otherwise nothing."""
    for vocabulary in (words_of, _any_part):
        groups: list[Sequence[str]] = [
            [name for name in names if vocabulary(name) & words]
            for words in _PROJECTION_WORDS.values()
        ]
        if kinds == 4:
            taken = {name for group in groups for name in group}
            groups.append([name for name in names if name not in taken])
        if all(len(group) == heads for group in groups):
            return groups
    return []


def _any_part(name: str) -> frozenset[str]:
    return frozenset().union(*(words_of(part) for part in name.split(".")))


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
            whole = _unfold(last, heads, width, d).T if last.dim() == 3 else last
            return Attention(q, k, v, whole.T if turned and last.dim() == 2 else whole)

        yield AttentionRoles(frozenset(names), extract, turned)


def _unfold(weight: Tensor, heads: int, width: int, d: int) -> Tensor:
    """Bring (heads, width, d) in any order of axes to (d, d), rows grouped by head."""
    axes = [list(weight.shape).index(size) for size in (heads, width, d)]
    return weight.permute(*axes).reshape(d, d)
