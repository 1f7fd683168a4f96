"""What tells a graded submission from a changed one."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.batch import rubric_digest, setup_of, submission_digest, suite_digest
from grader.examiner.lasting import LastingNursery
from grader.examiner.messages import Job
from grader.executor import Local
from grader.intake.layouts import single_submission
from grader.intake.staging import StagingArea, read_sources
from grader.model import Submission
from grader.provenance import provenance
from grader.rubric import Rubric, load_rubric
from grader.sandbox.policy import ALL_WALLS
from tests.support import small_assignment


@pytest.fixture
def small(tmp_path: Path) -> Rubric:
    """A small assignment."""
    return load_rubric(small_assignment(tmp_path / "small", "def test_one(): pass\n"))


def digest_after(small: Rubric, old: str, new: str) -> str:
    """Digest of everything but the submission after a change of the rubric's file."""
    path = small.root / "rubric.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return suite_digest(provenance(load_rubric(path), ALL_WALLS))


def test_a_changed_suite_changes_the_digest(small: Rubric) -> None:
    """After a hidden test was mended every submission is examined again."""
    before = suite_digest(provenance(small, ALL_WALLS))
    (small.suite_folder / "test_answer.py").write_text("def test_one(): assert 1\n")
    assert suite_digest(provenance(small, ALL_WALLS)) != before


def test_a_helper_of_the_suites_counts_too(small: Rubric) -> None:
    """Hidden tests may import from files beside them."""
    before = suite_digest(provenance(small, ALL_WALLS))
    (small.suite_folder / "helper.py").write_text("X = 1\n")
    assert suite_digest(provenance(small, ALL_WALLS)) != before


def test_changed_limits_change_the_digest(small: Rubric) -> None:
    """Another time limit may give another result."""
    changed = digest_after(small, "milestones:", "limits: {question_seconds: 3}\nmilestones:")
    assert changed != suite_digest(provenance(small, ALL_WALLS))


def test_changed_points_do_not_change_the_digest(small: Rubric) -> None:
    """Points and titles are applied to saved reports: nothing runs again."""
    before = suite_digest(provenance(small, ALL_WALLS))
    assert digest_after(small, "points: 10", "points: 20") == before


def test_a_milestones_other_file_changes_the_digest(small: Rubric) -> None:
    """Which file serves a milestone decides what its tests see."""
    before = suite_digest(provenance(small, ALL_WALLS))
    assert digest_after(small, "file: answer.py", "file: solution.py") != before


def submission(folder: Path, small: Rubric, **files: bytes) -> Submission:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / f"{name}.py").write_bytes(content)
    return single_submission(folder, small)


def digest(found: Submission, suites: str = "s") -> str:
    return submission_digest(read_sources(found), found, suites)


def test_the_digest_follows_the_files(tmp_path: Path, small: Rubric) -> None:
    """Content, names and further files count; a second look at the same files does not."""
    folder = tmp_path / "ann"
    first = digest(submission(folder, small, answer=b"x = 1\n"))
    assert digest(submission(folder, small, answer=b"x = 1\n")) == first
    assert digest(submission(folder, small, answer=b"x = 2\n")) != first
    assert digest(submission(folder, small, other=b"x = 1\n")) != first
    assert digest(submission(folder, small, answer=b"x = 1\n", other=b"")) != first


def test_the_digest_follows_what_intake_says(tmp_path: Path, small: Rubric) -> None:
    """A note or a problem, and the suites' digest, are part of it."""
    found = submission(tmp_path / "ann", small, answer=b"x = 1\n")
    assert digest(replace(found, notes=("left out",))) != digest(found)
    assert digest(replace(found, problem="two files")) != digest(found)
    assert digest(found, "other suites") != digest(found)


def test_comments_of_the_rubric_do_not_count(small: Rubric) -> None:
    """The rubric's digest follows its meaning, not its layout."""
    path = small.root / "rubric.yaml"
    before = rubric_digest(small)
    path.write_text("# a comment\n" + path.read_text())
    assert rubric_digest(load_rubric(path)) == before
    path.write_text(path.read_text().replace("points: 10", "points: 11"))
    assert rubric_digest(load_rubric(path)) != before


def test_the_setup_names_suites_and_limits(small: Rubric) -> None:
    """The nursery is told absolute paths and every limit of the rubric."""
    setup = setup_of(small, jobs=3)
    assert setup.suites == (str(small.suite_folder.resolve() / "test_answer.py"),)
    assert (setup.question_seconds, setup.submission_seconds) == (10, 120)
    assert (setup.memory_mb, setup.output_kb, setup.jobs) == (2048, 64, 3)
    assert [(m.id, m.file) for m in setup.milestones] == [("answer", "answer.py")]


def test_a_file_name_that_is_no_text_can_be_graded(tmp_path: Path, small: Rubric) -> None:
    """A name in another encoding reaches the examiner instead of ending the run."""
    found = submission(tmp_path / "eve", small, answer=b"x = 1\n")
    (tmp_path / "eve" / os.fsdecode(b"gr\xfc\xdfe.py")).write_bytes(b"y = 1\n")
    found = single_submission(tmp_path / "eve", small)
    sources = read_sources(found)
    assert submission_digest(sources, found, "s")
    with StagingArea() as staging:
        folder = str(staging.stage(sources))
    job = Job(
        student="eve", folder=folder, candidates=found.candidates, report="", log="", facts={}
    )
    assert Job.model_validate_json(job.model_dump_json()) == job


def test_staged_files_are_there_until_nothing_examines_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run that ends early takes no file away from an examination in progress."""
    there = []
    end = LastingNursery.__exit__

    def look_and_end(nursery: LastingNursery, *why: Any) -> None:
        there.append(executor._staging.root.is_dir())
        end(nursery, *why)

    monkeypatch.setattr(LastingNursery, "__exit__", look_and_end)
    with Local(1, ()) as executor:
        pass
    assert there == [True]
