"""A block computed with many choices: each intermediate result only once."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from grader.lesson.choices import (
    AttentionChoices,
    BlockChoices,
    changed,
    changes_of,
)
from grader.lesson.encoder import BlockComputation, encoder_block
from grader.lesson.mathematics import (
    Attention,
    attention,
)
from tests.formulas import BLOCK, B, D, T, drawn, drawn_block
from tests.test_lesson_choices import some_of
from tests.test_lesson_norm import made
from tests.test_lesson_questions import answer
from tests.test_lesson_wiring import WIRINGS


def test_a_computation_that_is_asked_often_answers_as_a_fresh_one() -> None:
    """Whatever was asked before, with whatever choices, no result is mixed up with another."""
    weights = drawn_block(4, 2, 6)
    often = BlockComputation(weights)
    inputs = [drawn(4, 4, 4), drawn(2, 3, 4)]
    for changes in some_of(changes_of(BlockChoices)):
        choices = changed(BlockChoices(), changes)
        for x in inputs:
            kept = answer(partial(often.output, choices=choices), x)
            fresh = answer(partial(encoder_block, weights=weights, choices=choices), x)
            assert (kept is None) == (fresh is None), changes
            if kept is not None and fresh is not None:
                assert_close(kept, fresh, equal_nan=True)


def test_an_input_that_is_gone_is_not_taken_for_a_new_one() -> None:
    """A new tensor may lie where an earlier one lay."""
    computation = BlockComputation(BLOCK)
    for number in range(50):
        actual = computation.output(torch.full((1, 2, D), 0.1).double().cumsum(2) * number)
        x = torch.full((1, 2, D), 0.1).double().cumsum(2) * number
        assert_close(actual, encoder_block(x, BLOCK))


def test_nothing_is_computed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of the wiring alone share what norms and sublayers have computed."""
    counted: list[tuple[int, AttentionChoices]] = []

    def counting(x: Tensor, w: Attention, heads: int, choices: AttentionChoices) -> Tensor:
        counted.append((id(x), choices))
        return attention(x, w, heads, choices)

    monkeypatch.setattr("grader.lesson.encoder.attention", counting)
    computation, x = BlockComputation(BLOCK), drawn(B, T, D)
    for options in WIRINGS:
        computation.output(x, made(BlockChoices(), *options))
    assert 0 < len(counted) < len(WIRINGS)
    assert len(set(counted)) == len(counted)
