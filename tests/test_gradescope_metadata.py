"""submission_metadata.json: used as far as it is as documented, and never a crash."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.gradescope.metadata import Metadata, read_metadata
from grader.model import Timing

PACIFIC = timezone(timedelta(hours=-7))
DOCUMENTED: dict[str, Any] = {
    "id": 123456,
    "created_at": "2026-10-01T14:22:32.365935-07:00",
    "assignment": {
        "due_date": "2026-10-03T23:00:00.000000-07:00",
        "group_size": 4,
        "group_submission": True,
        "id": 25828,
        "course_id": 1234,
        "late_due_date": None,
        "release_date": "2026-09-02T00:00:00.000000-07:00",
        "title": "Lesson 82",
        "total_points": "20.0",
    },
    "submission_method": "upload",
    "users": [{"email": "one@x.edu", "id": 1, "name": "Pair One"}],
    "previous_submissions": [
        {"submission_time": "2026-09-30T14:24:48.087023-07:00", "score": 3.0, "results": {"a": 1}},
        {"submission_time": "2026-09-29T14:24:48.087023-07:00", "score": 2.0},
        {"submission_time": "2026-09-30T15:00:00.0-07:00", "score": 0.0, "autograder_error": True},
        {"submission_time": "2026-09-30T16:00:00.0-07:00", "score": None},
    ],
}


def read(tmp_path: Path, content: object) -> tuple[Metadata, str]:
    path = tmp_path / "submission_metadata.json"
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(text)
    return read_metadata(path)


def test_the_documented_example_is_understood(tmp_path: Path) -> None:
    """Times with their zone, points written as text, people, and earlier submissions."""
    metadata, oddity = read(tmp_path, DOCUMENTED)
    assert oddity == ""
    assert metadata.created_at == datetime(2026, 10, 1, 14, 22, 32, tzinfo=PACIFIC)
    assert metadata.assignment is not None
    assert metadata.assignment.due_date == datetime(2026, 10, 3, 23, tzinfo=PACIFIC)
    assert metadata.assignment.late_due_date is None
    assert metadata.assignment.total_points == 20.0
    assert [user.name for user in metadata.users] == ["Pair One"]


def test_earlier_submissions_come_in_order_and_without_failures(tmp_path: Path) -> None:
    """One that failed at no fault of the student, or has no score, is none to compare with."""
    metadata, _ = read(tmp_path, DOCUMENTED)
    assert [previous.score for previous in metadata.graded_before] == [2.0, 3.0]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"id": 1} trailing', b"[" * 100_000],
)
def test_a_file_that_is_none_is_told_and_not_used(tmp_path: Path, content: bytes) -> None:
    """The instructor reads so; nobody gets a crash."""
    metadata, oddity = read(tmp_path, content)
    assert metadata == Metadata()
    assert "not what Gradescope documents" in oddity


ODD_TIMES = [0, 20, 20.0, "0", "20.0", "1790000000", True, "2026-10-01", "2026-10-01T10:00:00"]


@pytest.mark.parametrize("odd", ODD_TIMES)
def test_what_is_no_time_with_a_zone_is_no_time(tmp_path: Path, odd: object) -> None:
    """A number of seconds would be a due time long ago, and take all points."""
    times = {"due_date": odd, "late_due_date": odd}
    metadata, _ = read(tmp_path, {"created_at": odd, "assignment": times})
    assert metadata.timing == Timing()


def test_true_is_no_score(tmp_path: Path) -> None:
    """It would be one point."""
    metadata, _ = read(tmp_path, {"previous_submissions": [{"score": True}]})
    assert metadata.graded_before == ()


@pytest.mark.parametrize(
    "name", [b"\xef\xbb\xbf", b'"odd": "\xff"', b'"odd": "\\ud800"', b'"users": [{"name": "\xe4"}]']
)
def test_one_bad_byte_does_not_discard_the_rest(tmp_path: Path, name: bytes) -> None:
    """Nor does a mark of the encoding, or half a character."""
    content = b'{"created_at": "2026-10-01T14:22:32Z"'
    content = name + content if b'"' not in name else content + b", " + name
    metadata, oddity = read(tmp_path, content + b"}")
    assert oddity == ""
    assert metadata.created_at is not None


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    """A run by hand has none."""
    metadata, oddity = read_metadata(tmp_path / "submission_metadata.json")
    assert metadata == Metadata()
    assert "No such file" in oddity


@pytest.mark.parametrize(
    "odd",
    [
        {"created_at": 7.5e300},
        {"created_at": "yesterday"},
        {"created_at": "2026-10-01T14:22:32"},
        {"assignment": []},
        {"assignment": {"due_date": {"at": 1}, "total_points": "many"}},
        {"users": {"name": "no list"}},
        {"users": [None, 3, {"name": ["x"], "email": None}]},
        {"previous_submissions": "none"},
        {"previous_submissions": [[], {"score": "1e999"}, {"results": 3, "score": "nan"}]},
        {"id": {"odd": True}, "new key": [1]},
    ],
)
def test_an_odd_part_leaves_the_rest(tmp_path: Path, odd: dict[str, Any]) -> None:
    """Only what is odd is missing then."""
    metadata, oddity = read(tmp_path, {**DOCUMENTED, **odd})
    assert oddity == ""
    whole, _ = read(tmp_path, DOCUMENTED)
    for name in Metadata.model_fields.keys() - odd.keys():
        assert getattr(metadata, name) == getattr(whole, name)
    assert not metadata.graded_before or "previous_submissions" not in odd


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*DOCUMENTED, "score", "name"]), inner, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_no_json_is_a_crash(tmp_path_factory: pytest.TempPathFactory, content: object) -> None:
    """Whatever stands in the file, an object of the model comes out."""
    path = tmp_path_factory.getbasetemp() / "any_metadata.json"
    path.write_text(json.dumps(content))
    metadata, _ = read_metadata(path)
    assert isinstance(metadata.graded_before, tuple)
