"""Values on their way out: tensors by key, everything else by what it is only."""

from __future__ import annotations

import math
import types
from typing import Any

import pytest
import torch
from torch import nn

from grader.sandbox.values import MAX_ITEMS, MAX_LITERAL_ITEMS, Outgoing, is_literal, kind_of


def test_a_tensor_is_copied_under_a_key_of_its_own() -> None:
    """Two tensors have two keys, and later changes do not reach the copies."""
    outgoing = Outgoing()
    first, second = torch.zeros(2), torch.ones(3)
    described = [outgoing.value(first), outgoing.value(second)]
    first.fill_(9.0)
    assert described == [{"kind": "tensor", "key": "t0"}, {"kind": "tensor", "key": "t1"}]
    assert outgoing.tensors["t0"].tolist() == [0.0, 0.0]
    assert outgoing.tensors["t1"].tolist() == [1.0, 1.0, 1.0]


def test_tensors_inside_tuples_and_lists_are_carried() -> None:
    """What is a sequence of tensors stays one."""
    outgoing = Outgoing()
    described = outgoing.value((torch.ones(1), [torch.zeros(1), "x"]))
    assert described == {
        "kind": "sequence",
        "items": [
            {"kind": "tensor", "key": "t0"},
            {
                "kind": "sequence",
                "items": [{"kind": "tensor", "key": "t1"}, {"kind": "foreign", "what": "str"}],
            },
        ],
    }


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (None, "NoneType"),
        (3, "int"),
        ({"a": 1}, "dict"),
        (nn.Linear(1, 1), "Linear"),
        (torch.ones(2, device="meta"), "a meta tensor, which has a shape but no values"),
    ],
    ids=["none", "number", "mapping", "module", "meta"],
)
def test_anything_else_is_known_by_what_it_is(value: object, what: str) -> None:
    """Neither its text nor its content is asked for."""
    assert Outgoing().value(value) == {"kind": "foreign", "what": what}


def test_a_sequence_that_is_too_long_or_too_deep_is_not_followed() -> None:
    """A list of thousands of tensors, and one that holds itself, end."""
    endless: list[Any] = []
    endless.append(endless)
    assert Outgoing().value([0] * (MAX_ITEMS + 1)) == {"kind": "foreign", "what": "list"}
    deepest = Outgoing().value(endless)["items"][0]["items"][0]["items"][0]
    assert deepest == {"kind": "foreign", "what": "list"}


def test_an_object_is_not_asked_for_its_text() -> None:
    """A class with a very long name, or hostile methods, is described all the same."""

    class Hostile:
        def __repr__(self) -> str:
            raise SystemExit

    Hostile.__name__ = "x" * 1000
    assert Outgoing().value(Hostile()) == {"kind": "foreign", "what": "x" * 300}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (nn.Linear, "class"),
        (math.sqrt, "function"),
        (lambda: 0, "function"),
        (types, "module"),
        (3, "value"),
        (None, "value"),
        (nn.Identity(), "value"),
    ],
    ids=["class", "builtin", "lambda", "module", "number", "none", "callable-object"],
)
def test_a_name_is_of_one_kind(value: object, kind: str) -> None:
    """Class, function, module or value; an object is a value even if it can be called."""
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -5, 1.5, "text", [], [1, [2.0, ("a", None)]], 2**53 - 1],
    ids=repr,
)
def test_plain_data_is_a_literal(value: object) -> None:
    """What JSON can say, and tuples."""
    assert is_literal(value)


class Number(int):
    """Compares equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        2**53,
        10**400,
        1j,
        b"bytes",
        {1: 2},
        {1},
        Number(3),
        [Number(3)],
        torch.tensor(148),
        "x" * (MAX_LITERAL_ITEMS + 1),
        [0] * (MAX_LITERAL_ITEMS + 1),
        [[[[[[0]]]]]],
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_everything_else_is_none(value: object) -> None:
    """No subclass, nothing infinite, nothing that JSON cannot carry, nothing huge or deep."""
    assert not is_literal(value)


def test_a_list_that_holds_itself_is_no_literal() -> None:
    """The check comes to an end."""
    endless: list[Any] = [1]
    endless.append(endless)
    assert not is_literal(endless)
