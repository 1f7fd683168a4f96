"""`submissions.csv` beside plain folders and files: whose they are, and when they came.

Several lines of one submission make a group; several submissions of one student are attempts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.errors import TableError
from grader.intake.deliveries import Delivery
from grader.intake.tables import Row, read_table
from grader.model import Person, Timing
from grader.text import perhaps, printable
from grader.times import parse_time

TABLE = "submissions.csv"
COLUMNS = ("submission", "student", "name", "email", "submitted")


def apply_table(path: Path, deliveries: Sequence[Delivery]) -> None:
    """Add to deliveries what the table says of them.

    Raises:
        TableError: with every line that names no submission or cannot be read.
    """
    problems: list[str] = []
    by_name = {name.casefold(): one for one in deliveries for name in _names(one)}
    rows: dict[str, list[Row]] = {}
    for row in read_table(path, COLUMNS, ("submission",), problems):
        name = row.cells["submission"].rstrip("/")
        if name.casefold() in by_name:
            rows.setdefault(by_name[name.casefold()].owner, []).append(row)
        else:
            near = perhaps(name, {one.owner for one in deliveries})
            problems.append(f"line {row.line}: no such submission: {printable(name)}{near}")
    for delivery in deliveries:
        if delivery.owner in rows:
            _apply(rows[delivery.owner], delivery, problems)
    _note_other_groups(deliveries)
    if problems:
        raise TableError(path, sorted(problems, key=_line))


def _names(delivery: Delivery) -> list[str]:
    """What a line may call a delivery: its owner, or a folder or file of it."""
    return [delivery.owner, *(path.name for path, _ in delivery.entries)]


def _line(problem: str) -> int:
    return int(problem.removeprefix("line ").partition(":")[0])


def _apply(rows: Sequence[Row], delivery: Delivery, problems: list[str]) -> None:
    times = set()
    for row in rows:
        text = row.cells["submitted"]
        moment = parse_time(text)
        if moment is not None:
            times.add(moment.isoformat())
            delivery.timing = Timing(submitted=moment)
        elif text:
            problems.append(
                f"line {row.line}: submitted must be a time such as 2026-10-03T23:59:00+02:00, "
                f"not {printable(text)!r}"
            )
    if len(times) > 1:
        problems.append(f"line {rows[-1].line}: has another time than the same submission above")
    people = {_person(row): None for row in rows if any(list(row.cells.values())[1:4])}
    delivery.people = tuple(people)
    if people:  # the same people in another order are the same group
        delivery.student = "\n".join(sorted(map(_identity, delivery.people)))


def _identity(person: Person) -> str:
    return person.student.casefold()


def _note_other_groups(deliveries: Sequence[Delivery]) -> None:
    """Say where somebody has handed in with different people: each group is graded by itself."""
    groups: dict[str, set[str]] = {}
    for delivery in deliveries:
        for person in delivery.people:
            groups.setdefault(_identity(person), set()).add(delivery.student)
    for delivery in deliveries:
        for person in delivery.people:
            if len(groups[_identity(person)]) > 1:
                delivery.notes.append(
                    f"{person.name} has handed in with different people; each group is graded by "
                    "itself."
                )


def _person(row: Row) -> Person:
    student, name, email = (printable(row.cells[key]) for key in ("student", "name", "email"))
    wish = student or email or name
    return Person(student=wish, name=name or wish, email=email, number=student)
