"""A table of submissions that an instructor has written."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import GraderError, TableError
from grader.intake.layouts import find_submissions
from grader.rubric import Rubric
from tests.submissions import best, facts
from tests.test_layouts import FILES, put

M1, M2, M3 = FILES


def table(folder: Path, *lines: str) -> Path:
    """Two folders and flat files, with a submissions.csv beside them."""
    put(folder, f"v1/{M1}", f"v2/{M1}", f"cy_{M1}", f"cy_{M2}")
    put(folder, "submissions.csv", content="\n".join(lines) + "\n")
    return folder


HEADER = "submission,student,name,email,submitted"


def test_a_table_tells_people_and_times(tmp_path: Path, rubric: Rubric) -> None:
    """Folders by name, flat files by their owner or one of them; the rest stays as it was."""
    table(
        tmp_path,
        HEADER,
        "v2,ann,Ann A.,ann@x.edu,2026-10-04 10:00",
        "# a comment",
        "v1/,Ann,Ann A.,ann@x.edu,2026-10-03T10:00:00+02:00",
        f"cy_{M2},,,,2026-10-03 09:00",
    )
    first, second, cy = find_submissions(tmp_path, best(rubric))
    assert facts(first) == ("Ann/attempts/1", "Ann A.", "2026-10-03T10:00:00+02:00")
    assert facts(second) == ("Ann/attempts/2", "Ann A.", "2026-10-04T10:00:00")
    assert second.owners[0].email == "ann@x.edu"
    assert facts(cy) == ("cy", "cy", "2026-10-03T09:00:00")


def test_several_lines_of_one_submission_are_a_group(tmp_path: Path, rubric: Rubric) -> None:
    """Each of them gets the score."""
    table(tmp_path, HEADER, "v1,ann,Ann,,2026-10-04 10:00", "v1,bo,,,")
    group = next(one for one in find_submissions(tmp_path, rubric) if len(one.people) == 2)
    assert [(p.student, p.name) for p in group.people] == [("ann", "Ann"), ("bo", "bo")]
    assert facts(group)[2] == "2026-10-04T10:00:00"


def test_the_order_of_a_groups_lines_does_not_matter(tmp_path: Path, rubric: Rubric) -> None:
    """The same people are the same group, and its second submission a second attempt."""
    table(
        tmp_path,
        HEADER,
        "v1,ann,Ann,,2026-10-03 20:00",
        "v1,bo,Bo,,",
        "v2,bo,Bo,,2026-10-03 21:00",
        "v2,ann,Ann,,",
    )
    found = find_submissions(tmp_path, best(rubric))
    assert [one.student for one in found] == ["ann/attempts/1", "ann/attempts/2", "cy"]
    assert {frozenset(p.student for p in one.people) for one in found[:2]} == {
        frozenset({"ann", "bo"})
    }


def test_who_is_in_two_groups_is_told(tmp_path: Path, rubric: Rubric) -> None:
    """Two lines with two scores for one person do not pass silently."""
    table(tmp_path, HEADER, "v1,ann,Ann,,", "v1,bo,Bo,,", "v2,ann,Ann,,")
    told = [note for one in find_submissions(tmp_path, rubric) for note in one.notes]
    assert [note for note in told if "Ann has handed in with different people" in note]


def test_every_fault_of_a_table_comes_at_once(tmp_path: Path, rubric: Rubric) -> None:
    """With its line and the nearest name."""
    table(
        tmp_path,
        HEADER,
        "v3,ann,,,2026-10-04 10:00",
        "v1,ann,,,tomorrow",
        "v2,bo,,,2026-10-04 10:00",
        "v2,bo,,,2026-10-05 10:00",
        "cy,cy,,,,,more",
    )
    with pytest.raises(TableError) as caught:
        find_submissions(tmp_path, rubric)
    assert caught.value.problems == (
        "line 2: no such submission: v3; perhaps you meant 'v2'",
        "line 3: submitted must be a time such as 2026-10-03T23:59:00+02:00, not 'tomorrow'",
        "line 5: has another time than the same submission above",
        "line 6: has more cells than the header",
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"submision,student\n", "no such column: submision; perhaps you meant 'submission'"),
        (b"submission,submission\n", "stands twice"),
        (b"student,name\n", "the column submission is missing"),
        (b"\xff\xfe", "is not UTF-8"),
        (b'submission,name\nv1,"open\n' + b"x" * 200_000, "line"),
    ],
)
def test_what_is_no_table_is_a_message(
    tmp_path: Path, rubric: Rubric, content: bytes, says: str
) -> None:
    """The header is checked like everything else."""
    table(tmp_path)
    (tmp_path / "submissions.csv").write_bytes(content)
    with pytest.raises(GraderError, match=says):
        find_submissions(tmp_path, rubric)


def test_semicolons_and_a_mark_of_the_encoding_are_understood(
    tmp_path: Path, rubric: Rubric
) -> None:
    """As spreadsheets of many countries write a CSV."""
    table(tmp_path)
    text = "\ufeffSubmission;Submitted\r\nv1;2026-10-04 10:00\r\n"
    (tmp_path / "submissions.csv").write_bytes(text.encode())
    times = {one.student: facts(one)[2] for one in find_submissions(tmp_path, rubric)}
    assert times == {"v1": "2026-10-04T10:00:00", "v2": None, "cy": None}
