"""Copies a submission's files to where its worker may read them, and nothing else."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from grader.files import naming
from grader.intake.layouts import MAX_FILE_BYTES
from grader.model import Submission
from grader.temporary import TemporaryFolder

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

    Use it as a context manager; it is removed at the end.
    """

    def __enter__(self) -> StagingArea:
        self._folder = TemporaryFolder("staging")
        self.root = self._folder.path
        self._written: dict[Path, list[Path]] = {}
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
        folder = Path(tempfile.mkdtemp(dir=self.root, prefix="submission-"))
        written = self._written[folder] = []
        for name, content in sources:
            target = folder / name
            with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
                # A folder may have the name that a milestone's file got back; files go first.
                target.parent.mkdir(parents=True, exist_ok=True)
                with naming(target):
                    target.write_bytes(content)
                target.chmod(READ_ALL)
                written.append(target)
        for parent, _, _ in os.walk(folder):
            Path(parent).chmod(stat.S_IRWXU | READ_ALL | ENTER_ALL)
        return folder

    def is_whole(self, folder: Path) -> bool:
        """Whether every file that was staged is still there.

        Where somebody has removed one, as tools do that clear temporary folders, what was found
        out since is not the student's fault.
        """
        return all(path.is_file() for path in self._written[folder])

    def remove(self, folder: Path) -> None:
        """Remove one submission's folder."""
        del self._written[folder]
        shutil.rmtree(folder, ignore_errors=True)
