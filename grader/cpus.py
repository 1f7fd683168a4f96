"""Processors that this process may really use: its affinity, and the quotas of its cgroups.

Python's own `os.process_cpu_count` (3.13) and psutil know the affinity only.  loky and Dask read
quotas too, but at fixed paths below /sys/fs/cgroup: they miss the quota of a group in between,
such as a job's on a cluster, and other mount points.  They also round up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path("/")


class Mount(NamedTuple):
    """Where a hierarchy of cgroups is mounted.

    Attributes:
        point: the mount point.
        root: the group that lies there; not the topmost one in many containers.
        controllers: those of a version 1 hierarchy; `None` for version 2.
    """

    point: str
    root: str
    controllers: frozenset[str] | None


def available_cpus(root: Path = ROOT) -> int:
    """Processors that this process may use; at least 1.

    A fraction is rounded down, so that each examination has a processor of its own: one that is
    stopped in mid-answer could run into a time limit that its student has kept.
    """
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    quota = cpu_quota(root)
    return affinity if quota is None else max(1, min(affinity, int(quota)))


def cpu_quota(root: Path = ROOT) -> float | None:
    """The least quota of the cgroups that this process is in, in processors; `None` if none is set.

    Args:
        root: of the file system, in which /proc and the cgroups are looked up.
    """
    try:
        groups = (root / "proc/self/cgroup").read_text()
        mounts = parse_mounts((root / "proc/self/mountinfo").read_text())
    except (OSError, UnicodeDecodeError):
        return None
    quotas = [
        quota
        for folder in group_folders(groups, mounts)
        if (quota := _quota_of(root / folder.lstrip("/"))) is not None
    ]
    return min(quotas, default=None)


def parse_mounts(mountinfo: str) -> list[Mount]:
    """The hierarchies of cgroups in the text of /proc/self/mountinfo (proc(5))."""
    mounts = []
    for line in mountinfo.splitlines():
        place, _, kind = line.partition(" - ")
        fields, kinds = place.split(), kind.split()
        if len(fields) < 5 or not kinds:
            continue
        if kinds[0] == "cgroup2":
            mounts.append(Mount(fields[4], fields[3], None))
        elif kinds[0] == "cgroup":
            mounts.append(Mount(fields[4], fields[3], frozenset(kinds[-1].split(","))))
    return mounts


def group_folders(groups: str, mounts: list[Mount]) -> Iterator[str]:
    """Folders of the process's own cgroups and of all above them, as far as they are mounted.

    Args:
        groups: text of /proc/self/cgroup (cgroups(7)).
        mounts: of the same process.
    """
    for line in groups.splitlines():
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        for mount in mounts:
            if mount.controllers is None:
                holds = number == "0" and not names
            else:
                holds = "cpu" in names.split(",") and "cpu" in mount.controllers
            if holds:
                yield from _upwards(mount, path)


def _upwards(mount: Mount, path: str) -> Iterator[str]:
    """The folder of a group below its mount, then those above it, up to the mount point."""
    group = PurePosixPath(path)
    try:
        below = group.relative_to(mount.root)
    except ValueError:  # the group is seen from inside its container, the mount from outside
        below = PurePosixPath()
    if ".." in below.parts:  # the group lies above what is mounted
        below = PurePosixPath()
    point = PurePosixPath(mount.point)
    for folder in (below, *below.parents):
        yield str(point / folder)


def _quota_of(folder: Path) -> float | None:
    """Quota of one cgroup in processors: version 2's cpu.max, version 1's cpu.cfs_*_us."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        processors = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # "max", or files of another kind
        return None
    return processors if processors > 0 else None  # -1: without a quota
