"""gradebook.csv: one line for each student."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from grader.attempts import attempts_text
from grader.lateness import TIME_UNKNOWN
from grader.model import Person, Scorecard, Submission
from grader.report.cells import csv_text
from grader.report.feedback import points
from grader.rubric import Rubric
from grader.times import span_text

# How late a submission is whose time nobody knows.
UNKNOWN = "unknown"


def gradebook_csv(
    settled: Iterable[tuple[Submission, Scorecard]], rubric: Rubric, remark: str = ""
) -> str:
    """The gradebook.  A submission that needs attention has no score in it.

    Args:
        settled: submission and scorecard of each student.
        rubric: names the milestones.
        remark: what is to be noted for every student.
    """
    milestones = [milestone.id for milestone in rubric.milestones]
    header = [
        "student", "name", "email", "status", "score", "max_score", *milestones, "late",
        "misconceptions", "submission", "notes",
    ]  # fmt: skip
    rows = (
        _row(person, submission, card, milestones, remark)
        for submission, card in settled
        for person in submission.owners
    )
    return csv_text(itertools.chain([header], rows))


def _row(
    person: Person,
    submission: Submission,
    card: Scorecard,
    milestones: Sequence[str],
    remark: str,
) -> list[str]:
    scored = {milestone.id: milestone for milestone in card.milestones}
    graded = card.score is not None
    columns = [points(scored[m].score) if graded and m in scored else "" for m in milestones]
    notes = [remark, card.problem, *card.notes, *(n for m in card.milestones for n in m.notes)]
    notes += [_group(person, submission), attempts_text(card), _unknown_time(card)]
    return [
        person.student,
        person.name,
        person.email,
        card.status,
        points(card.score) if card.score is not None else "",
        points(card.max_score),
        *columns,
        late_cell(card),
        " ".join(_named(card)),
        submission.origin,
        " ".join(note for note in notes if note),
    ]


def late_cell(card: Scorecard) -> str:
    """How late a submission is, and what that took: 1 day 3 h (-17.5)."""
    if card.late is None or card.status != "graded":
        return ""
    if card.late.submitted is None:
        return "late, time unknown" if card.late.marked_late else UNKNOWN
    if not card.late.seconds:
        return ""
    taken = f" (-{points(card.late.taken)})" if card.late.taken else ""
    return span_text(timedelta(seconds=card.late.seconds)) + taken


def _group(person: Person, submission: Submission) -> str:
    """With whom a submission was handed in, and where its results lie."""
    others = [other.name for other in submission.owners if other != person]
    student = submission.student
    return f"Handed in together with {', '.join(others)}; see {student}." if others else ""


def _unknown_time(card: Scorecard) -> str:
    marked = card.late is not None and card.late.marked_late and card.late.submitted is None
    return TIME_UNKNOWN if marked else ""


def _named(card: Scorecard) -> Iterator[str]:
    """Misconceptions of a student, and groups of unexplained answers, with their milestone."""
    for milestone in card.milestones:
        for misconception in milestone.misconceptions:
            yield f"{milestone.id}:{misconception.id}"
        named = {misconception.id for misconception in milestone.misconceptions}
        if milestone.group and milestone.group not in named:
            yield f"{milestone.id}:{milestone.group}"
