"""Readings of a block's remaining parameters as two norms."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from grader.lesson.parameter_names import Shapes, digits_of, is_gain, is_shift, is_vector, module_of
from grader.lesson.roles import NormRoles


def norm_readings(shapes: Shapes, d: int) -> Iterator[tuple[NormRoles, NormRoles]]:
    """Readings of what is left of a block's parameters as two norms."""
    stacked = [name for name, shape in shapes.items() if shape == (2, d)]
    if len(stacked) == 2:
        pair = _pair(stacked)
        yield NormRoles(pair.gain, pair.shift, 0), NormRoles(pair.gain, pair.shift, 1)
    vectors = [name for name, shape in shapes.items() if is_vector(shape, d)]
    modules = list(dict.fromkeys(module_of(name) for name in vectors))
    groups = [[name for name in vectors if module_of(name) == module] for module in modules]
    norms = [_pair(group) for group in groups if 1 <= len(group) <= 2 and module_of(group[0])]
    loose = [name for name in vectors if not any(name in norm.names for norm in norms)]
    norms += _loose_pairs(loose)
    nothing = NormRoles(None, None)
    if len(norms) >= 2:
        named = _by_number(norms)
        if named:
            yield named
        else:
            yield from itertools.permutations(norms[:4], 2)
    elif norms:
        yield norms[0], norms[0]
        yield norms[0], nothing
        yield nothing, norms[0]
    else:
        yield nothing, nothing


def _pair(names: Sequence[str]) -> NormRoles:
    """Gain and shift of one module, by name, else in the order of definition."""
    if len(names) == 1:
        return NormRoles(None, names[0]) if is_shift(names[0]) else NormRoles(names[0], None)
    first, second = names
    if is_shift(first) and not is_shift(second):
        first, second = second, first
    return NormRoles(first, second)


def _loose_pairs(names: Sequence[str]) -> list[NormRoles]:
    """Pairs among vectors that the block holds itself, such as g1, b1, g2, b2."""
    pairs = []
    left = list(names)
    for gain in [name for name in names if is_gain(name)]:
        partner = next((n for n in left if is_shift(n) and digits_of(n) == digits_of(gain)), None)
        if partner is not None and gain in left:
            pairs.append(NormRoles(gain, partner))
            left.remove(gain)
            left.remove(partner)
    pairs += [NormRoles(left[i], left[i + 1]) for i in range(0, len(left) - 1, 2)]
    return pairs


def _by_number(norms: Sequence[NormRoles]) -> tuple[NormRoles, NormRoles] | None:
    """The norms that the stub calls norm1 and norm2, if they carry these names."""
    found = {module_of(next(iter(norm.names))): norm for norm in norms}
    if "norm1" in found and "norm2" in found:
        return found["norm1"], found["norm2"]
    return None
