"""What was handed in together, before its files are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.intake.names import safe_id
from grader.model import UNTIMED, Person, Timing


@dataclass
class Delivery:
    """One attempt of one student or group.

    Attributes:
        owner: what its folder or files are called after.
        student: equal for all attempts of one student.
        entries: its folders and files, each file with its name inside the submission.
        people: who handed it in, if more is known than `owner`; an id of theirs is only a wish
            until `by_student` has made it safe.
        timing: when it came.
        notes: what the reader of the results should know.
        problem: why it cannot be graded as it is.
    """

    owner: str
    student: str
    entries: list[tuple[Path, str]] = field(default_factory=list)
    people: tuple[Person, ...] = ()
    timing: Timing = UNTIMED
    notes: list[str] = field(default_factory=list)
    problem: str = ""


def by_student(deliveries: Iterable[Delivery]) -> Iterator[tuple[str, list[Delivery]]]:
    """Deliveries of each student, with an id that is safe as a folder name and nobody else's.

    People get their ids too: the first of a student's first delivery has the student's.
    """
    found: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        found.setdefault(delivery.student, []).append(delivery)
    taken: set[str] = set()
    known: dict[str, str] = {}
    used: set[str] = set()
    for attempts in found.values():
        for person in (person for delivery in attempts for person in delivery.people):
            if _identity(person) not in known:
                known[_identity(person)] = safe_id(person.student, taken)
        first = attempts[0].people[0] if attempts[0].people else None
        student = known[_identity(first)] if first else safe_id(attempts[0].owner, taken)
        ids = dict(known)
        if first and student in used:  # the same person again, or one whose id looks the same
            student = ids[_identity(first)] = safe_id(first.student, taken)
        used.add(student)
        for delivery in attempts:
            delivery.people = tuple(
                person.model_copy(update={"student": ids[_identity(person)]})
                for person in delivery.people
            )
        yield student, attempts


def _identity(person: Person) -> str:
    """What tells a person from all others, as far as it is known."""
    return (person.number or person.email or person.name).casefold()
