"""What differs between two graded classes: as a table, as CSV, and as plain data."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from grader.diff import Change, ClassDiff, Points, RubricChanges, StudentChange
from grader.report.cells import csv_text
from grader.report.feedback import points
from grader.text import printable

DROPPED = "dropped"
NOTHING = "-"
COLUMNS = (
    "student", "change", "old_status", "new_status", "milestone", "criterion", "old", "new",
    "difference", "old_max", "new_max", DROPPED,
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One line: a student's total, a milestone or a criterion.

    Attributes:
        milestone: id; empty for the total.
        criterion: id; empty for the total and for a milestone.
    """

    of: StudentChange
    change: Change
    milestone: str = ""
    criterion: str = ""


def rows(diff: ClassDiff) -> Iterator[Row]:
    """Every change of a score, each student's total first."""
    for student in diff.students:
        yield Row(student, student.total)
        for milestone in student.milestones:
            name = milestone.total.id
            yield Row(student, milestone.total, name)
            for criterion in milestone.criteria:
                yield Row(student, criterion, name, criterion.id)


def differences_table(diff: ClassDiff) -> Table:
    """One line for each change; what dropped is marked by a word, and by colour besides."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("student", no_wrap=True, max_width=20)
    table.add_column("what", overflow="fold")
    for title in ("old", "new", "change"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in rows(diff):
        dropped = row.change.dropped
        style = "red" if dropped else ""
        cells = [Text(cell, style=style) for cell in _cells(row.change)]
        student = "" if row.milestone else printable(row.of.student)
        mark = Text(DROPPED if dropped else "", style=style)
        table.add_row(Text(student), Text(printable(_what(row))), *cells, mark)
    return table


def _what(row: Row) -> str:
    if row.criterion:
        return f"    {row.criterion}"
    if row.milestone:
        return f"  {row.milestone}"
    student = row.of
    if student.kind != "changed":
        return student.kind
    if student.old_status != student.new_status:
        return f"{student.old_status} -> {student.new_status}"
    return "score"


def _cells(change: Change) -> tuple[str, str, str]:
    difference = "" if change.difference is None else f"{change.difference:+g}"
    old, new = (_points(side, change.max_differs) for side in (change.old, change.new))
    return old, new, difference


def _points(side: Points | None, with_max: bool) -> str:
    if side is None or side.score is None:
        return NOTHING
    return points(side.score) + (f"/{points(side.max_score)}" if with_max else "")


def rubric_sentences(changes: RubricChanges) -> list[str]:
    """How the rubrics differ; nothing if they do not."""
    most = ", ".join(
        f"{change.id} {points(change.old.max_score)} -> {points(change.new.max_score)}"
        for change in changes.max_scores
        if change.old and change.new
    )
    said = {
        "The most points differ": most,
        "Only the new rubric has": ", ".join(changes.added),
        "Only the old rubric has": ", ".join(changes.removed),
    }
    return [printable(f"{what}: {which}.") for what, which in said.items() if which]


def summary_sentence(diff: ClassDiff) -> str:
    """How many students changed, and how."""
    if not diff.students:
        return f"No student's score or status has changed ({diff.total} in all)."
    counted = {
        "added": diff.count("added"),
        "removed": diff.count("removed"),
        "with something that dropped": sum(student.dropped for student in diff.students),
    }
    kinds = ", ".join(f"{number} {kind}" for kind, number in counted.items() if number)
    what = f"{len(diff.students)} of {diff.total} students changed"
    return f"{what}: {kinds}." if kinds else f"{what}."


def differences_csv(diff: ClassDiff) -> str:
    """The same lines for a spreadsheet."""
    return csv_text(itertools.chain([COLUMNS], map(_csv_cells, rows(diff))))


def _csv_cells(row: Row) -> list[str]:
    student, change = row.of, row.change
    scores = [_points(side, with_max=False) for side in (change.old, change.new)]
    most = [points(side.max_score) if side else "" for side in (change.old, change.new)]
    return [
        student.student,
        student.kind,
        student.old_status or "",
        student.new_status or "",
        row.milestone,
        row.criterion,
        *("" if score == NOTHING else score for score in scores),
        "" if change.difference is None else points(change.difference),
        *most,
        "yes" if change.dropped else "",
    ]


def differences_json(diff: ClassDiff) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "changed": bool(diff),
        "counts": {
            "students": diff.total,
            "changed": diff.count("changed"),
            "added": diff.count("added"),
            "removed": diff.count("removed"),
            DROPPED: sum(student.dropped for student in diff.students),
        },
        "rubric": {
            "max_scores": [
                {"id": c.id, "old": c.old.max_score, "new": c.new.max_score}
                for c in diff.rubric.max_scores
                if c.old and c.new
            ],
            "added": list(diff.rubric.added),
            "removed": list(diff.rubric.removed),
        },
        "students": [_student_json(student) for student in diff.students],
    }


def _student_json(student: StudentChange) -> dict[str, Any]:
    return {
        "student": student.student,
        "change": student.kind,
        "status": {"old": student.old_status, "new": student.new_status},
        "score": _change_json(student.total),
        "milestones": [
            {
                "id": milestone.total.id,
                "score": _change_json(milestone.total),
                "criteria": [
                    {"id": criterion.id, "score": _change_json(criterion)}
                    for criterion in milestone.criteria
                ],
            }
            for milestone in student.milestones
        ],
    }


def _change_json(change: Change) -> dict[str, Any]:
    old, new = change.old, change.new
    return {
        "old": old.score if old else None,
        "new": new.score if new else None,
        "difference": change.difference,
        "old_max": old.max_score if old else None,
        "new_max": new.max_score if new else None,
        DROPPED: change.dropped,
    }
