"""Runs of a block, each made once: with nobody looking on, and with its parts in view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import torch
from torch import Tensor

from grader.examiner.answers import Answer
from grader.examiner.checks import alike
from grader.examiner.module import SEED, Module

Known = TypeVar("Known")


class Memory(Generic[Known]):
    """Something for each input."""

    def __init__(self) -> None:
        self._kept: list[tuple[Tensor, Known]] = []

    def once(self, x: Tensor, create: Callable[[], Known]) -> Known:
        """What was kept for an equal input; made and kept if there is nothing yet."""
        for seen, value in self._kept:
            if seen is x or torch.equal(seen, x):
                return value
        value = create()
        self._kept.append((x, value))
        return value


class Runs:
    """Runs of a block.

    Args:
        ready: gives the block, after its weights were sent.
    """

    def __init__(self, ready: Callable[[], Module]) -> None:
        self._ready = ready
        self._plain = Memory[Answer]()
        self._watched = Memory["Answer | None"]()

    def plain(self, x: Tensor) -> Answer:
        """A run with nobody looking on."""
        return self._plain.once(x, lambda: self._ready().run(x, seed=SEED))

    def watched(self, x: Tensor, watch: Sequence[str]) -> Answer | None:
        """A run with children in view.

        `None` if its output is another one than that of the plain run: what is seen in a run
        that only serves to be seen says nothing of the block.

        Args:
            x: input.
            watch: dotted names of the children, the same ones for each input.
        """

        def create() -> Answer | None:
            plain = self.plain(x).tensor
            answer = self._ready().run(x, watch=watch, seed=SEED)
            return answer if alike(answer.tensor, plain) else None

        return self._watched.once(x, create)
