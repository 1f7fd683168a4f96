"""The walls around a worker, put up by the worker itself before it loads student code."""

from __future__ import annotations

import ctypes
import functools
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import landlock, seccomp
from grader.sandbox.policy import (
    ALL_WALLS,
    DESCRIPTORS,
    DEVICES,
    ENVIRONMENT,
    ENVIRONMENT_WALL,
    LANDLOCK,
    LIMITS,
    MEGABYTE,
    NO_NEW_PRIVILEGES,
    SECCOMP,
    UID,
    WorkerPolicy,
)

# linux/prctl.h
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38
# What a user may start besides while a class is graded, before a worker gets no more threads.
SPARE_THREADS = 1_000
LIBC = ctypes.CDLL(None, use_errno=True)

# Descriptor of a file or folder, and what may be done with it and all below it.
FileRule = tuple[int, landlock.Access]


@dataclass(frozen=True)
class Preparation:
    """What a worker finds ready when it puts up its walls.

    Attributes:
        rules: descriptor of the rules on files; `None` without that wall.
        limits: the kernel's limits, with their soft and hard values.
        last_descriptor: the highest that is open.
    """

    rules: int | None
    limits: Sequence[tuple[int, tuple[int, int]]]
    last_descriptor: int


def prepare(
    policy: WorkerPolicy, own_uid: bool, scratch: Path, libraries: Sequence[FileRule]
) -> Preparation:
    """Make ready what a worker inherits: its environment, rules on files, and limits.

    Before the fork this takes a tenth of what it takes after it, where every page of memory that
    is touched has to be copied first.

    Args:
        policy: the limits, and which walls to put up.
        own_uid: whether the worker has a user of its own.
        scratch: the only folder that the worker may write to; becomes HOME.
        libraries: files and folders that may be read, by descriptor.

    Returns:
        What `confine` needs.  The descriptor in it is to be closed in this process.

    Raises:
        OSError: if a wall cannot be put up; no worker must be started then.
    """
    if ENVIRONMENT_WALL in policy.walls:
        os.environ.clear()
        os.environ.update(ENVIRONMENT, HOME=str(scratch), TMPDIR=str(scratch))
        tempfile.tempdir = str(scratch)  # it has looked already, and would not look again
    rules = file_rules(policy.folder, scratch, libraries) if LANDLOCK in policy.walls else None
    limits = limits_of(policy, own_uid) if LIMITS in policy.walls else []
    return Preparation(rules, limits, highest_descriptor())


def confine(
    policy: WorkerPolicy,
    uid: int | None,
    scratch: Path,
    prepared: Preparation,
    keep: Collection[int] = (),
    parent: int | None = None,
) -> None:
    """Give up every right that student code does not need.  There is no way back.

    Args:
        policy: the limits, and which walls to put up.
        uid: user and group to become; `None` keeps the present user.
        scratch: becomes the working directory.
        prepared: from `prepare`.
        keep: descriptors that stay open.
        parent: pid of the process with which this one must end; `None` for the present one.

    Raises:
        OSError: if a wall cannot be put up; the worker must not go on then.
    """
    walls = policy.walls
    if DESCRIPTORS in walls:
        rules = () if prepared.rules is None else (prepared.rules,)
        close_descriptors({*keep, *rules}, prepared.last_descriptor)
    if LIMITS in walls:
        for kind, bounds in prepared.limits:
            resource.setrlimit(kind, bounds)
        be_first_to_go()
    if uid is not None:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    die_with_parent(os.getppid() if parent is None else parent)
    if NO_NEW_PRIVILEGES in walls:
        _prctl(PR_SET_DUMPABLE, 0)
        _prctl(PR_SET_NO_NEW_PRIVS, 1)
    os.umask(0o077)
    os.chdir(scratch)
    if prepared.rules is not None:
        landlock.restrict(prepared.rules)
    if SECCOMP in walls:
        seccomp.install_filter()


def file_rules(folder: str, scratch: Path, libraries: Sequence[FileRule]) -> int:
    """What a worker may still reach: libraries and its own files to read, scratch to write.

    Returns:
        Descriptor of a Landlock ruleset.

    Raises:
        OSError: if a folder is not there, or the kernel refuses.
    """
    with ExitStack() as opened:

        def reach(path: str | Path) -> int:
            descriptor = os.open(path, os.O_PATH)
            opened.callback(os.close, descriptor)
            return descriptor

        rules = [*libraries, (reach(folder), landlock.READ), (reach(scratch), landlock.WRITE)]
        writing = landlock.Access.READ_FILE | landlock.Access.WRITE_FILE
        rules += [(reach(path), writing) for path in DEVICES if os.path.exists(path)]  # noqa: PTH110
        return landlock.make_ruleset(rules, landlock.abi_version())


def available_walls() -> tuple[str, ...]:
    """The walls that this machine can give, by asking the kernel; nothing is put up."""
    missing = set()
    if os.geteuid() != 0:
        missing.add(UID)
    if sys.platform != "linux":
        missing |= {NO_NEW_PRIVILEGES, LANDLOCK, SECCOMP}
    elif landlock.abi_version() < 1:
        missing.add(LANDLOCK)
    if SECCOMP not in missing and not seccomp.supported():
        missing.add(SECCOMP)
    return tuple(wall for wall in ALL_WALLS if wall not in missing)


def limits_of(policy: WorkerPolicy, own_uid: bool) -> list[tuple[int, tuple[int, int]]]:
    """The kernel's limits for a worker that is this process, or is forked from it.

    The limit on processes counts all threads of a user; where that user is not the worker's own,
    those that were there when this process first looked come on top.

    Returns:
        Each limit with its soft and hard value.
    """
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: policy.file_mb * MEGABYTE,
        # What stays open does not count: there are hundreds of libraries.
        resource.RLIMIT_NOFILE: policy.open_files
        + (0 if DESCRIPTORS in policy.walls else highest_descriptor()),
        resource.RLIMIT_CPU: policy.cpu_seconds,
    }
    if sys.platform == "linux":
        limits[resource.RLIMIT_AS] = address_space_bytes() + policy.memory_mb * MEGABYTE
        present = 0 if own_uid else threads_of_user()
        limits[resource.RLIMIT_NPROC] = present + policy.processes
    return [(kind, _bounds(kind, value)) for kind, value in limits.items()]


def _bounds(kind: int, value: int) -> tuple[int, int]:
    """Soft and hard value of one limit, within the hard one that is in force."""
    hard = resource.getrlimit(kind)[1]
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # At the soft limit of processor time comes SIGXCPU, which tells it from other deaths.
    above = bound + 5 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else 0
    return bound, max(bound, above)


@functools.cache
def threads_of_user() -> int:
    """How many threads this process's user has now, with room for as many more of others."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            if process.stat().st_uid == os.geteuid():
                count += sum(1 for _ in (process / "task").iterdir())
    return 2 * count + SPARE_THREADS


def be_first_to_go() -> None:
    """Have the kernel, when memory runs short, end this process before any other.

    Only a wish: a container may show /proc read-only.
    """
    with suppress(OSError):  # not by `Path`, which takes four times as long in a new process
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        try:
            os.write(descriptor, b"1000")
        finally:
            os.close(descriptor)


def address_space_bytes() -> int:
    """Address space that this process has mapped now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def close_descriptors(keep: Collection[int], highest: int) -> None:
    """Close every descriptor up to the highest, but 0, 1, 2 and those in `keep`."""
    last = 2
    for descriptor in sorted(keep):
        os.closerange(last + 1, descriptor)
        last = max(last, descriptor)
    os.closerange(last + 1, highest + 1)


def highest_descriptor() -> int:
    """The highest descriptor that is open; a limit on new ones says nothing of it."""
    try:
        return max(int(entry.name) for entry in os.scandir("/proc/self/fd"))
    except OSError:  # another system, or no /proc
        return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process when its parent ends.

    Args:
        parent: pid of the process that has forked this one.
    """
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the kernel was told
        os._exit(0)


def _prctl(option: int, argument: int) -> None:
    if LIBC.prctl(option, argument, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl {option}: {os.strerror(error)}")
