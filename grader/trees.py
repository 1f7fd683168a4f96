"""Counting and removing folders that a hostile process has filled.

No path below such a folder is ever used: a path may be longer than the kernel takes, and a part
of it may become a link between two looks.  Everything goes by descriptors of folders, opened
without following links, and nothing is recursive.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BLOCK = 512  # unit of st_blocks, whatever the file system (stat(2))
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
SEEN_ONLY = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
# A folder is gone through again when something appears in it meanwhile, but not for ever.
PASSES = 4
LEAST_PRIORITY = 19


@dataclass(frozen=True)
class Bounds:
    """What a folder may hold.

    Attributes:
        files: files and folders in it.
        size: bytes on the disk.
        depth: folders inside each other.
    """

    files: int
    size: int
    depth: int


def exceeds(folder: Path, bounds: Bounds) -> bool:
    """Tell whether a folder holds more than it may; what cannot be looked at is too much.

    Looking ends as soon as that is known, so a folder full of files takes no longer.  What
    vanishes meanwhile is passed over.
    """
    with _Count(bounds) as count:
        try:
            count.enter(folder)
            return any(count.is_exceeded() for _ in count.look())
        except FileNotFoundError:
            return False
        except OSError:
            return True


class _Count:
    """One look at a tree, with a descriptor for each level that it is in."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._files = 0
        self._size = 0
        # Of each level: its descriptor, and the folders in it that are still to be looked at.
        self._levels: list[tuple[int, list[str]]] = []

    def __enter__(self) -> _Count:
        return self

    def __exit__(self, *ended: object) -> None:
        for level, _ in self._levels:
            os.close(level)

    def is_exceeded(self) -> bool:
        """Whether what was seen so far is too much."""
        return self._files > self._bounds.files or self._size > self._bounds.size

    def enter(self, folder: str | Path, within: int | None = None) -> None:
        """Go down into a folder."""
        self._levels.append((os.open(folder, FOLDER, dir_fd=within), []))

    def look(self) -> Iterator[None]:
        """Look at everything, one entry after the other.

        Raises:
            OSError: if something cannot be looked at, or is too deep.
        """
        yield from self._list()
        while self._levels:
            level, waiting = self._levels[-1]
            if not waiting:
                self._levels.pop()
                os.close(level)
                continue
            if len(self._levels) > self._bounds.depth:
                raise OSError("folders inside each other without end")
            with suppress(FileNotFoundError):
                self.enter(waiting.pop(), level)
                yield from self._list()

    def _list(self) -> Iterator[None]:
        level, waiting = self._levels[-1]
        with os.scandir(level) as entries:
            for entry in entries:
                self._files += 1
                with suppress(FileNotFoundError):
                    self._size += entry.stat(follow_symlinks=False).st_blocks * BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.name)
                yield


class _OutOfStepsError(Exception):
    """A removal has taken as many steps as it may."""


def remove_tree(path: Path, steps: int | None = None) -> bool:
    """Remove a file, or a folder with everything in it; links are not followed.  Never raises.

    Folders without permissions get them where they may be given.  Of two processes that remove
    the same folder at the same time one leaves it to the other.

    Args:
        path: in a folder that is trusted.
        steps: entries after which to leave the rest; `None` for all.

    Returns:
        Whether it is gone.
    """
    removal = _Removal(steps)
    with suppress(OSError, _OutOfStepsError):
        within = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            removal.remove(path.name, within)
        finally:
            os.close(within)
    return not os.path.lexists(path)


class _Removal:
    """Removes a tree in a time that is its number of entries, whatever its shape.

    A folder in a folder is moved up to the top before its own entries are removed.  So never
    more than three descriptors are open, and there is no way down that would have to be gone
    back.  An entry that somebody replaces meanwhile is at worst something else inside the tree.
    """

    def __init__(self, steps: int | None) -> None:
        self._steps = itertools.count() if steps is None else iter(range(steps))
        self._numbers = itertools.count()

    def remove(self, name: str, within: int) -> None:
        """Remove an entry of an open folder.

        Raises:
            OSError: if something stays.
        """
        for _ in range(PASSES):
            if self._remove_simply(name, within):
                return
            top = open_folder(name, within)
            try:
                fcntl.flock(top, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._clear(top)
            finally:
                os.close(top)
        os.rmdir(name, dir_fd=within)

    def _clear(self, top: int) -> None:
        """Remove everything in an open folder that can be removed."""
        waiting = self._clear_level(top, top)
        while waiting:
            name = waiting.pop()
            with suppress(OSError):
                folder = open_folder(name, top)
                try:
                    waiting += self._clear_level(folder, top)
                finally:
                    os.close(folder)
                os.rmdir(name, dir_fd=top)

    def _clear_level(self, folder: int, top: int) -> list[str]:
        """Remove what is simple of a folder, and move its full folders to the top.

        Returns:
            Their names there.
        """
        moved = []
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    if not self._remove_simply(entry.name, folder):
                        name = entry.name if folder == top else self._move(entry.name, folder, top)
                        moved.append(name)
        return moved

    def _remove_simply(self, name: str, within: int) -> bool:
        """Remove a file or an empty folder; `False` if it is a folder that is not empty."""
        if next(self._steps, None) is None:
            raise _OutOfStepsError
        try:
            os.unlink(name, dir_fd=within)
            return True
        except FileNotFoundError:
            return True
        except OSError:  # a folder, for which the kernels have different words
            with suppress(OSError):
                os.rmdir(name, dir_fd=within)
                return True
        return False

    def _move(self, name: str, folder: int, top: int) -> str:
        """Move a folder to the top; return its name there."""
        for _ in range(PASSES):
            there = f"removed-{next(self._numbers)}"
            try:
                os.rename(name, there, src_dir_fd=folder, dst_dir_fd=top)
                return there
            except PermissionError:
                allow_owner(name, folder)
            except OSError:  # that name is taken
                continue
        os.rename(name, there, src_dir_fd=folder, dst_dir_fd=top)
        return there


def open_folder(name: str, within: int) -> int:
    """Open a folder whose permissions somebody may have taken away, and give them back.

    Args:
        name: of an entry; not a link.
        within: descriptor of the folder that it is in.

    Raises:
        OSError: if that is not possible.
    """
    try:
        folder = os.open(name, FOLDER, dir_fd=within)
    except PermissionError:
        allow_owner(name, within)
        folder = os.open(name, FOLDER, dir_fd=within)
    if os.fstat(folder).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        with suppress(OSError):
            os.fchmod(folder, stat.S_IRWXU)
    return folder


def allow_owner(name: str, within: int) -> None:
    """Give an entry's owner every permission on it; a link is not followed.

    Raises:
        OSError: if that is not possible.
    """
    seen = os.open(name, SEEN_ONLY, dir_fd=within)
    try:
        # Not by name, behind which a link may be by now; a descriptor to look at has no fchmod.
        os.chmod(f"/proc/self/fd/{seen}", stat.S_IRWXU)  # noqa: PTH101
    finally:
        os.close(seen)


def remove_owned_by(uid: int, folder: Path, steps: int | None = None) -> bool:
    """Remove what a uid has in a folder that everybody may write to.  Never raises.

    Returns:
        Whether that was all.
    """
    gone = True
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid == uid:
                    gone = remove_tree(Path(entry.path), steps) and gone
            if not gone and steps is not None:
                break
    return gone


def remove_in_background(
    trees: Sequence[Path], uid: int | None = None, shared: Sequence[Path] = ()
) -> subprocess.Popen[bytes]:
    """Start a process that removes trees when nobody else needs the processor.

    It goes on when this process ends.

    Args:
        trees: what to remove.
        uid: what belongs to it is removed from the shared folders.
        shared: folders that everybody may write to.

    Raises:
        OSError: if no process can be started.
    """
    task = json.dumps([[*map(str, trees)], uid, [*map(str, shared)]])
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-I", "-B", "-m", __name__, task],
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        env={},
        start_new_session=True,
    )


def main() -> None:
    """What runs in that process."""
    os.nice(LEAST_PRIORITY)
    trees, uid, shared = json.loads(sys.argv[1])
    for tree in trees:
        remove_tree(Path(tree))
    for folder in shared:
        remove_owned_by(uid, Path(folder))


if __name__ == "__main__":
    main()
