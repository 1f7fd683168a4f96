"""What shows a part of a block, what shows work, and when two runs agree."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.checks import Draw, alike
from grader.examiner.parts import Flow
from grader.examiner.telling import shows_attention, shows_feed_forward, shows_norm
from grader.examiner.work import Look, expect_work, first_alone, look, pushed
from grader.lesson.mathematics import (
    Attention,
    FeedForward,
    Norm,
    attention,
    feed_forward,
    layer_norm,
)
from grader.model import Verdict

X = Draw("telling").normal(2, 5, 8)
ZEROS = torch.zeros(2, 5, 8)


def drawn(*shape: int) -> Tensor:
    return Draw(f"telling {shape}").weights({"w": shape})["w"]


ATTENTION = Attention(*(Draw(name).weights({"w": (8, 8)})["w"] for name in "qkvo"))
FEED = FeedForward(drawn(32, 8), drawn(32), drawn(8, 32), drawn(8))
NORM = Norm(drawn(8), drawn(1, 8)[0])


def test_a_right_part_shows_itself_on_ordinary_tokens() -> None:
    """What the lesson's formula makes of them is made by nothing else."""
    assert shows_attention(Flow(X, attention(X, ATTENTION, 2)), [ATTENTION], 2)
    assert shows_feed_forward(Flow(X, feed_forward(X, FEED)), [FEED])
    assert shows_norm(X, layer_norm(X, NORM), NORM)


def test_what_any_part_would_return_shows_nothing() -> None:
    """Zeros come out of an attention and of much else as they went in; so does a norm's shift."""
    assert not shows_attention(Flow(ZEROS, ZEROS), [ATTENTION], 2)
    huge = X * 1e4
    gated = FeedForward(FEED.w1.abs(), FEED.b1, FEED.w2, FEED.b2)
    assert not shows_feed_forward(
        Flow(huge.abs(), feed_forward(huge.abs(), gated)), [gated]
    )  # far from zero GELU is the identity
    assert not shows_norm(ZEROS, layer_norm(ZEROS, NORM), NORM)


def test_a_wrong_part_shows_nothing() -> None:
    """The input must tell, and the output must be right."""
    assert not shows_attention(Flow(X, X), [ATTENTION], 2)
    assert not shows_feed_forward(Flow(X, X), [FEED])
    assert not shows_norm(X, X, NORM)


def test_runs_agree_in_shape_dtype_and_values() -> None:
    """NaN agrees with NaN: neither run is what is right."""
    nan = torch.full((2,), float("nan"))
    assert alike(nan, nan)
    assert alike(X, X + 1e-6)
    assert not alike(X, X + 1e-2)
    assert not alike(X, X[:1])
    assert not alike(X, X.double())


def raising(verdict: Verdict) -> bool:
    raise StudentFaultError(verdict.value, "no answer")


def test_work_is_looked_for_until_it_is_found() -> None:
    """One way that shows it is enough, whatever the others came to."""
    assert look([lambda: False, lambda: raising(Verdict.ERROR), lambda: True]) == Look(True)
    assert look([lambda: raising(Verdict.ERROR), lambda: False]).found is False
    expect_work(Look(True), "The result")


def test_no_answer_is_no_hollow_answer() -> None:
    """The fault is told in place of a finding, and what ran out of time is not asked again."""
    seen = look([lambda: raising(Verdict.TIMEOUT), lambda: True])
    assert seen.found is None
    with pytest.raises(StudentFaultError, match="no answer"):
        expect_work(seen, "The result")
    with pytest.raises(StudentFaultError, match="not worked out"):
        expect_work(Look(False), "The result")


def test_one_value_is_changed_and_one_asked_for() -> None:
    """The rest of the input is as it was, and so is the input itself."""
    assert int((pushed(X) != X).sum()) == 1
    assert int(first_alone(X).sum()) == int((first_alone(X) != 0).sum()) == 1
