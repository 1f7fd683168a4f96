"""Staging: what a worker may read, and nothing else."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.intake.layouts import MAX_FILE_BYTES, single_submission
from grader.intake.staging import StagingArea, read_sources
from grader.model import SourceFile, Submission
from grader.rubric import Rubric

ANYBODY_READS = stat.S_IROTH
ANYBODY_ENTERS = stat.S_IXOTH
ANYBODY_WRITES = stat.S_IWOTH | stat.S_IWGRP


def submission_of(*paths: Path) -> Submission:
    files = tuple(SourceFile(place=str(path), name=path.name) for path in paths)
    return Submission(student="ann", name="ann", origin="", files=files)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_content_is_copied_byte_by_byte(tmp_path: Path) -> None:
    """Line ends, encodings and NUL bytes arrive as they were handed in."""
    content = b"\xef\xbb\xbfx = 1\r\n\0\xff"
    (tmp_path / "a.py").write_bytes(content)
    sources = read_sources(submission_of(tmp_path / "a.py"))
    with StagingArea() as staging:
        folder = staging.stage(sources)
        assert (folder / "a.py").read_bytes() == content


def test_others_may_read_but_not_write(tmp_path: Path) -> None:
    """A worker under another uid reads files and folders of the submission."""
    with StagingArea() as staging:
        folder = staging.stage([("a.py", b"1"), ("deep/er/b.py", b"2")])
        for path in (folder / "deep", folder / "deep" / "er", folder):
            assert mode(path) & (ANYBODY_READS | ANYBODY_ENTERS) == ANYBODY_READS | ANYBODY_ENTERS
            assert not mode(path) & ANYBODY_WRITES
        for path in (folder / "a.py", folder / "deep" / "er" / "b.py"):
            assert mode(path) == stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


def test_the_root_cannot_be_listed(tmp_path: Path) -> None:
    """Who does not know a random name does not find other submissions."""
    with StagingArea() as staging:
        assert mode(staging.root) == stat.S_IRWXU | stat.S_IXGRP | stat.S_IXOTH
        first, second = staging.stage([]), staging.stage([])
    assert first != second


def test_a_submissions_copy_is_removed_when_it_is_done() -> None:
    """One folder goes, the others stay; at the end all are gone."""
    with StagingArea() as staging:
        first, second = staging.stage([("a.py", b"")]), staging.stage([("a.py", b"")])
        staging.remove(first)
        assert not first.exists()
        assert second.exists()
    assert not staging.root.exists()


def test_nothing_stays_behind_after_an_error() -> None:
    """An error in the middle of a class removes all copies too."""
    area = StagingArea()

    def stage_and_stop() -> None:
        with area as staging:
            staging.stage([("a.py", b"")])
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stage_and_stop()
    assert not area.root.exists()


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """A link, a pipe, a folder or a device that took a file's place is not opened."""
    (tmp_path / "real.py").write_bytes(b"x")
    (tmp_path / "link.py").symlink_to(tmp_path / "real.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    names = ("real.py", "link.py", "pipe.py", "folder.py", "absent.py")
    paths = [*(tmp_path / name for name in names), Path("/dev/zero")]
    assert read_sources(submission_of(*paths)) == [("real.py", b"x")]


def test_a_file_that_has_grown_too_large_is_not_read(tmp_path: Path) -> None:
    """The limit holds for what is read, whatever was measured before."""
    (tmp_path / "fits.py").write_bytes(b"#" * MAX_FILE_BYTES)
    (tmp_path / "grown.py").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    sources = read_sources(submission_of(tmp_path / "fits.py", tmp_path / "grown.py"))
    assert [name for name, _ in sources] == ["fits.py"]


def test_a_folder_with_a_milestones_name_can_be_staged(tmp_path: Path, rubric: Rubric) -> None:
    """A file that gets its name back does not collide with a folder of that name."""
    (tmp_path / "milestone1_layernorm.py").mkdir()
    (tmp_path / "milestone1_layernorm.py" / "helper.py").write_bytes(b"h")
    (tmp_path / "milestone1_layernorm (1).py").write_bytes(b"m")
    sources = read_sources(single_submission(tmp_path, rubric))
    with StagingArea() as staging:
        folder = staging.stage(sources)
        staged = sorted(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"m" in staged


def change(file: Path) -> None:
    file.chmod(stat.S_IRWXU)
    file.write_bytes(b"y = 1")


def truncate(file: Path) -> None:
    os.truncate(file, 0)


def close(file: Path) -> None:
    file.chmod(0)


def close_for_a_moment(file: Path) -> None:
    before = mode(file)
    file.chmod(0)
    file.chmod(before)


def close_its_folder_for_a_moment(file: Path) -> None:
    close_for_a_moment(file.parent)


def close_everything_for_a_moment(file: Path) -> None:
    close_for_a_moment(file.parents[2])


def replace_it(file: Path) -> None:
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)


TOUCHES = [
    change, truncate, close, close_for_a_moment, close_its_folder_for_a_moment,
    close_everything_for_a_moment, replace_it, Path.unlink,
]  # fmt: skip


@pytest.mark.parametrize("touch", TOUCHES, ids=lambda touch: touch.__name__)
def test_whatever_somebody_does_with_a_staged_file_is_seen(touch: Callable[[Path], None]) -> None:
    """Also what was undone before anybody looked; what is staged later is whole."""
    with StagingArea() as staging:
        folder = staging.stage([("sub/a.py", b"x = 1")])
        time_has_passed(folder / "sub" / "a.py")
        touch(folder / "sub" / "a.py")
        assert not staging.is_whole(folder)
        staging.remove(folder)
        assert staging.is_whole(staging.stage([("sub/a.py", b"x = 1")]))


def time_has_passed(file: Path) -> None:
    """Wait until a change would have another time: the kernel's clock for files has ticks."""
    beside = file.parents[3] / f"clock-{os.getpid()}"
    beside.touch()
    while beside.stat().st_ctime_ns == file.parents[2].stat().st_ctime_ns:
        beside.touch()
    beside.unlink()


def test_an_area_that_somebody_has_closed_is_opened_again() -> None:
    """The next submission can be staged."""
    with StagingArea() as staging:
        folder = staging.stage([("a.py", b"x = 1")])
        time_has_passed(folder / "sub" / "a.py")
        staging.root.chmod(0)
        second = staging.stage([("a.py", b"x = 1")])
        assert not staging.is_whole(folder)
        assert staging.is_whole(second)
        assert mode(staging.root) == stat.S_IRWXU | stat.S_IXGRP | stat.S_IXOTH


def test_a_staged_file_that_is_removed_is_missed() -> None:
    """Only what was staged can be lost: not what gave way to a file of the same name."""
    with StagingArea() as staging:
        folder = staging.stage([("a.py", b"x = 1"), ("a.py/b.py", b""), ("sub/c.py", b"")])
        assert staging.is_whole(folder)
        (folder / "sub" / "c.py").unlink()
        assert not staging.is_whole(folder)
