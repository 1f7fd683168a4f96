"""The quota on a worker's scratch folder, and who goes first when memory runs short."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader.sandbox.policy import MEGABYTE, WorkerPolicy
from grader.sandbox.scratch import overfull

POLICY = WorkerPolicy(folder="/", memory_mb=1, cpu_seconds=1, scratch_mb=2, scratch_files=10)


def test_an_empty_folder_is_not_overfull(tmp_path: Path) -> None:
    """Nor is one that is gone."""
    assert not overfull(tmp_path, POLICY)
    assert not overfull(tmp_path / "gone", POLICY)


def test_small_files_together_are_counted(tmp_path: Path) -> None:
    """The sum of all files counts, also below folders."""
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * MEGABYTE)
    assert overfull(tmp_path, POLICY)
    assert not overfull(tmp_path, replace(POLICY, scratch_mb=4))


def test_many_files_are_counted(tmp_path: Path) -> None:
    """Files without content take space too: their names."""
    for number in range(11):
        (tmp_path / str(number)).touch()
    assert overfull(tmp_path, POLICY)
    assert not overfull(tmp_path, replace(POLICY, scratch_files=11))


def test_links_are_not_followed(tmp_path: Path) -> None:
    """What lies elsewhere is not the worker's."""
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "file").write_bytes(b"x" * 3 * MEGABYTE)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "link").symlink_to(tmp_path / "large")
    assert not overfull(scratch, POLICY)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_a_worker_is_the_first_to_go() -> None:
    """The kernel is told to end it before any other process."""
    code = (
        "from grader.sandbox.confinement import be_first_to_go; be_first_to_go(); "
        "print(open('/proc/self/oom_score_adj').read())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1000"
