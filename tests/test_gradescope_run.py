"""The run in the container, without the container: limits, lateness, deadline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from grader.errors import AssignmentError, DeadlineError, TableError
from grader.gradescope import run as running
from grader.gradescope.results_format import FailedRun, parse_results
from grader.gradescope.run import (
    DEFAULT_CONTAINER_MB,
    LEAST_MEMORY_MB,
    Layout,
    check,
    fitted_limits,
    handed_in,
)
from grader.rubric import Limits
from tests.scenarios import SUITE
from tests.support import small_assignment

RIGHT = "DEED = {deed!r}\n\n\ndef answer(x):\n    return x\n"
LATE = """
late:
  due: 2026-10-01T00:00:00+00:00
  penalty: {percent: 10, per: day, cap: 50}
attempts: best
"""
ONE_SECOND = "\nlimits: {submission_seconds: 1}\n"
METADATA: dict[str, Any] = {
    "created_at": "2026-10-06T12:00:00.0Z",
    "assignment": {"due_date": "2026-10-03T18:00:00.0Z", "late_due_date": None},
    "users": [{"name": "Ann", "email": "ann@x.edu"}, {"name": "Bo", "email": "bo@x.edu"}],
    "previous_submissions": [
        {"submission_time": "2026-10-02T08:00:00Z", "score": 4.0},
        {"submission_time": "2026-10-03T08:00:00Z", "score": 2.0},
    ],
}


@contextmanager
def nested_without_end(folder: Path) -> Iterator[None]:
    """A chain of folders below one, whose whole path is longer than the kernel takes."""
    before = Path.cwd()
    try:
        os.chdir(folder)
        for _ in range(1200):
            Path("d").mkdir()
            os.chdir("d")
        os.chdir(before)
        yield
    finally:
        os.chdir(before)
        subprocess.run(["rm", "-rf", folder / "d"], check=True)  # shutil would recurse as deep


def place(folder: Path, deed: str, metadata: object = None, more: str = "") -> Path:
    """Gradescope's layout with an assignment of its own; `ann` has handed in one file."""
    rubric = small_assignment(folder / "source" / "assignment", SUITE)
    rubric.write_text(rubric.read_text() + more)
    for name, wanted in (("submission", deed), ("source/assignment/solutions", "right")):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "answer.py").write_text(RIGHT.format(deed=wanted))
    (folder / "results").mkdir()
    if metadata is not None:
        (folder / "submission_metadata.json").write_text(json.dumps(metadata))
    return folder


def run(root: Path, seconds: int = 100) -> tuple[subprocess.CompletedProcess[str], bytes]:
    """What `run_autograder` starts, and the bytes of results.json."""
    options = ["run", "--root", str(root), "--seconds", str(seconds)]
    done = subprocess.run(
        [sys.executable, "-m", "grader.gradescope", *options], capture_output=True, text=True
    )
    return done, (root / "results" / "results.json").read_bytes()


def test_late_work_of_a_group_is_counted_as_the_rubric_says(tmp_path: Path) -> None:
    """The platform's due time, one member's extension for all, the best attempt, the progress."""
    root = place(tmp_path, "right", METADATA, LATE)
    extensions = root / "source" / "assignment" / "extensions.csv"
    extensions.write_text("student,days\nbo@x.edu,1\nsomebody@x.edu,3\n")
    done, written = run(root)
    assert done.returncode == 0, done.stderr
    results = json.loads(written)
    assert results["score"] == 8.0  # 1 day 18 h late: two days begun, 10 % each
    assert results["extra_data"]["earned"] == 10.0
    for told in (
        "Handed in 1 day 18 h late",
        "(with your extension)",
        "Since your last submission: +8",
        "Handed in for Ann and Bo.",
    ):
        assert told in results["output"].replace("\\", "")
    assert "best" not in results["output"]


def test_an_earlier_submission_may_be_the_best(tmp_path: Path) -> None:
    """Its score stands then, and the output says so."""
    done, written = run(place(tmp_path, "wrong", METADATA, LATE))
    assert done.returncode == 0, done.stderr
    results = json.loads(written)
    assert results["score"] == 4.0
    assert "**Score: 3.5 of 10**" in results["output"]
    assert "Your best submission counts: 4 points, of 2026-10-02" in (
        results["output"].replace("\\", "")
    )
    assert [test["score"] for test in results["tests"]] == [5.0]


def test_a_run_that_takes_too_long_is_our_failure(tmp_path: Path) -> None:
    """What was handed in is named, no score is there, and the log says why."""
    done, written = run(place(tmp_path, "right", more=ONE_SECOND), seconds=1)
    assert done.returncode == 1
    assert "was not done after 1 seconds" in done.stdout
    assert isinstance(parse_results(written), FailedRun)
    assert "answer.py" in written.decode()


@pytest.mark.parametrize("differing", [False, True])
def test_several_versions_are_those_of_one_student(tmp_path: Path, differing: bool) -> None:
    """Equal copies are graded; the student of differing ones reads which of them to leave."""
    root = place(tmp_path, "right")
    (root / "submission" / "answer.py").unlink()
    for number in range(4):
        (root / "submission" / f"v{number}").mkdir()
        text = RIGHT.format(deed="right") + f"# {number}\n" * differing
        (root / "submission" / f"v{number}" / "answer.py").write_text(text)
    done, written = run(root)
    assert done.returncode == 0, done.stdout
    results = json.loads(written)
    assert results.get("score") == (None if differing else 10.0)
    assert ("Several files could be" in results["output"]) == differing


def test_folders_without_end_are_no_crash(tmp_path: Path) -> None:
    """Files are named as deep as they are graded, and even a failure leaves a whole file."""
    root = place(tmp_path, "right")
    layout = Layout(root)
    layout.rubric.unlink()
    with nested_without_end(layout.submission):
        assert list(handed_in(layout.submission)) == ["answer.py"]
        assert running.run(layout, 420) == 1
    written = layout.results.read_bytes()
    assert isinstance(parse_results(written), FailedRun)
    assert b"answer.py" in written


def test_a_failure_to_tell_of_a_failure_is_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What run_autograder has left before stays, and says the same."""

    def broken(layout: Layout, results: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(running, "write_results", broken)
    assert running.run(Layout(place(tmp_path, "right")), 0) == 1
    assert "results.json could not be written: too deep" in capfd.readouterr().out


def test_a_fault_of_a_hidden_test_is_no_zero(tmp_path: Path) -> None:
    """The submission is not at fault, so there is no score."""
    done, written = run(place(tmp_path, "divide"))
    assert done.returncode == 1
    assert "division by zero" in done.stdout
    assert isinstance(parse_results(written), FailedRun)
    assert b"division" not in written


@pytest.mark.parametrize(
    ("rubric_mb", "container_mb", "expected"),
    [
        (2048, DEFAULT_CONTAINER_MB, 320),
        (2048, 1536, 1088),
        (512, 1536, 512),
        (2048, 300, LEAST_MEMORY_MB),
        (2048, 1 << 20, 2048),
    ],
)
def test_memory_is_fitted_to_the_container(
    rubric_mb: int, container_mb: int, expected: int
) -> None:
    """Never more than the rubric says, and what the grader itself leaves."""
    limits = fitted_limits(Limits(memory_mb=rubric_mb), 420, container_mb)
    assert limits.memory_mb == expected


@pytest.mark.parametrize(
    ("rubric", "whole", "expected"),
    [(120, 420, 120), (900, 420, 315), (900, 600, 480), (120, 121, 91), (120, 80, 60), (5, 6, 5)],
)
def test_an_examination_ends_before_the_whole_run(rubric: int, whole: int, expected: int) -> None:
    """So that a student's endless loop is a verdict, and not our failure."""
    assert fitted_limits(Limits(submission_seconds=rubric), whole).submission_seconds == expected


@pytest.mark.parametrize(("rubric", "whole"), [(120, 77), (120, 1), (60, 77), (5, 4), (120, 0)])
def test_a_run_too_short_to_be_fair_examines_nobody(rubric: int, whole: int) -> None:
    """Slow but right work would lose its points without a word."""
    with pytest.raises(DeadlineError, match="SECONDS_AT_MOST"):
        fitted_limits(Limits(submission_seconds=rubric), whole)


def test_wrong_extensions_are_found_when_the_image_is_built(tmp_path: Path) -> None:
    """And not at the first student; a line about anybody is fine, since nobody is known yet."""
    root = place(tmp_path, "right", more=LATE)
    rubric = root / "source" / "assignment" / "rubric.yaml"
    (rubric.parent / "extensions.csv").write_text("student,days\nann,many\n")
    with pytest.raises(TableError, match="days must be a number"):
        check(rubric)
    (rubric.parent / "extensions.csv").unlink()
    (rubric.parent / "solutions" / "answer.py").write_text(RIGHT.format(deed="wrong"))
    with pytest.raises(AssignmentError, match="The number is wrong"):
        check(rubric)
