"""The feed-forward network with other choices, against torch's own parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from grader.lesson.mathematics import (
    FEED_FORWARD,
    FeedForward,
    feed_forward,
)
from tests.formulas import BLOCK, D, Function, Option, drawn, ids_of
from tests.test_lesson_norm import made

ACTIVATIONS: dict[str, Function] = {
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu-sigmoid": lambda x: x / (1 + torch.exp(-1.702 * x)),
    "relu": lambda x: x.clamp(min=0),
    "leaky-relu": lambda x: torch.maximum(x, x / 100),
    "elu": lambda x: torch.where(x > 0, x, x.clamp(max=0).exp() - 1),
    "silu": F.silu,
    "tanh": lambda x: (x.exp() - (-x).exp()) / (x.exp() + (-x).exp()),
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "cdf": torch.special.ndtr,
    "none": lambda x: x.clone(),
}


def network(
    x: Tensor, w: FeedForward, between: Function = F.gelu, biases: tuple[int, int] = (1, 1)
) -> Tensor:
    """W2 between(W1 x + b1) + b2, with torch's own layers."""
    hidden = F.linear(x, w.w1, w.b1 * biases[0])
    return F.linear(between(hidden), w.w2, w.b2 * biases[1])


def by_feature(x: Tensor, w: FeedForward) -> Tensor:
    """The network for each feature, on its values along the sequence."""
    return torch.stack([network(column, w) for column in x.unbind(-1)], dim=-1)


NETWORKS: dict[Option, Callable[[Tensor, FeedForward], Tensor]] = {
    ("place", "after"): lambda x, w: F.gelu(network(x, w, ACTIVATIONS["none"])),
    ("place", "before"): lambda x, w: network(F.gelu(x), w, ACTIVATIONS["none"]),
    ("place", "twice"): lambda x, w: F.gelu(network(x, w)),
    ("mixing", "sequence"): by_feature,
    ("first_bias", "unused"): lambda x, w: network(x, w, biases=(0, 1)),
    ("second_bias", "unused"): lambda x, w: network(x, w, biases=(1, 0)),
    ("residual", "added"): lambda x, w: x + network(x, w),
    **{("activation", name): partial(network, between=f) for name, f in ACTIVATIONS.items()},
}


@pytest.mark.parametrize("shape", [(D, D), (2, D, D), (2, 3, D, D)])
def test_the_feed_forward_network_is_two_linear_layers_with_gelu(shape: tuple[int, ...]) -> None:
    x = drawn(*shape)
    assert_close(feed_forward(x, BLOCK.ffn), network(x, BLOCK.ffn))


@pytest.mark.parametrize("option", NETWORKS, ids=ids_of(NETWORKS))
@pytest.mark.parametrize("shape", [(D, D), (2, D, D), (2, 3, D, D)])
def test_another_feed_forward_network(option: Option, shape: tuple[int, ...]) -> None:
    """Each option computes what its formula with torch's layers does."""
    x = drawn(*shape)
    actual = feed_forward(x, BLOCK.ffn, made(FEED_FORWARD, option))
    assert_close(actual, NETWORKS[option](x, BLOCK.ffn))


@pytest.mark.parametrize("place", ["after", "before", "twice"])
def test_another_activation_stands_in_another_place(place: str) -> None:
    """The activation that is chosen is the one that is moved."""
    x = drawn(2, 4, D)
    choices = dataclasses.replace(made(FEED_FORWARD, ("place", place)), activation="relu")
    expected = {
        "after": F.relu(network(x, BLOCK.ffn, ACTIVATIONS["none"])),
        "before": network(F.relu(x), BLOCK.ffn, ACTIVATIONS["none"]),
        "twice": F.relu(network(x, BLOCK.ffn, F.relu)),
    }
    assert_close(feed_forward(x, BLOCK.ffn, choices), expected[place])


def test_layers_along_a_sequence_of_another_length_raise() -> None:
    with pytest.raises(RuntimeError):
        feed_forward(drawn(2, 5, D), BLOCK.ffn, made(FEED_FORWARD, ("mixing", "sequence")))
