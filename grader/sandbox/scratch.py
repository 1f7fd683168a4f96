"""The quota on a worker's scratch folder; the kernel bounds single files only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from grader.sandbox.policy import MEGABYTE, WorkerPolicy

BLOCK = 512  # unit of st_blocks, whatever the file system (stat(2))


def overfull(scratch: Path, policy: WorkerPolicy) -> bool:
    """Tell whether a scratch folder holds more than the policy allows.

    Looking ends as soon as that is known, so a folder full of files takes no longer.
    """
    space = 0
    for files, entry in enumerate(_entries(str(scratch)), 1):
        with suppress(OSError):
            space += entry.stat(follow_symlinks=False).st_blocks * BLOCK
        if files > policy.scratch_files or space > policy.scratch_mb * MEGABYTE:
            return True
    return False


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """Everything below a folder; what vanishes meanwhile is passed over."""
    waiting = [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
