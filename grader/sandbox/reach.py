"""What a worker tries, behind its walls, to read a file that it must not see.

Runs in a worker before any submission is examined, so that a wall that does not hold is noticed
by the instructor and not by a student.  The walls differ from machine to machine, and so do the
ways around them: every one that has ever been found is tried.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

# Descriptors to look at, and folders to climb, at most: a worker holds far fewer.
MAX_DESCRIPTORS = 64
MAX_CLIMB = 16


def way_to(path: Path) -> str:
    """How a file can be read, or a folder be listed; empty if it cannot.

    Args:
        path: absolute, without links.
    """
    for way, attempt in _attempts(path):
        with suppress(OSError):
            if attempt():
                return way
    return ""


def _attempts(path: Path) -> Iterator[tuple[str, Callable[[], bool]]]:
    yield "by its path", lambda: _readable(path)
    yield "by a relative path", lambda: _readable(Path(os.path.relpath(path)))
    for process in ("self", os.getppid(), 1):
        root = Path(f"/proc/{process}/root")
        yield f"through {root}", lambda root=root: _readable(root / path.relative_to("/"))  # type: ignore[misc]
    yield "through a link", lambda: _through(path, os.symlink)
    yield "through a second name", lambda: _through(path, os.link)
    for descriptor in _open_folders():
        yield "from an open folder", lambda d=descriptor: _from_descriptor(d, path)  # type: ignore[misc]


def _readable(path: Path | str, folder: int | None = None) -> bool:
    """Read the first byte of a file, or the names in a folder.

    Raises:
        OSError: if that is refused.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK, dir_fd=folder)
    try:
        with suppress(IsADirectoryError):
            os.read(descriptor, 1)
            return True
        os.listdir(descriptor)  # noqa: PTH208  # by descriptor
        return True
    finally:
        os.close(descriptor)


def _through(path: Path, give_name: Callable[[Path, str], None]) -> bool:
    """Give a file another name in the scratch folder, and read that."""
    name = "another-name"
    give_name(path, name)
    try:
        return _readable(name)
    finally:
        os.unlink(name)  # noqa: PTH108


def _open_folders() -> Iterator[int]:
    for descriptor in range(MAX_DESCRIPTORS):
        with suppress(OSError):
            os.stat(".", dir_fd=descriptor)
            yield descriptor


def _from_descriptor(folder: int, path: Path) -> bool:
    """Climb from an open folder past folders that are closed from above."""
    for height in range(MAX_CLIMB):
        for depth in range(1, len(path.parts)):
            with suppress(OSError):
                below = os.path.join(*path.parts[depth:])  # noqa: PTH118
                if _readable("../" * height + below, folder):
                    return True
    return False
