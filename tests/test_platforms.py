"""Downloads of platforms: whose they are, when they came, and which are attempts of one student."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import SubmissionsError
from grader.intake.layouts import find_submissions
from grader.intake.platforms import read_name
from grader.rubric import Rubric
from tests.submissions import best, facts, names
from tests.test_layouts import FILES, put

M1, M2, M3 = FILES


@pytest.mark.parametrize(
    ("time", "iso"),
    [
        ("Oct 10, 2025 1022 AM", "2025-10-10T10:22:00"),
        ("Oct 10, 2025 922 PM", "2025-10-10T21:22:00"),
        ("October 1, 2025 1205 AM", "2025-10-01T00:05:00"),
        ("Sept. 1, 2025 1205 PM", "2025-09-01T12:05:00"),
        ("Oct 10, 2025 9 AM", "2025-10-10T09:00:00"),
        ("Oct 10, 2025 12 PM", "2025-10-10T12:00:00"),
        ("Oct 10, 2025 1422", "2025-10-10T14:22:00"),
    ],
)
def test_brightspace_writes_times_without_a_colon(time: str, iso: str) -> None:
    """One to four digits; the month short or full."""
    found = read_name(f"39786-640693 - Jane Doe - {time}", folder=True)
    assert found is not None
    assert found.timing.submitted is not None
    assert (found.name, found.timing.submitted.isoformat()) == ("Jane Doe", iso)


@pytest.mark.parametrize(
    "time", ["10 oct. 2025 10:22", "Foo 10, 2025 1022 AM", "Oct 40, 2025 9 AM"]
)
def test_a_brightspace_time_that_cannot_be_read_is_noted(
    tmp_path: Path, rubric: Rubric, time: str
) -> None:
    """The student is still known, and nothing is made up."""
    put(tmp_path / f"1-2 - Jane Doe - {time}", M1)
    (found,) = find_submissions(tmp_path, rubric)
    assert facts(found) == ("Jane-Doe", "Jane Doe", None)
    assert found.notes == (f"The time of handing in cannot be read: {time}.",)


@pytest.mark.parametrize("top", ["", "Milestone 1"])
def test_brightspace_folders_are_attempts(tmp_path: Path, rubric: Rubric, top: str) -> None:
    """Of one student each; the download's own folder may be there or not."""
    class_folder = tmp_path / top
    put(class_folder / "7-1 - Jane - Ann Doe - Oct 10, 2025 922 AM", M1)
    put(class_folder / "7-2 - Jane - Ann Doe - Oct 10, 2025 1022 AM", M1, M2)
    put(class_folder / "8-3 - Bo - Oct 9, 2025 100 PM", M1)
    put(class_folder, "index.html")
    first, second, third = sorted(find_submissions(tmp_path, best(rubric)), key=facts)
    assert facts(first) == ("Bo", "Bo", "2025-10-09T13:00:00")
    assert facts(second) == ("Jane---Ann-Doe/attempts/1", "Jane - Ann Doe", "2025-10-10T09:22:00")
    assert facts(third)[0::2] == ("Jane---Ann-Doe/attempts/2", "2025-10-10T10:22:00")
    assert names(third) == [M1, M2]
    assert [s.student for s in find_submissions(tmp_path, rubric)] == [
        "Bo",
        "Jane---Ann-Doe/attempts/2",
    ]


def test_namesakes_are_told_apart_by_their_number(tmp_path: Path, rubric: Rubric) -> None:
    """Two people of one name are not attempts of one."""
    put(tmp_path / "7-1 - Jane Doe - Oct 10, 2025 922 AM", M1)
    put(tmp_path / "8-2 - Jane Doe - Oct 10, 2025 922 AM", M1)
    found = find_submissions(tmp_path, rubric)
    assert [(one.student, one.attempts) for one in found] == [("Jane-Doe", 0), ("Jane-Doe-2", 0)]
    assert [one.people[0].number for one in found] == ["7", "8"]


def test_blackboard_files_are_grouped_by_user_and_attempt(tmp_path: Path, rubric: Rubric) -> None:
    """The text file tells the name, and where the user name begins."""
    for user, time in (
        ("j_doe", "10-03-23-59-59"),
        ("j_doe", "10-04-08-00-00"),
        ("bo", "10-01-00-00-01"),
    ):
        stem = f"Milestone_1_{user}_attempt_2025-{time}"
        put(tmp_path, f"{stem}_{M1}", f"{stem}_milestone2_ffn (1).py")
        name = {"j_doe": "Jane Doe", "bo": "Bo"}[user]
        put(tmp_path, f"{stem}.txt", content=f"Name: {name} ({user})\nAssignment: Milestone_1\n")
    found = find_submissions(tmp_path, best(rubric))
    assert [facts(one) for one in found] == [
        ("bo", "Bo", "2025-10-01T00:00:01"),
        ("j_doe/attempts/1", "Jane Doe", "2025-10-03T23:59:59"),
        ("j_doe/attempts/2", "Jane Doe", "2025-10-04T08:00:00"),
    ]
    assert all(names(one) == [M1, M2] for one in found)


def test_blackboard_without_text_files_mixes_nobody_up(tmp_path: Path, rubric: Rubric) -> None:
    """Users whose names end alike stay two students."""
    for user in ("a_doe", "b_doe"):
        put(tmp_path, f"M1_{user}_attempt_2025-10-03-23-59-59_{M1}")
    put(tmp_path, f"M1_cy_attempt_2025-13-03-23-59-59_{M1}")
    found = find_submissions(tmp_path, rubric)
    assert [one.student for one in found] == ["cy", "doe", "doe-2"]
    assert [one.owners[0].student for one in found] == ["cy", "doe", "doe-2"]
    assert found[0].timing.unread == "2025-13-03-23-59-59"


def test_a_blackboard_attempt_without_files_is_listed(tmp_path: Path, rubric: Rubric) -> None:
    """Who handed in only a comment has handed in nothing, and is not lost."""
    put(tmp_path, "M1_jdoe_attempt_2025-10-03-23-59-59.txt", content="Name: Jane Doe (jdoe)\n")
    (found,) = find_submissions(tmp_path, rubric)
    assert (facts(found)[:2], found.files) == (("jdoe", "Jane Doe"), ())


def test_canvas_names_hold_numbers_and_a_mark(tmp_path: Path, rubric: Rubric) -> None:
    """The second number differs from file to file; the mark tells late, and not how late."""
    put(
        tmp_path,
        f"doesmithjaneq_1234_98765_{M1}",
        "doesmithjaneq_1234_98766_milestone2_ffn-2.py",
        f"oneilanamaría_LATE_1235_98767_{M1}",
        f"anon_aB3xZ_98768_{M1}",
        f"LATE_anon_bB3xZ_98769_{M1}",
        f"late_name_late_77_98770_{M1}",
        "doesmithjaneq_1234_text.html",
    )
    found = {one.student: one for one in find_submissions(tmp_path, rubric)}
    assert {key: one.timing.marked_late for key, one in found.items()} == {
        "anon_aB3xZ": False,
        "anon_bB3xZ": True,
        "doesmithjaneq": False,
        "late_name": True,
        "oneilanamaria": True,
    }
    assert names(found["doesmithjaneq"]) == [M1, M2]
    assert found["oneilanamaria"].owners[0].name == "oneilanamaría"
    assert all(one.timing.submitted is None for one in found.values())


def test_one_late_file_makes_a_canvas_submission_late(tmp_path: Path, rubric: Rubric) -> None:
    """Whichever of its files is read first."""
    put(tmp_path, f"doejane_1234_98765_{M1}", f"doejane_LATE_1234_98766_{M2}")
    (found,) = find_submissions(tmp_path, rubric)
    assert (names(found), found.timing.marked_late) == ([M1, M2], True)


@pytest.mark.parametrize("name", ["ann_12_34", "ann_2", "ann", "2025_10"])
def test_names_of_peoples_own_making_stay_whole(tmp_path: Path, rubric: Rubric, name: str) -> None:
    """Short numbers in a flat name are part of it."""
    put(tmp_path, f"{name}_{M1}")
    (found,) = find_submissions(tmp_path, rubric)
    assert (found.student, found.people) == (name, ())


STAMP = "2015-02-02 15:58:23.948203 UTC\n"


@pytest.mark.parametrize(
    ("top", "stamp", "iso", "notes"),
    [
        ("submitted", STAMP, "2015-02-02T15:58:23+00:00", 0),
        ("submitted", "yesterday", None, 1),
        ("class", STAMP, None, 0),
    ],
)
def test_nbgraders_time_is_taken_from_its_own_folder_only(
    tmp_path: Path, rubric: Rubric, top: str, stamp: str, iso: str | None, notes: int
) -> None:
    """In any other folder the file may be the student's own."""
    put(tmp_path / top / "jdoe" / "ps1", M1)
    put(tmp_path / top / "jdoe" / "ps1", "timestamp.txt", content=stamp)
    (found,) = find_submissions(tmp_path / top, rubric)
    assert (facts(found)[2], len(found.notes)) == (iso, notes)


METADATA = """\
---
submission_11:
  :submitters:
  - :name: Pair One
    :sid: 0200
    :email: one@x.edu
  - :name: Pair Two
    :sid: '201'
  :created_at: 2025-10-03 23:59:59.100000000 Z
  :score: 8.0
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    tests: []
submission_12:
  :submitters:
  - :name: Jane =Doe
    :email: jane@x.edu
  :created_at: soon
submission_13:
  :submitters: []
submission_14:
  :submitters:
  - :name: Lost
    :sid: '9'
submission_15: nothing
"""


def export(folder: Path, metadata: str = METADATA) -> Path:
    """A Gradescope export with five submissions in the metadata and as many folders."""
    for number in (11, 12, 13, 15, 16):
        put(folder / f"submission_{number}", M1)
    put(folder, "submission_metadata.yml", content=metadata)
    return folder


@pytest.mark.parametrize("top", ["", "assignment_80_export"])
def test_gradescopes_metadata_tells_people_and_times(
    tmp_path: Path, rubric: Rubric, top: str
) -> None:
    """A group has several people; an id is a text; what is missing is named."""
    export(tmp_path / top)
    found = {one.origin.rpartition("_")[2]: one for one in find_submissions(tmp_path, rubric)}
    pair = found["11"]
    assert facts(pair) == ("0200", "Pair One", "2025-10-03T23:59:59+00:00")
    assert [(p.student, p.number, p.email) for p in pair.owners] == [
        ("0200", "0200", "one@x.edu"),
        ("201", "201", ""),
    ]
    assert facts(found["12"]) == ("jane@x.edu", "Jane =Doe", None)
    assert found["12"].notes == ("The time of handing in cannot be read: soon.",)
    assert found["13"].student == "submission_13"
    nobody = ("Gradescope's export names nobody who handed this in.",)
    assert [found[n].notes for n in ("13", "15", "16")] == [nobody] * 3
    assert found[""].student == "9"
    assert "has no folder submission_14" in found[""].problem


@pytest.mark.parametrize(
    "metadata",
    ["{", "a: [1", "- a\n- b\n", "just words", "", "a: *b\n", "? [a]\n: b\n", "a: " + "[" * 5000],
)
def test_metadata_that_cannot_be_read_is_a_message(
    tmp_path: Path, rubric: Rubric, metadata: str
) -> None:
    """Never a traceback, and it says what to do."""
    export(tmp_path, metadata)
    (tmp_path / "submission_metadata.yml").write_text(metadata)
    with pytest.raises(SubmissionsError, match=r"submission_metadata\.yml") as caught:
        find_submissions(tmp_path, rubric)
    assert "Download the export again" in caught.value.remedy


def test_metadata_in_another_encoding_is_a_message(tmp_path: Path, rubric: Rubric) -> None:
    """As some editor may have left it."""
    export(tmp_path)
    (tmp_path / "submission_metadata.yml").write_bytes("a: M\xfcller".encode("latin-1"))
    with pytest.raises(SubmissionsError):
        find_submissions(tmp_path, rubric)


def test_no_time_comes_from_the_file_system(tmp_path: Path, rubric: Rubric) -> None:
    """A copied file has the time of the copy."""
    put(tmp_path / "ann", *FILES)
    (found,) = find_submissions(tmp_path, rubric)
    assert found.timing.submitted is None


@pytest.mark.parametrize(
    ("front", "student", "late"),
    [
        ("doejane_LATE_1234_98765_", "doejane", True),
        ("Jane Doe_12345_assignsubmission_file_", "Jane Doe_12345_assignsubmission_file_x", False),
    ],
)
def test_a_file_cannot_choose_its_time(
    tmp_path: Path, rubric: Rubric, front: str, student: str, late: bool
) -> None:
    """What a student calls a file does not pass for another platform's name."""
    put(tmp_path, f"{front}x_attempt_2020-01-01-00-00-00_{M1}")
    (found,) = find_submissions(tmp_path, rubric)
    assert found.name.startswith(student)
    assert (found.timing.submitted, found.timing.marked_late) == (None, late)


def test_a_students_own_folder_is_not_taken_for_a_download(tmp_path: Path, rubric: Rubric) -> None:
    """In a class of one, too, nobody writes their own metadata or time."""
    put(tmp_path / "jdoe", M1)
    put(tmp_path / "jdoe", "submission_metadata.yml", content=METADATA)
    put(tmp_path / "jdoe" / "7-1 - Jane Doe - Oct 10, 2025 922 AM", M2)
    (found,) = find_submissions(tmp_path, rubric)
    assert facts(found) == ("jdoe", "jdoe", None)
