"""Attempts of one student: in which order they came, and which have to be examined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone

from grader.attempts import attempt_id
from grader.lateness import on_the_clock
from grader.model import Submission
from grader.rubric import Rubric

EARLIEST = datetime.min.replace(tzinfo=timezone.utc)
UNORDERED = (
    "Which of the {count} attempts is the newest cannot be told: {reason}. Leave one, or add their "
    "times to submissions.csv, and run again."
)


def counting_attempts(attempts: Sequence[Submission], rubric: Rubric) -> list[Submission]:
    """Those attempts of one student that have to be examined, numbered from the oldest on.

    An attempt without any file is none beside one with files.  Only one is left as it is.

    Args:
        attempts: at least one, in any order.
        rubric: says whether the newest counts or the best, and in which zone times are.
    """
    attempts = sorted(attempts, key=lambda one: one.origin)
    filled = [one for one in attempts if one.files or one.problem] or list(attempts[-1:])
    if len(filled) == 1:
        return filled
    times = [_moment(one, rubric) for one in filled]
    order = sorted(range(len(filled)), key=lambda index: (times[index] or EARLIEST, index))
    numbered = [
        replace(
            filled[index], student=attempt_id(filled[index].student, number), attempts=len(filled)
        )
        for number, index in enumerate(order, 1)
    ]
    if rubric.attempts == "best":
        return numbered
    problem = " ".join(filter(None, (numbered[-1].problem, _unordered(times))))
    return [replace(numbered[-1], problem=problem)]


def _moment(submission: Submission, rubric: Rubric) -> datetime | None:
    """When an attempt came, comparable with the others."""
    moment = on_the_clock(submission.timing.submitted, rubric.late)
    if moment is None or moment.tzinfo is not None:
        return moment
    return moment.replace(tzinfo=timezone.utc)


def _unordered(times: Sequence[datetime | None]) -> str:
    """Why nobody can tell which attempt is the newest; empty if it can be told."""
    known = sorted(moment for moment in times if moment is not None)
    if len(known) < len(times):
        return UNORDERED.format(count=len(times), reason="not every time is known")
    if known[-1] == known[-2]:
        return UNORDERED.format(count=len(times), reason="two came at the same time")
    return ""
