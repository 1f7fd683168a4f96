"""Parts of a block: where data enters and leaves them, and what they received and returned."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Part:
    """Names of the children through which data enters and leaves a part of the block."""

    entry: str
    exit: str


@dataclass(frozen=True)
class Flow:
    """What a part received and returned in one run."""

    received: Tensor
    returned: Tensor


def common_owner(names: frozenset[str]) -> str:
    """Dotted name of the smallest module that holds all of some parameters."""
    paths = [name.split(".")[:-1] for name in sorted(names)]
    if not paths:
        return ""
    common = [
        parts[0]
        for parts in itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*paths))  # noqa: B905
    ]
    return ".".join(common)
