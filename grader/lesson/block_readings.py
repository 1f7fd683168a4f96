"""Readings of all parameters of an encoder block."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

from grader.lesson.attention_readings import attention_readings
from grader.lesson.ffn_readings import likeliest_readings
from grader.lesson.norm_readings import norm_readings
from grader.lesson.roles import AttentionRoles, FeedForwardRoles, NormRoles

MAX_READINGS = 192
MAX_NORM_READINGS = 64


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
    ffns = tuple(likeliest_readings(named, d, f))
    known = ffns[0].names if ffns else frozenset()
    rest = {name: shape for name, shape in named.items() if name not in known}
    attentions = tuple(itertools.islice(attention_readings(rest, d, heads), MAX_READINGS))
    norms: dict[tuple[NormRoles, NormRoles], None] = {}
    for used in [ffn.names for ffn in ffns] or [frozenset[str]()]:
        left = {name: shape for name, shape in named.items() if name not in used}
        norms |= dict.fromkeys(norm_readings(left, d))
    return BlockParts(ffns, attentions, tuple(norms)[:MAX_NORM_READINGS])
