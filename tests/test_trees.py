"""Counting and removing folders of any shape, by descriptor."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.trees import Bounds, exceeds, remove_in_background, remove_owned_by, remove_tree
from tests.privileges import ordinary_python, run_as_ordinary_user

DEEP = 1_500
AMPLE = Bounds(files=10_000, size=1 << 30, depth=64)
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, and come back by descriptor, however long its path has become."""
    here = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    try:
        yield
    finally:
        os.fchdir(here)
        os.close(here)


def nest(folder: Path, levels: int, name: str = "d") -> Path:
    """Folders inside each other, with a file in the last one."""
    folder.mkdir()
    with inside(folder):
        for _ in range(levels):
            os.mkdir(name)  # noqa: PTH102
            os.chdir(name)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY))
    return folder


def close_some(folder: Path) -> Path:
    """Full folders without any permission, also inside each other, and a link out of them."""
    for number in range(3):
        inner = folder / str(number) / "inner"
        inner.mkdir(parents=True)
        (inner / "file").touch()
        (inner / "link").symlink_to(folder.parent / "elsewhere")
        inner.chmod(0)
        inner.parent.chmod(0o500 if number else 0)
    return folder


def test_a_tree_of_any_depth_is_removed(tmp_path: Path) -> None:
    """Neither recursion nor the number of descriptors is a limit."""
    deep = nest(tmp_path / "deep", DEEP)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    resource.setrlimit(resource.RLIMIT_NOFILE, (held + 5, hard))
    try:
        assert remove_tree(deep)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not deep.exists()


def test_a_path_that_is_too_long_is_no_obstacle(tmp_path: Path) -> None:
    """What lies behind it is counted and removed."""
    long = nest(tmp_path / "long", 40, "d" * 200)
    assert exceeds(long, Bounds(files=40, size=1 << 30, depth=64))
    assert not exceeds(long, Bounds(files=41, size=1 << 30, depth=64))
    assert remove_tree(long)


def test_what_is_too_deep_exceeds_every_bound(tmp_path: Path) -> None:
    """Nobody looks on without end."""
    assert exceeds(nest(tmp_path / "deep", 70), AMPLE)


def test_links_lead_nowhere(tmp_path: Path) -> None:
    """They are removed; what they point to is neither counted, changed nor removed."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_bytes(b"x" * (1 << 20))
    elsewhere.chmod(0o555)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link").symlink_to(elsewhere)
    assert not exceeds(tree, Bounds(files=1, size=1 << 16, depth=64))
    assert remove_tree(tree)
    (tmp_path / "itself").symlink_to(elsewhere)
    assert remove_tree(tmp_path / "itself")
    assert (elsewhere / "file").exists()
    assert elsewhere.stat().st_mode & 0o777 == 0o555


def test_nothing_there_is_nothing_to_do(tmp_path: Path) -> None:
    """A tree that is gone already, or whose folder is, counts as removed."""
    assert remove_tree(tmp_path / "nothing")
    assert remove_tree(tmp_path / "no" / "thing")
    assert not exceeds(tmp_path / "nothing", AMPLE)


def test_a_removal_stops_after_its_steps(tmp_path: Path) -> None:
    """The rest can be removed later, by a process of its own."""
    tree = nest(tmp_path / "tree", 50)
    assert not remove_tree(tree, steps=20)
    assert remove_in_background([tree]).wait() == 0
    assert not tree.exists()


def test_folders_are_removed_whatever_their_permissions(tmp_path: Path) -> None:
    """Those inside each other too."""
    assert remove_tree(close_some(tmp_path / "closed"))


@ROOT_ONLY
def test_only_what_belongs_to_a_uid_is_removed(tmp_path: Path) -> None:
    """From a folder that others use too."""
    for name, uid in (("theirs", 0), ("worker's", 61_511)):
        os.chown(nest(tmp_path / name, 3), uid, uid)
    assert remove_owned_by(61_511, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


def main() -> None:
    """What an ordinary user must be able to do with folders that it cannot enter."""
    place = Path(tempfile.gettempdir())
    closed = close_some(place / "closed")
    assert exceeds(closed, AMPLE)
    assert remove_tree(closed)
    itself = nest(place / "itself", 2)
    itself.chmod(0)
    assert exceeds(itself, AMPLE)
    assert remove_tree(itself)


@ROOT_ONLY
def test_an_ordinary_user_removes_what_nobody_may_enter() -> None:
    """Permissions are given back; until then such a folder is over every quota."""
    with tempfile.TemporaryDirectory(prefix="ordinary-") as name:
        python = ordinary_python(Path(name))
        if python is None:
            pytest.skip("no interpreter of this version that every user may run")
        run_as_ordinary_user(python, ["-m", "tests.test_trees"], Path(name))


if __name__ == "__main__":
    main()
