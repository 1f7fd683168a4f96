"""Whether an answer is worked out at all, or only stands there.

Properties such as the right shape hold of the input itself, of zeros and of random numbers too.
What is worked out, rightly or not, takes several values of the input together, and the weights of
the layers that were made for it.  That shows in the answers to an input in which one value is
another one or, where answers are never the same twice, in a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.answers import Answer, fail
from grader.examiner.checks import Draw
from grader.examiner.module import Module, Run
from grader.model import Verdict

# By how much one value is changed: it becomes the largest, so that also a maximum follows it.
PUSH = 25.0
# What rounding, or a term that is only there to be seen, does not reach.
NOTICEABLE = 1e-3


@dataclass(frozen=True)
class Look:
    """What came of looking for work.

    Attributes:
        found: whether an answer is worked out; `None` if there was no answer.
        fault: why there was none.
    """

    found: bool | None
    fault: StudentFaultError | None = None


def look(attempts: Iterable[Callable[[], bool]]) -> Look:
    """Look in one way after the other until work is found.

    Args:
        attempts: each tells whether it has found any.
    """
    found: bool | None = None
    fault: StudentFaultError | None = None
    for attempt in attempts:
        try:
            if attempt():
                return Look(True)
            found = False
        except StudentFaultError as error:
            fault = fault or error
            if error.verdict == Verdict.TIMEOUT.value:
                break  # another try would take as long
    return Look(found, fault if found is None else None)


def expect_work(seen: Look, subject: str) -> None:
    """Work was found.

    Raises:
        StudentFaultError: if there was none, or no answer.
    """
    if seen.fault is not None:
        raise seen.fault
    if not seen.found:
        raise fail(
            f"{subject} is not worked out: when one value of the input changes, at most one value "
            "of the output follows, or the layers' weights play no part."
        )


def pushed(x: Tensor) -> Tensor:
    """An input in which the first value is another one."""
    changed = x.clone()
    changed.view(-1)[0] += PUSH
    return changed


def first_alone(output: Tensor) -> Tensor:
    """An upstream gradient that asks for the first value of an output only."""
    upstream = torch.zeros(output.shape)
    upstream.view(-1)[:1] = 1.0
    return upstream


def takes_values_together(
    x: Tensor,
    answer_each: Callable[[Tensor, Tensor, Tensor], list[Answer]],
    with_gradient: Callable[[Tensor, Tensor], Answer],
) -> bool:
    """Tell whether a function without weights takes several values together.

    Args:
        x: input.
        answer_each: its answers to three inputs.
        with_gradient: its answer to an input with the gradient for an upstream one.

    Raises:
        StudentFaultError: if there is no answer.
    """
    first, other, again = (answer.tensor for answer in answer_each(x, pushed(x), x))
    if torch.equal(first, again) and _moved(first, other) > 1:
        return True
    return _reached(with_gradient(x, first_alone(first)).input_gradients.get(0)) > 1


def layers_take_part(module: Module, x: Tensor, weights: dict[str, Tensor]) -> bool:
    """Tell whether a module takes several values together, with its parameters if it has any.

    Args:
        module: the module.
        x: input.
        weights: for all of its parameters.

    Raises:
        StudentFaultError: if there is no answer.
    """
    others = Draw("other weights").weights(module.shapes)
    runs = [Run(x, weights), Run(pushed(x)), Run(x), Run(x, others)]
    first, other, again, weighted = (answer.tensor for answer in module.run_each(*runs))
    used = not weights or _moved(first, weighted) > 0
    if torch.equal(first, again) and used and _moved(first, other) > 1:
        return True
    module.write(weights)
    answer = module.run(x, upstream=first_alone(first))
    followed = any(map(_reached, answer.parameter_gradients.values()))
    return _reached(answer.input_gradients.get(0)) > 1 and (followed or not module.trainable)


def _moved(before: Tensor, after: Tensor) -> int:
    """How many values of an answer are noticeably other ones."""
    if before.shape != after.shape:
        return 0
    difference = after.to(torch.complex128) - before.to(torch.complex128)
    return int((difference.abs() > NOTICEABLE).sum())


def _reached(gradient: Tensor | None) -> int:
    """How many values a gradient reaches noticeably; one that is NaN has come there too."""
    return 0 if gradient is None else int((~(gradient.abs() <= NOTICEABLE)).sum())
