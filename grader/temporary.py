"""Temporary folders that a killed run does not leave behind for ever."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from grader.trees import allow_owner, open_folder, remove_in_background, remove_tree

PREFIX = "grade-"
UNLOCKED = "new-"
# Nobody uses a folder of this name any more, whether it still has its lock or not.
DOOMED = "old-"
LOCK = ".lock"
MODE = stat.S_IRWXU | stat.S_IXGRP | stat.S_IXOTH
# What has more entries is removed in the background, since nobody should have to wait for it.
STEPS = 500

_background: list[subprocess.Popen[bytes]] = []


class TemporaryFolder:
    """A folder whose entries can be reached by everybody who knows their names, not listed.

    A lock tells that it is in use; it falls with the process, however that ends, and the next
    run removes folders whose lock has fallen.

    Args:
        kind: a word for its name.
    """

    def __init__(self, kind: str) -> None:
        remove_abandoned()
        # Another run may look for abandoned folders before this one is locked.
        fresh = Path(tempfile.mkdtemp(prefix=f"{UNLOCKED}{PREFIX}{kind}-"))
        self._lock = os.open(fresh / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = fresh.rename(fresh.with_name(fresh.name.removeprefix(UNLOCKED)))
        self.path.chmod(MODE)

    def mend(self) -> None:
        """Give the folder its permissions back, if somebody has taken them.

        Raises:
            OSError: if that is not possible.
        """
        if stat.S_IMODE(self.path.stat().st_mode) != MODE:
            self.path.chmod(MODE)

    def remove(self) -> None:
        """Remove it with everything in it, now or very soon.  Never raises."""
        _remove_all([_doomed(self.path)])
        os.close(self._lock)


def remove_abandoned() -> None:
    """Remove the temporary folders of runs that were killed, now or very soon.  Never raises."""
    _remove_all([*_abandoned()])


def _remove_all(folders: list[Path]) -> None:
    left = [path for path in folders if not remove_tree(path, STEPS)]
    if left:
        with suppress(OSError):  # the next run tries again
            _background.append(remove_in_background(left))


def _abandoned() -> Iterator[Path]:
    """Folders of this user that no process uses."""
    place = Path(tempfile.gettempdir())
    with suppress(OSError):
        names = [entry.name for entry in os.scandir(place) if _is_ours(entry)]
        within = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for name in names:
                if name.startswith(DOOMED):
                    yield place / name
                elif _lock_has_fallen(name, within):
                    yield _doomed(place / name)
        finally:
            os.close(within)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    if not entry.name.startswith((PREFIX, DOOMED + PREFIX)):
        return False
    with suppress(OSError):
        found = entry.stat(follow_symlinks=False)
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return False


def _lock_has_fallen(name: str, within: int) -> bool:
    """Whether the process that has locked a folder has ended.  Folders without lock are others'."""
    with suppress(OSError):
        folder = open_folder(name, within)
        try:
            lock = _open_lock(folder)
        finally:
            os.close(folder)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        finally:
            os.close(lock)
    return False


def _open_lock(folder: int) -> int:
    """The lock of an open folder, whose permissions somebody may have taken away too."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(LOCK, flags, dir_fd=folder)
    except PermissionError:
        allow_owner(LOCK, folder)
        return os.open(LOCK, flags, dir_fd=folder)


def _doomed(path: Path) -> Path:
    """Give a folder the name of those that nobody uses: its lock may go before the rest of it."""
    doomed = path.with_name(DOOMED + path.name)
    with suppress(OSError):
        return path.rename(doomed)
    return path
