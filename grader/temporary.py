"""Temporary folders that a killed run does not leave behind for ever."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "grade-"
UNLOCKED = "new-"
LOCK = ".lock"
ENTER_ALL = stat.S_IXGRP | stat.S_IXOTH


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
        self.path.chmod(stat.S_IRWXU | ENTER_ALL)

    def remove(self) -> None:
        """Remove it with everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_abandoned() -> None:
    """Remove the temporary folders of runs that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if path.is_symlink() or path.stat().st_uid != os.geteuid():
                continue
            lock = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
