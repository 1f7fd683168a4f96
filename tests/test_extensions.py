"""`extensions.csv`: more time for some students, and every fault of the file at once."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from grader.attempts import attempt_id
from grader.errors import TableError
from grader.intake.extensions import load_extensions
from grader.lateness import Extension, LateRules
from grader.model import Person, Submission
from grader.rubric import Rubric

ZONE = timezone(timedelta(hours=2))
DUE = datetime(2026, 10, 3, 23, 59, tzinfo=ZONE)
RULES = LateRules(due=DUE, late_due=DUE + timedelta(days=7))


def submission(student: str, *people: Person, name: str = "") -> Submission:
    return Submission(
        student=student, name=name or student, origin=student, files=(), people=people
    )


CLASS = (
    submission("ann", Person(student="ann", name="Ann A.", email="Ann@x.edu", number="0200")),
    submission("bo"),
    submission(attempt_id("cy", 2), Person(student="cy", name="Cy Same")),
    submission(
        "dan",
        Person(student="dan", name="Dan"),
        Person(student="eve", name="Eve", email="eve@x.edu"),
    ),
    submission("fay", Person(student="fay", name="Cy Same")),
)


def load(
    folder: Path, rubric: Rubric, *lines: str, late: LateRules | None = RULES
) -> dict[str, Extension]:
    """The extensions of the class from a file beside the rubric with these lines."""
    (folder / "extensions.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_extensions(None, rubric.model_copy(update={"late": late, "root": folder}), CLASS)


@pytest.mark.parametrize(
    ("word", "student"),
    [
        ("ann", "ann"),
        ("ANN", "ann"),
        ("Ann A.", "ann"),
        ("ann@x.edu", "ann"),
        ("0200", "ann"),
        ("cy", "cy"),
        ("eve", "dan"),
        ("eve@x.edu", "dan"),
    ],
)
def test_students_are_known_by_id_email_or_name(
    tmp_path: Path, rubric: Rubric, word: str, student: str
) -> None:
    """Whatever the case; a member of a group extends the group."""
    found = load(tmp_path, rubric, "student,days", f"{word},2")
    assert found == {student: Extension(days=Decimal(2))}


def test_times_without_a_zone_are_the_rubrics(tmp_path: Path, rubric: Rubric) -> None:
    """As it is for times of handing in."""
    lines = ("student,due,late_due", "bo,2026-10-05 23:59,2026-10-20T00:00:00Z")
    due = datetime(2026, 10, 5, 23, 59, tzinfo=ZONE)
    late_due = datetime(2026, 10, 20, tzinfo=timezone.utc)
    assert load(tmp_path, rubric, *lines) == {"bo": Extension(due=due, late_due=late_due)}


def test_a_group_has_the_longest_time_of_its_people(tmp_path: Path, rubric: Rubric) -> None:
    """Two lines for one submission do not shorten each other."""
    found = load(tmp_path, rubric, "student,days", "dan,3", "eve,1")
    assert found == {"dan": Extension(days=Decimal(3))}


def test_every_fault_comes_at_once(tmp_path: Path, rubric: Rubric) -> None:
    """With the number of its line and the nearest name."""
    with pytest.raises(TableError) as caught:
        load(
            tmp_path,
            rubric,
            "student,due,late_due,days",
            "annn,,,2",
            "Cy Same,,,2",
            ",,,2",
            "# nobody",
            "bo,,,",
            "bo,,,soon",
            "ann,2026-10-05 23:59,,2",
            "dan,2026-10-01 23:59,,",
            "eve,2026-10-08 23:59,2026-10-07 23:59,",
            "cy,,2026-10-07 23:59,",
            "fay,yesterday,,",
        )
    assert caught.value.problems == (
        "line 2: nobody of the class is annn; perhaps you meant 'ann'",
        "line 3: Cy Same may be each of: cy, fay",
        "line 4: student is empty",
        "line 6: one of due, late_due and days is needed",
        "line 7: days must be a number above 0, such as 2, not 'soon'",
        "line 7: bo stands twice",
        "line 8: give either days or times, and not both",
        "line 9: due is before the rubric's own, 2026-10-03 23:59 +02:00",
        "line 10: late_due is before due",
        "line 11: late_due is before the rubric's own, 2026-10-10 23:59 +02:00",
        "line 12: due must be a time such as 2026-10-03T23:59:00+02:00, not 'yesterday'",
    )


@pytest.mark.parametrize("days", ["0", "-1", "nan", "inf", "1e9", "2 days"])
def test_days_are_a_number_above_zero(tmp_path: Path, rubric: Rubric, days: str) -> None:
    """What is none is a message."""
    with pytest.raises(TableError, match="days must be a number above 0"):
        load(tmp_path, rubric, "student,days", f"bo,{days}")


def test_a_last_time_needs_one_in_the_rubric(tmp_path: Path, rubric: Rubric) -> None:
    """There is nothing to extend otherwise."""
    lines = ("student,late_due", "bo,2026-10-20 23:59")
    with pytest.raises(TableError, match="the rubric has no late_due"):
        load(tmp_path, rubric, *lines, late=LateRules(due=DUE))


def test_extensions_without_a_late_section_are_a_mistake(tmp_path: Path, rubric: Rubric) -> None:
    """They would be without effect, which nobody who writes them expects."""
    with pytest.raises(TableError, match="no section late"):
        load(tmp_path, rubric, "student,days", "bo,2", late=None)


def test_no_file_is_no_extension(tmp_path: Path, rubric: Rubric) -> None:
    """Unless one is asked for by name."""
    here = rubric.model_copy(update={"late": RULES, "root": tmp_path})
    assert load_extensions(None, here, CLASS) == {}
    with pytest.raises(TableError, match="cannot be read"):
        load_extensions(tmp_path / "absent.csv", here, CLASS)
