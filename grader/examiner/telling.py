"""Whether an input tells a right part of a block from a wrong one.

What a part has to return is worked out from what the student's process says it received, and that
may be anything.  It proves something only if the lesson's mistakes would have come out otherwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from grader.examiner.checks import close
from grader.examiner.parts import Flow
from grader.lesson.mathematics import (
    ATTENTION,
    FEED_FORWARD,
    GELUS,
    Attention,
    FeedForward,
    Norm,
    attention,
    feed_forward,
    layer_norm,
)

OTHER_ATTENTIONS = (
    replace(ATTENTION, scale="none"),
    replace(ATTENTION, scale="dk"),
    replace(ATTENTION, scores="kq"),
    replace(ATTENTION, values="k"),
    replace(ATTENTION, out="unused"),
    replace(ATTENTION, softmax="queries"),
)
OTHER_FEED_FORWARDS = (
    replace(FEED_FORWARD, activation="relu"),
    replace(FEED_FORWARD, activation="none"),
    replace(FEED_FORWARD, place="after"),
)


def shows_attention(flow: Flow, readings: Sequence[Attention], heads: int) -> bool:
    """Whether what went in and came out, shape (B, T, d), shows the lesson's attention.

    Args:
        flow: what the attention received and returned.
        readings: its weights, in each way to read them.
        heads: number of heads.
    """
    received = flow.received
    for weights in readings:
        if close(flow.returned, attention(received, weights, heads)):
            others = (attention(received, weights, heads, c) for c in OTHER_ATTENTIONS)
            return not any(close(flow.returned, other) for other in others)
    return False


def shows_feed_forward(flow: Flow, readings: Sequence[FeedForward]) -> bool:
    """Whether what went in and came out, shape (..., d), shows the feed-forward network.

    Args:
        flow: what it received and returned.
        readings: its weights, in each way to read them.
    """
    received = flow.received
    for weights, choices in itertools.product(readings, GELUS):
        if close(flow.returned, feed_forward(received, weights, choices)):
            others = (feed_forward(received, weights, c) for c in OTHER_FEED_FORWARDS)
            return not any(close(flow.returned, other) for other in others)
    return False


def shows_norm(received: Tensor, returned: Tensor, norm: Norm) -> bool:
    """Whether one call of a norm, on tokens of shape (..., d), shows LayerNorm.

    Tokens whose features are all equal come out as the shift, whatever the norm does.
    """
    if received.shape[-1:] != norm.shift.shape:
        return False
    right = close(returned, layer_norm(received, norm))
    return right and not close(returned, norm.shift.expand(returned.shape))
