"""Copies a submission's files to where its worker may read them, and nothing else."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from grader.files import fingerprints, naming
from grader.intake.layouts import MAX_FILE_BYTES
from grader.model import Submission
from grader.sandbox.policy import STAGED
from grader.temporary import TemporaryFolder
from grader.trees import remove_tree

READ_ALL = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
ENTER_ALL = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


def read_sources(submission: Submission) -> list[tuple[str, bytes]]:
    """Name and content of each file that can be read, in the submission's order."""
    sources = []
    for source in submission.files:
        content = _read_regular(source.path)
        if content is not None:
            sources.append((source.name, content))
    return sources


def _read_regular(path: Path) -> bytes | None:
    """Content of a regular file; a link, pipe, device or oversized file is passed over."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as stream:
        content = stream.read(MAX_FILE_BYTES + 1)
    return content if len(content) <= MAX_FILE_BYTES else None


class StagingArea:
    """A folder whose entries can be reached only by who knows their random names.

    Use it as a context manager; it is removed at the end.  Several threads may use it.
    """

    def __enter__(self) -> StagingArea:
        self._folder = TemporaryFolder("staging")
        self.root = self._folder.path
        self._staged: dict[Path, dict[str, str]] = {}
        self._lock = threading.Lock()
        self._touched = self._last_touched()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.remove()

    def stage(self, sources: Sequence[tuple[str, bytes]]) -> Path:
        """Write a submission's files into a folder of its own, readable but not writable.

        Raises:
            OSError: if a file cannot be written.
        """
        with self._own_change():
            # Closed to all but the owner: a worker with a user of its own is let in alone.
            folder = Path(tempfile.mkdtemp(dir=self.root, prefix="submission-")) / STAGED
            folder.mkdir()
        written = []
        for name, content in sources:
            target = folder / name
            with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
                # A folder may have the name that a milestone's file got back; files go first.
                target.parent.mkdir(parents=True, exist_ok=True)
                with naming(target):
                    target.write_bytes(content)
                target.chmod(READ_ALL)
                written.append(name)
        for parent, _, _ in os.walk(folder):  # of intake's names, a few levels deep
            Path(parent).chmod(stat.S_IRWXU | READ_ALL | ENTER_ALL)
        with self._own_change():
            self._staged[folder] = fingerprints(folder, written)
        return folder

    def fingerprints(self, folder: Path) -> dict[str, str]:
        """What the staged files of a submission look like while nobody touches them.

        Nothing where somebody has closed the whole area meanwhile.
        """
        return self._staged[folder]

    def is_whole(self, folder: Path) -> bool:
        """Whether nobody has touched what was staged.

        Where somebody has removed, changed or closed a file, as tools do that clear temporary
        folders, what was found out since is not the student's fault.
        """
        with self._own_change():
            as_staged = self._staged[folder]
        return bool(as_staged) and fingerprints(folder, as_staged) == as_staged

    def remove(self, folder: Path) -> None:
        """Remove one submission's folder."""
        with self._own_change():
            del self._staged[folder]
            remove_tree(folder.parent)

    @contextmanager
    def _own_change(self) -> Iterator[None]:
        """Change what lies in the area, after a look whether somebody else has touched it.

        Nothing that is staged counts as whole then, even if it can be read again.
        """
        with self._lock:
            if self._last_touched() != self._touched:
                self._staged = {folder: {} for folder in self._staged}
                with suppress(OSError):  # it is gone, which the next change will tell
                    self._folder.mend()
            try:
                yield
            finally:
                self._touched = self._last_touched()

    def _last_touched(self) -> int:
        """A time that nobody can set, in nanoseconds; 0 if the area is gone."""
        with suppress(OSError):
            return self.root.stat().st_ctime_ns
        return 0
