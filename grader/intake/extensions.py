"""`extensions.csv`: students with more time.

Columns: `student` (an id, e-mail or name), and `due`, `late_due` or `days`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

from grader.attempts import split_id
from grader.errors import TableError
from grader.intake.tables import Row, read_table
from grader.lateness import Extension, LateRules
from grader.model import Submission
from grader.rubric import Rubric
from grader.text import perhaps, printable
from grader.times import parse_time, time_text

TABLE = "extensions.csv"
COLUMNS = ("student", "due", "late_due", "days")
MAX_DAYS = 1000


def load_extensions(
    path: Path | None, rubric: Rubric, submissions: Sequence[Submission], whole_class: bool = True
) -> dict[str, Extension]:
    """Extensions by the id of the submission's student.

    In a group, more time for one is more time for all.

    Args:
        path: the file; without one, `extensions.csv` beside the rubric, if it is there.
        rubric: its section `late` is what is extended.
        submissions: the class.
        whole_class: whether they are all of it, so that a line about nobody of them is wrong.

    Raises:
        TableError: with every line that is wrong or names nobody of the class.
    """
    beside = rubric.root / TABLE
    if path is None and not beside.is_file():
        return {}
    path = path or beside
    if rubric.late is None:
        raise TableError(path, ["the rubric has no section late that could be extended"])
    problems: list[str] = []
    known = _known(submissions)
    found: dict[str, Extension] = {}
    named: set[str] = set()
    for row in read_table(path, COLUMNS, ("student",), problems):
        student = _student(row, known, problems, whole_class)
        extension = _extension(row, rubric.late, problems)
        word = row.cells["student"].casefold()
        if word in named:
            problems.append(f"line {row.line}: {printable(row.cells['student'])} stands twice")
        named.add(word)
        if student and extension:
            found[student] = _later(found.get(student), extension)
    if problems:
        raise TableError(path, problems)
    return found


def _known(submissions: Iterable[Submission]) -> dict[str, set[str]]:
    """Students by everything that they may be called."""
    known: dict[str, set[str]] = {}
    for submission in submissions:
        student, _ = split_id(submission.student)
        words = {student, submission.name}
        for person in submission.people:
            words |= {person.student, person.name, person.email, person.number}
        for word in words - {""}:
            known.setdefault(word.casefold(), set()).add(student)
    return known


def _student(row: Row, known: dict[str, set[str]], problems: list[str], whole_class: bool) -> str:
    word = row.cells["student"]
    students = known.get(word.casefold(), set())
    if len(students) == 1:
        return next(iter(students))
    if students:
        listing = ", ".join(sorted(students))
        problems.append(f"line {row.line}: {printable(word)} may be each of: {listing}")
    elif word and whole_class:
        near = perhaps(word.casefold(), known)
        problems.append(f"line {row.line}: nobody of the class is {printable(word)}{near}")
    elif not word:
        problems.append(f"line {row.line}: student is empty")
    return ""


def _extension(row: Row, rules: LateRules, problems: list[str]) -> Extension | None:
    before = len(problems)
    due, late_due = (_time(row, key, rules, problems) for key in ("due", "late_due"))
    days = _days(row, problems)
    if not any(row.cells[key] for key in ("due", "late_due", "days")):
        problems.append(f"line {row.line}: one of due, late_due and days is needed")
    if row.cells["days"] and (row.cells["due"] or row.cells["late_due"]):
        problems.append(f"line {row.line}: give either days or times, and not both")
    if due and due < rules.due:
        problems.append(f"line {row.line}: due is before the rubric's own, {time_text(rules.due)}")
    if late_due and rules.late_due is None:
        problems.append(f"line {row.line}: the rubric has no late_due that could be extended")
    if late_due and late_due < (due or rules.late_due or late_due):
        limit = f"the rubric's own, {time_text(rules.late_due)}" if rules.late_due else ""
        problems.append(f"line {row.line}: late_due is before {'due' if due else limit}")
    if len(problems) > before:
        return None
    return Extension(due=due, late_due=late_due, days=days)


def _time(row: Row, key: str, rules: LateRules, problems: list[str]) -> datetime | None:
    text = row.cells[key]
    moment = parse_time(text)
    if text and moment is None:
        wanted = "2026-10-03T23:59:00+02:00"
        problems.append(
            f"line {row.line}: {key} must be a time such as {wanted}, not {printable(text)!r}"
        )
    if moment is not None and moment.tzinfo is None:
        return moment.replace(tzinfo=rules.clock)
    return moment


def _days(row: Row, problems: list[str]) -> Decimal:
    text = row.cells["days"]
    try:
        days = Decimal(text or 0)
    except InvalidOperation:
        days = Decimal(-1)
    if not (days.is_finite() and 0 <= days <= MAX_DAYS) or (text and not days):
        problems.append(
            f"line {row.line}: days must be a number above 0, such as 2, not {printable(text)!r}"
        )
        return Decimal(0)
    return days


def _later(one: Extension | None, other: Extension) -> Extension:
    """The better of two extensions of a group, in each of its parts."""
    if one is None:
        return other
    dues = [moment for moment in (one.due, other.due) if moment]
    late_dues = [moment for moment in (one.late_due, other.late_due) if moment]
    return Extension(
        due=max(dues, default=None),
        late_due=max(late_dues, default=None),
        days=max(one.days, other.days),
    )
