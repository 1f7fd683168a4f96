"""Temporary folders: nobody takes one away that is in use, and none stays of a killed run."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from grader import temporary
from grader.temporary import DOOMED, LOCK, MODE, TemporaryFolder, remove_abandoned
from tests.test_trees import nest


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where all temporary folders of these tests lie."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_safe_from_its_first_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run that starts before it is locked leaves it alone."""
    lock = fcntl.flock

    def lock_late(descriptor: int, operation: int) -> None:
        if operation == fcntl.LOCK_EX:
            monkeypatch.setattr(fcntl, "flock", lock)
            remove_abandoned()
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    folder = TemporaryFolder("kind")
    assert (folder.path / LOCK).exists()
    remove_abandoned()
    assert (folder.path / LOCK).exists()
    folder.remove()
    assert not folder.path.exists()


def test_a_folder_whose_process_is_gone_is_removed(place: Path) -> None:
    """The lock falls with the process; other folders are somebody else's."""
    for name in ("grade-kind-abc", "others-abc"):
        (place / name).mkdir()
        (place / name / LOCK).touch()
    remove_abandoned()
    assert [path.name for path in place.iterdir()] == ["others-abc"]


def wait_for_the_background() -> None:
    """Wait for what is removed there."""
    while temporary._background:
        assert temporary._background.pop().wait() == 0


def test_what_a_hostile_submission_has_left_is_removed(place: Path) -> None:
    """However deep it is; the run that comes next does not wait for that."""
    for name in ("grade-kind-abc", "grade-kind-xyz"):
        nest(place / name, 1_000)
        (place / name / LOCK).touch()
        (place / name).chmod(0)
    folder = TemporaryFolder("kind")
    wait_for_the_background()
    assert [*place.iterdir()] == [folder.path]
    folder.remove()
    assert [*place.iterdir()] == []


def test_a_removal_that_was_interrupted_is_finished(place: Path) -> None:
    """Its lock may be gone already; its name tells that nobody uses it."""
    nest(place / f"{DOOMED}grade-kind-abc", 3)
    remove_abandoned()
    assert [*place.iterdir()] == []


def test_a_full_folder_is_removed_in_the_background(place: Path) -> None:
    """Whoever ends does not wait for it."""
    folder = TemporaryFolder("kind")
    nest(folder.path / "deep", 1_000)
    folder.remove()
    assert not folder.path.exists()
    wait_for_the_background()
    assert [*place.iterdir()] == []


def test_without_another_process_the_next_run_removes_the_rest(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that cannot be removed is an error."""

    def refuse(trees: list[Path]) -> None:
        raise OSError

    folder = TemporaryFolder("kind")
    nest(folder.path / "deep", 1_000)
    monkeypatch.setattr(temporary, "remove_in_background", refuse)
    folder.remove()
    assert len([*place.iterdir()]) == 1
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    remove_abandoned()
    wait_for_the_background()
    assert [*place.iterdir()] == []


def test_taken_permissions_are_given_back() -> None:
    """Somebody has closed a folder that is in use."""
    folder = TemporaryFolder("kind")
    folder.path.chmod(0)
    folder.mend()
    assert os.stat(folder.path).st_mode & 0o777 == MODE  # noqa: PTH116
    folder.remove()
