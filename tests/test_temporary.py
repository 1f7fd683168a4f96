"""Temporary folders: nobody takes one away that is in use, and none stays of a killed run."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path

import pytest

from grader.temporary import LOCK, TemporaryFolder, remove_abandoned


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
