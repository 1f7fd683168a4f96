"""What a diagnosis asks shows every change."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
import torch
from torch import Tensor

from grader.examiner.diagnosis import encoder, ffn, layernorm
from grader.examiner.diagnosis.finding import same
from grader.lesson.choices import (
    BlockChoices,
    Change,
    FeedForwardChoices,
    NormChoices,
    changed,
    changes_of,
)
from grader.lesson.encoder import encoder_block
from grader.lesson.mathematics import (
    Norm,
    feed_forward,
    layer_norm,
)
from tests.formulas import drawn_block
from tests.test_lesson_wiring import identified


def answer(compute: Callable[..., Tensor], *question: Tensor | float) -> Tensor | None:
    try:
        return compute(*question)
    except (IndexError, RuntimeError, ZeroDivisionError):  # as the search expects
        return None


def told_apart(
    lesson: Callable[..., Tensor],
    other: Callable[..., Tensor],
    questions: Iterable[tuple[Tensor | float, ...]],
) -> bool:
    """Whether some question has another answer, or none, by the diagnosis' own comparison."""
    for question in questions:
        wrong = answer(other, *question)
        if wrong is None or not same(wrong, lesson(*question)):
            return True
    return False


@pytest.mark.parametrize("change", changes_of(NormChoices), ids=identified)
def test_the_questions_about_layer_norm_show_each_change(change: Change) -> None:
    """At least one input of the diagnosis has another result than the lesson's, or none."""

    def compute(x: Tensor, eps: float, *changes: Change) -> Tensor:
        gain, shift = torch.linspace(0.5, 1.5, x.shape[-1]), torch.linspace(-1, 2, x.shape[-1])
        return layer_norm(x, Norm(gain, shift), eps, changed(NormChoices(), changes))

    assert told_apart(compute, lambda *asked: compute(*asked, change), layernorm.pool())


@pytest.mark.parametrize("change", changes_of(FeedForwardChoices), ids=identified)
def test_the_questions_about_the_network_show_each_change(change: Change) -> None:
    """At least one input of the diagnosis has another result than the lesson's, or none."""

    def compute(x: Tensor, *changes: Change) -> Tensor:
        weights = drawn_block(ffn.D, 1, ffn.F, torch.float32).ffn
        return feed_forward(x, weights, changed(FeedForwardChoices(), changes))

    assert told_apart(compute, lambda x: compute(x, change), [(x,) for x in ffn.pool()])


@pytest.mark.parametrize("change", encoder.CHANGES, ids=identified)
def test_the_questions_about_the_block_show_each_change(change: Change) -> None:
    """At least one input of the diagnosis has another result than the lesson's, or none."""

    def compute(x: Tensor, *changes: Change) -> Tensor:
        weights = drawn_block(encoder.D, encoder.H, encoder.F, torch.float32)
        return encoder_block(x, weights, changed(BlockChoices(), changes))

    assert told_apart(compute, lambda x: compute(x, change), [(x,) for x in encoder.pool()])
