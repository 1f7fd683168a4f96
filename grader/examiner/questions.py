"""The questions that hidden tests put, as values that can be compared and put again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

Plain = dict[str, Any]


@dataclass(frozen=True)
class ConstantQuestion:
    """A literal at the top level of the file.

    Attributes:
        earlier: bring also what the name was bound to before.
    """

    name: str
    earlier: bool = False


@dataclass(frozen=True)
class CallQuestion:
    """A call of a function with one tensor.

    Attributes:
        arguments: further ones, in the order and with the names of the stub.
        operators: record the names of torch functions.
        input_after: bring the input as it is afterwards.
    """

    function: str
    arguments: tuple[tuple[str, float], ...] = ()
    operators: bool = False
    input_after: bool = False


@dataclass(frozen=True)
class BuildQuestion:
    """A module of one of the student's classes.

    Attributes:
        name: the class.
        arguments: of the constructor, in the order and with the names of the stub.
        seed: torch's seed before the constructor runs.
    """

    name: str
    arguments: tuple[tuple[str, int], ...] = ()
    seed: int = 0


@dataclass(frozen=True)
class RunQuestion:
    """A run of a module in eval mode.

    Attributes:
        module: how it was built.
        watch: dotted names of children to look at.
        seed: torch's seed before the run, if chance is to be the same as in another one.
    """

    module: BuildQuestion
    watch: tuple[str, ...] = ()
    seed: int | None = None


Question = ConstantQuestion | CallQuestion | BuildQuestion | RunQuestion


@dataclass(frozen=True)
class Asked:
    """A question with everything that its answer depends on.

    Attributes:
        x: the input of a call or run.
        upstream: gradient of the loss with respect to the result, if gradients are wanted.
        state: what the module's parameters hold, by name, as far as a test has set them.
    """

    question: Question
    x: Tensor | None = None
    upstream: Tensor | None = None
    state: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name in the student's file that has to be there."""
        asked = self.module or self.question
        if isinstance(asked, RunQuestion):
            return asked.module.name
        return asked.function if isinstance(asked, CallQuestion) else asked.name

    @property
    def module(self) -> BuildQuestion | None:
        """The module that is asked, if one is."""
        return self.question.module if isinstance(self.question, RunQuestion) else None

    def same_as(self, other: Asked) -> bool:
        """Whether the other question is this one, with equal tensors."""
        return (
            self.question == other.question
            and same(self.x, other.x)
            and same(self.upstream, other.upstream)
            and self.state.keys() == other.state.keys()
            and all(same(value, other.state[name]) for name, value in self.state.items())
        )


def same(first: Tensor | None, second: Tensor | None) -> bool:
    """Whether two tensors are equal, dtype included, or both absent."""
    if first is second:
        return True
    if first is None or second is None or first.dtype != second.dtype:
        return False
    return torch.equal(first, second)


def plain(
    asked: Asked, prefix: str, handle: int | None, values: Mapping[str, Tensor]
) -> tuple[Plain, dict[str, Tensor]]:
    """A question in the words of the boundary (`grader.sandbox.runtime`), and its tensors.

    Args:
        asked: the question.
        prefix: of the keys of its tensors, different for each question of an exchange.
        handle: of the module that is asked, if one is.
        values: parameters of the module that have to be set before, by name.
    """
    question = asked.question
    if isinstance(question, ConstantQuestion):
        named = {"question": "constant", "name": question.name}
        return {**named, "earlier": question.earlier}, {}
    if isinstance(question, BuildQuestion):
        arguments = [list(pair) for pair in question.arguments]
        built = {"question": "build", "class": question.name, "arguments": arguments}
        return {**built, "seed": question.seed}, {}
    keys = {name: f"{prefix}p{index}" for index, name in enumerate(values)}
    tensors = {keys[name]: value for name, value in values.items()}
    given: Plain = {"tensors": [["x", f"{prefix}x"]], "upstream": ""}
    if asked.x is not None:
        tensors[f"{prefix}x"] = asked.x
    if asked.upstream is not None:
        given["upstream"] = f"{prefix}upstream"
        tensors[f"{prefix}upstream"] = asked.upstream
    if isinstance(question, CallQuestion):
        arguments = [list(pair) for pair in question.arguments]
        called = {"question": "call", "function": question.function, "arguments": arguments}
        wanted = {"operators": question.operators, "input_after": question.input_after}
        return {**called, **wanted, **given}, tensors
    words: Plain = {"question": "run", "handle": handle, "parameters": keys, "mode": "eval"}
    looking: Plain = {"watch": list(question.watch), "operators": False, "seed": question.seed}
    return {**words, **looking, **given}, tensors
