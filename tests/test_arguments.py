"""How arguments reach a function whose parameters have other names or another order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from grader.sandbox.arguments import bind

X = torch.ones(2)


def call(function: Callable[..., Any], *arguments: tuple[str, Any], tensors: bool = True) -> Any:
    """What a function is given, and returns."""
    positional, named = bind(function, arguments, {"x": X} if tensors else {})
    return function(*positional, **named)


def named_by_another(x: torch.Tensor, eps: float = 1e-5) -> float:
    """What a decorated function says that its parameters are."""
    return eps


@functools.wraps(named_by_another)
def decorated(given: torch.Tensor, *, eps: float = 0.0) -> float:
    return eps


@functools.wraps(lambda x, epsilon=1e-5: epsilon)
def named_otherwise(x: torch.Tensor, eps: float = 0.0) -> float:
    return eps


FORMS: dict[str, Callable[..., Any]] = {
    "as in the stub": lambda x, eps=1e-5: eps,
    "renamed": lambda data, epsilon=1e-5: epsilon,
    "tensor renamed": lambda data, eps=1e-5: eps,
    "keyword only": lambda x, *, eps=1e-5: eps,
    "further parameters before": lambda x, dim=-1, eps=1e-5: eps,
    "any positional": lambda *given: given[1],
    "any named": lambda x, **given: given.get("eps", "not given"),
    "decorated": decorated,
    "decorated, of other names": named_otherwise,
    "anything": lambda *given, **named: named.get("eps", given[-1]),
}


@pytest.mark.parametrize("function", FORMS.values(), ids=FORMS.keys())
def test_an_argument_finds_its_parameter(function: Callable[..., Any]) -> None:
    """Renamed, keyword-only, behind others or collected by stars: eps arrives as eps."""
    assert call(function, ("eps", 0.5)) == 0.5


def test_the_tensor_comes_first() -> None:
    """Tensors go by position, whatever their parameter is called."""
    assert call(lambda values, eps=1e-5: values, ("eps", 0.5)) is X


class InOrder:
    """As in the stub."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        self.sizes = (d_model, d_ff)


class Swapped:
    """The stub's names in another order."""

    def __init__(self, d_ff: int, d_model: int) -> None:
        self.sizes = (d_model, d_ff)


class Renamed:
    """Other names in the stub's order."""

    def __init__(self, width: int, hidden: int) -> None:
        self.sizes = (width, hidden)


class HalfRenamed:
    """One name of the stub, one other."""

    def __init__(self, d: int, d_ff: int) -> None:
        self.sizes = (d, d_ff)


class WithDefaults:
    """With defaults, and one more parameter in between."""

    def __init__(self, d_model: int = 4, dropout: float = 0.0, d_ff: int = 16) -> None:
        self.sizes = (d_model, d_ff)


class Stars:
    """Whatever comes by place."""

    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes


class Named:
    """By name only."""

    def __init__(self, *, d_ff: int, d_model: int) -> None:
        self.sizes = (d_model, d_ff)


class Inherited(Swapped):
    """What another class takes."""


class AnyNamed:
    """Whatever comes by name."""

    def __init__(self, **given: int) -> None:
        self.sizes = (given["d_model"], given["d_ff"])


@pytest.mark.parametrize(
    "create",
    [InOrder, Swapped, Renamed, HalfRenamed, WithDefaults, Stars, Named, Inherited, AnyNamed],
)
def test_sizes_reach_a_constructor(create: Callable[..., Any]) -> None:
    """By name where the names are known, otherwise by place."""
    made = call(create, ("d_model", 3), ("d_ff", 7), tensors=False)
    assert made.sizes == (3, 7)


def test_a_class_of_torch_can_be_bound() -> None:
    """A signature that torch wrote serves like one of the student's."""
    made = call(nn.Linear, ("in_features", 3), ("out_features", 5), tensors=False)
    assert made.weight.shape == (5, 3)


def test_without_a_signature_everything_goes_by_place() -> None:
    """A builtin that hides its parameters still gets its arguments."""
    positional, named = bind(torch.add, [("other", 2.0)], {"x": X})
    assert (len(positional), named) == (2, {})
    assert torch.add(*positional).tolist() == [3.0, 3.0]


def test_a_positional_only_parameter_is_not_named() -> None:
    """What may not be passed by name is passed by place."""

    def function(x: torch.Tensor, eps: float, /) -> float:
        return eps

    assert call(function, ("eps", 0.5)) == 0.5


def test_too_many_arguments_are_the_functions_own_error() -> None:
    """A function that takes no eps raises as Python raises."""
    with pytest.raises(TypeError):
        call(lambda x: x, ("eps", 0.5))
