"""The wiring of the block with other choices, written out."""

from __future__ import annotations

import pytest
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from grader.lesson.choices import (
    BlockChoices,
    Change,
    changed,
    changes_of,
)
from grader.lesson.encoder import encoder_block
from grader.lesson.mathematics import (
    attention,
    feed_forward,
    layer_norm,
)
from tests.formulas import BLOCK, B, D, Function, H, Option, T, drawn, ids_of
from tests.test_lesson_attention import attended
from tests.test_lesson_ffn import network
from tests.test_lesson_norm import made


def first_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (D,), BLOCK.norm1.gain, BLOCK.norm1.shift)


def second_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (D,), BLOCK.norm2.gain, BLOCK.norm2.shift)


def attn(x: Tensor) -> Tensor:
    return attended(x, BLOCK.attention, H)


def net(x: Tensor) -> Tensor:
    return network(x, BLOCK.ffn)


def first_half(x: Tensor) -> Tensor:
    return x + attn(first_norm(x))


def second_half(x: Tensor) -> Tensor:
    return x + net(second_norm(x))


def twice_with(norm: Function) -> Function:
    def compute(x: Tensor) -> Tensor:
        middle = x + attn(norm(x))
        return middle + net(norm(middle))

    return compute


def swapped(x: Tensor) -> Tensor:
    middle = x + attn(second_norm(x))
    return middle + net(first_norm(middle))


def post(x: Tensor) -> Tensor:
    middle = first_norm(x + attn(x))
    return second_norm(middle + net(middle))


def branch(x: Tensor) -> Tensor:
    middle = x + first_norm(attn(x))
    return middle + second_norm(net(middle))


def second_normalised(x: Tensor) -> Tensor:
    normalised = second_norm(first_half(x))
    return normalised + net(normalised)


def second_doubled(x: Tensor) -> Tensor:
    return first_half(x) + second_half(first_half(x))


WIRINGS: dict[tuple[Option, ...], Function] = {
    (): lambda x: second_half(first_half(x)),
    (("norm", "post"),): post,
    (("norm", "branch"),): branch,
    (("norm", "none"),): twice_with(lambda x: x),
    (("norms", "only-first"),): lambda x: first_half(x) + net(first_half(x)),
    (("norms", "only-second"),): lambda x: second_half(x + attn(x)),
    (("norms", "swapped"),): swapped,
    (("norms", "first-twice"),): twice_with(first_norm),
    (("norms", "second-twice"),): twice_with(second_norm),
    (("first", "normalised"),): lambda x: second_half(first_norm(x) + attn(first_norm(x))),
    (("first", "none"),): lambda x: second_half(attn(first_norm(x))),
    (("first", "doubled"),): lambda x: second_half(2 * x + attn(first_norm(x))),
    (("second", "normalised"),): second_normalised,
    (("second", "none"),): lambda x: net(second_norm(first_half(x))),
    (("second", "doubled"),): second_doubled,
    (("second", "input"),): lambda x: x + net(second_norm(first_half(x))),
    (("order", "ffn-first"),): lambda x: first_half(second_half(x)),
    (("order", "parallel"),): lambda x: x + attn(first_norm(x)) + net(second_norm(x)),
    (("sublayers", "no-attention"),): second_half,
    (("sublayers", "no-ffn"),): first_half,
    (("last", "norm1"),): lambda x: first_norm(second_half(first_half(x))),
    (("last", "norm2"),): lambda x: second_norm(second_half(first_half(x))),
    (("first", "none"), ("second", "none")): lambda x: net(second_norm(attn(first_norm(x)))),
    (("norm", "post"), ("first", "none")): lambda x: second_norm(
        first_norm(attn(x)) + net(first_norm(attn(x)))
    ),
    (("norm", "post"), ("norms", "only-second")): lambda x: second_norm(
        x + attn(x) + net(x + attn(x))
    ),
    (("norm", "branch"), ("sublayers", "no-attention")): lambda x: x + second_norm(net(x)),
    (("norm", "none"), ("order", "parallel")): lambda x: x + attn(x) + net(x),
    (("norms", "swapped"), ("order", "ffn-first"), ("sublayers", "no-attention")): lambda x: (
        x + net(first_norm(x))
    ),
}


@pytest.mark.parametrize(
    "options", WIRINGS, ids=["+".join(ids_of(options)) or "the-lesson" for options in WIRINGS]
)
def test_another_wiring(options: tuple[Option, ...]) -> None:
    """Each option of the wiring computes its formula, alone and with others."""
    x = drawn(B, T, D)
    actual = encoder_block(x, BLOCK, made(BlockChoices(), *options))
    assert_close(actual, WIRINGS[options](x))


INNER = [change for change in changes_of(BlockChoices) if change.part != "wiring"]


def identified(change: Change) -> str:
    return "-".join(filter(None, (change.part, change.choice, change.option)))


@pytest.mark.parametrize("change", INNER, ids=identified)
def test_a_choice_inside_a_part_reaches_that_part_of_the_block(change: Change) -> None:
    """The block is the composition of its parts, whatever their choices."""
    choices = changed(BlockChoices(), (change,))
    x = drawn(D, D, D)

    def compose() -> Tensor:
        flow = layer_norm(x, BLOCK.norm1, choices=choices.norm)
        middle = x + attention(flow, BLOCK.attention, H, choices.attention)
        flow = layer_norm(middle, BLOCK.norm2, choices=choices.norm)
        return middle + feed_forward(flow, BLOCK.ffn, choices.ffn)

    assert_close(encoder_block(x, BLOCK, choices), compose())
