"""What a worker may leave behind: files, and processes where it could start any."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from grader.sandbox.policy import FIRST_UID, LANDLOCK, SECCOMP, SHARED_FOLDERS, UID_COUNT
from grader.sandbox.uids import claim
from grader.trees import remove_in_background, remove_owned_by, remove_tree

# A worker that has left more than so many files is cleaned up after in the background.
STEPS = 200


def end_all_of(uid: int, walls: Sequence[str]) -> None:
    """Kill what a worker has started.  Behind seccomp it cannot start a process."""
    if SECCOMP not in walls:
        kill_everything_of(uid)


def remove_files(
    scratch: Path, uid: int | None, walls: Sequence[str]
) -> subprocess.Popen[bytes] | None:
    """Remove a worker's scratch folder, and what else it could write.

    Behind Landlock it cannot write anywhere else.

    Args:
        scratch: its folder.
        uid: its own user, if it had one.
        walls: those around it.

    Returns:
        The process that removes what is more than a little.
    """
    shared = SHARED_FOLDERS if uid is not None and LANDLOCK not in walls else ()
    if _removed(scratch, uid, shared, STEPS):
        return None
    try:
        return remove_in_background([scratch], uid, list(map(Path, shared)))
    except OSError:  # no process can be started: then everybody waits
        _removed(scratch, uid, shared, None)
        return None


def _removed(scratch: Path, uid: int | None, shared: Sequence[str], steps: int | None) -> bool:
    gone = [remove_tree(scratch, steps)]
    if uid is not None:
        gone += [remove_owned_by(uid, Path(folder), steps) for folder in shared]
    return all(gone)


def kill_everything_of(uid: int) -> None:
    """Kill all processes of a uid, until none is left.

    The limit on processes of that uid bounds how many there can be.
    """
    while pids := [pid for pid, owner in _processes() if owner == uid and _alive(pid)]:
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def end_orphans() -> None:
    """Kill workers whose server was killed, and which have outlived it.

    They run under a uid that nobody has claimed.  Claims are known inside one network namespace
    only, so what runs in another one, as in a container, is left alone.
    """
    if os.geteuid() != 0:
        return
    ours = range(FIRST_UID, FIRST_UID + UID_COUNT)
    for uid in {owner for pid, owner in _processes() if owner in ours and _is_near(pid)}:
        claimed = claim(uid)
        if claimed is not None:
            kill_everything_of(uid)
            claimed.release()


def _processes() -> Iterator[tuple[int, int]]:
    """Pid and uid of every process."""
    with os.scandir("/proc") as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.isdigit():
                    yield int(entry.name), entry.stat().st_uid


def _is_near(pid: int) -> bool:
    """Whether a process runs in this network namespace."""
    with suppress(OSError):
        near = os.readlink("/proc/self/ns/net") == os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115
        return near and _alive(pid)
    return False


def _alive(pid: int) -> bool:
    """Tell a process from one that has ended and only waits to be collected."""
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state not in "ZX"
    return False
