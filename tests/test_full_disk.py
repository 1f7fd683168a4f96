"""A disk that is full, becomes read-only, or takes no large file: said, nothing torn, gone on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.disturbances import Class, contents, graded, make_class
from tests.support import PATIENCE_SECONDS, together

STUDENTS = 2
PAGE = os.sysconf("SC_PAGE_SIZE")
# Far more than the results of the class, and fast to fill.
DISK_BYTES = 128 * PAGE
LIMITED = """
import resource, sys
from grader.cli import run
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
sys.exit(run())
"""
# No room is left for a submission.json, report.json, score.json and feedback.md in turn: the
# second run writes two of the first and a log.
FREE_PAGES = (0, 3, 1, 1)
FULL = [f"full {number}" for number in range(len(FREE_PAGES))]
HINT = "make room and run the same command again"


@dataclass(frozen=True)
class Ended:
    """A run, and the results folder as it was left.

    Attributes:
        files: contents by name.
        done: how the command ended.
    """

    done: subprocess.CompletedProcess[str]
    files: dict[str, bytes]


@dataclass(frozen=True)
class Runs:
    """The runs of these tests, by name; those that begin with `full` follow one another.

    Attributes:
        undisturbed: what the results folder must hold in the end.
    """

    ended: dict[str, Ended]
    undisturbed: dict[str, bytes]


def mount(folder: Path) -> bool:
    """Mount a small disk; tell whether that is allowed here."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def disks() -> Iterator[dict[str, Path]]:
    """Three small disks: for results, for results that become read-only, for staged files.

    Workers, which have users of their own, can get to the last one.
    """
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o711)
    disks = {name: folder / name for name in ("results", "read-only", "staging")}
    mounted = [path for path in disks.values() if mount(path)]
    try:
        if len(mounted) < len(disks):
            pytest.skip("no file system can be mounted here")
        yield disks
    finally:
        for path in mounted:
            subprocess.run(["umount", "--lazy", str(path)], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def fill(disk: Path, pages: int) -> Path:
    """Fill a disk but for some pages; the file that does so."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    filler.write_bytes(bytes(shutil.disk_usage(disk).free - pages * PAGE))
    return filler


def run_on_full_disks(small: Class, disk: Path) -> dict[str, Ended]:
    """Each run writes a little more; at last there is room enough."""
    results, ended = disk / "results", {}
    for name, pages in zip(FULL, FREE_PAGES, strict=True):
        filler = fill(disk, pages)
        ended[name] = Ended(small.grade(results), contents(results))
    filler.unlink()
    ended["room"] = Ended(small.grade(results), contents(results))
    return ended


def run_without_room_to_stage(small: Class, results: Path, disk: Path) -> dict[str, Ended]:
    """There is room for one staged file, and then for all.

    A folder for temporary files in which there is no room at all is passed over by Python.
    """
    filler = fill(disk, 1)
    environment = {"TMPDIR": str(disk)}
    full = Ended(small.grade(results, environment=environment), contents(results))
    left = {str(path.relative_to(disk)): b"" for path in disk.rglob("submission-*/*")}
    filler.unlink()
    again = Ended(small.grade(results, environment=environment), contents(results))
    return {"staging": full, "staged": again, "left": Ended(full.done, left)}


def run_on_a_disk_that_becomes_read_only(small: Class, disk: Path) -> dict[str, Ended]:
    """The hidden test of the second student makes it so."""
    results = disk / "results"
    (small.folder / "assignment" / "suites" / "mount").write_text(str(disk))
    read_only = Ended(small.grade(results, "read-only s1"), contents(results))
    still = Ended(small.grade(results), contents(results))
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    return {"read-only": read_only, "still": still,
            "writable": Ended(small.grade(results), contents(results))}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, disks: dict[str, Path]) -> Runs:
    """All runs on small disks."""
    folder = tmp_path_factory.mktemp("runs")
    small = make_class(folder / "small", STUDENTS)
    found = together(
        {
            "undisturbed": lambda: {"": Ended(small.grade(folder / "results"), {})},
            "full": lambda: run_on_full_disks(small, disks["results"]),
            "staging": lambda: run_without_room_to_stage(
                small, folder / "staged", disks["staging"]
            ),
        }
    )
    found["read-only"] = run_on_a_disk_that_becomes_read_only(small, disks["read-only"])
    ended = {name: one for some in found.values() for name, one in some.items()}
    return Runs(ended, contents(folder / "results"))


@pytest.mark.parametrize("name", [*FULL, "staging"])
def test_a_full_disk_is_said(runs: Runs, name: str) -> None:
    """Status 1, which file found no room and what to do, and no traceback."""
    done = runs.ended[name].done
    assert done.returncode == 1
    assert "No space left on device: /" in done.stderr
    assert HINT in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("name", [*FULL, "staging", "read-only", "still"])
def test_nothing_is_torn(runs: Runs, name: str) -> None:
    """What is there is what an undisturbed run writes, whole, and no temporary file beside it."""
    assert runs.ended[name].files.items() <= runs.undisturbed.items()


def test_the_disk_fills_at_another_file_each_time(runs: Runs) -> None:
    """The report, which the examination writes; the others, which the command does."""
    filling = [runs.ended[name].done.stderr.splitlines()[0] for name in FULL]
    files = [line.rpartition("/")[2] for line in filling]
    assert files == ["submission.json", "report.json", "score.json", "feedback.md"]


@pytest.mark.parametrize("name", ["room", "staged", "writable"])
def test_it_goes_on_when_there_is_room(runs: Runs, name: str) -> None:
    """Nobody needs attention for our full disk: everybody has the score of an undisturbed run."""
    assert runs.ended[name].done.returncode == 0
    assert runs.ended[name].files == runs.undisturbed


def test_no_staged_file_is_left(runs: Runs) -> None:
    """What was staged is removed, however the run ends."""
    assert runs.ended["left"].files == {}


def test_a_disk_that_becomes_read_only_is_said(runs: Runs) -> None:
    """In the midst of a run, and before one; the first student is kept."""
    first, second = runs.ended["read-only"], runs.ended["still"]
    assert (first.done.returncode, second.done.returncode) == (1, 2)
    assert "Read-only file system: /" in first.done.stderr
    assert "students/s1/report.json" in first.done.stderr
    assert "cannot be written" in second.done.stderr
    assert "students/s0/score.json" in first.files
    assert "Traceback" not in first.done.stderr + second.done.stderr


def test_files_may_not_grow(tmp_path: Path) -> None:
    """A limit on the size of files is another full disk, and needs no rights."""
    small, results = make_class(tmp_path, STUDENTS), tmp_path / "results"
    command = [sys.executable, "-c", LIMITED, *map(str, small.arguments(results))]
    limited = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
    )
    assert limited.returncode == 1
    assert "File too large" in limited.stderr
    assert HINT in limited.stderr
    assert not graded(results)
    early = {f"students/s{number}/submission.json" for number in range(STUDENTS)}
    assert contents(results).keys() == {"students/s0/log.txt", *early}
