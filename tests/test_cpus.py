"""Processors really available: affinity and quotas, on made-up file systems."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.cpus import available_cpus, cpu_quota

V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
OTHER = (
    "22 1 8:1 / / rw - ext4 /dev/root rw\n"
    "35 31 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "too short\n"
)


def tree(folder: Path, groups: str, mounts: str, files: Mapping[str, str]) -> Path:
    """A file system with what a process sees of its cgroups."""
    proc = {"proc/self/cgroup": groups, "proc/self/mountinfo": OTHER + mounts}
    for name, text in {**proc, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "quota"),
    [
        ("150000 100000\n", 1.5),
        ("max 100000\n", None),
        ("50000 100000\n", 0.5),
        ("", None),
        ("what\n", None),
        ("100000 0\n", None),
    ],
)
def test_version_2(tmp_path: Path, text: str, quota: float | None) -> None:
    """cpu.max holds quota and period, or `max`; what cannot be read sets no quota."""
    files = {"sys/fs/cgroup/job/cpu.max": text}
    assert cpu_quota(tree(tmp_path, "0::/job\n", V2, files)) == quota


@pytest.mark.parametrize(("quota", "expected"), [("250000", 2.5), ("-1", None), ("0", None)])
def test_version_1(tmp_path: Path, quota: str, expected: float | None) -> None:
    """Quota and period have a file each; -1 is none."""
    folder = "sys/fs/cgroup/cpu,cpuacct/job/"
    files = {folder + "cpu.cfs_quota_us": quota, folder + "cpu.cfs_period_us": "100000\n"}
    groups = "4:memory:/elsewhere\n3:cpu,cpuacct:/job\n0::/\n"
    assert cpu_quota(tree(tmp_path, groups, V1, files)) == expected


def test_the_least_quota_on_the_way_up_counts(tmp_path: Path) -> None:
    """A group has no more than any group above it."""
    files = {
        "sys/fs/cgroup/a/b/c/cpu.max": "max 100000",
        "sys/fs/cgroup/a/b/cpu.max": "300000 100000",
        "sys/fs/cgroup/a/cpu.max": "200000 100000",
        "sys/fs/cgroup/a/b/beside/cpu.max": "100000 100000",
    }
    assert cpu_quota(tree(tmp_path, "0::/a/b/c\n", V2, files)) == 2


def test_both_versions_at_once(tmp_path: Path) -> None:
    """Where version 2 is mounted beside version 1, the quota may be in either."""
    mounts = V1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    cpu = "sys/fs/cgroup/cpu,cpuacct/"
    files = {
        cpu + "job/cpu.cfs_quota_us": "300000",
        cpu + "job/cpu.cfs_period_us": "100000",
        "sys/fs/cgroup/unified/job/cpu.max": "400000 100000",
    }
    assert cpu_quota(tree(tmp_path, "1:cpu,cpuacct:/job\n0::/job\n", mounts, files)) == 3


@pytest.mark.parametrize(
    ("root", "path"),
    [("/docker/1a", "/docker/1a/inner"), ("/docker/1a", "/inner"), ("/", "/../other")],
)
def test_a_container_sees_its_own_group_as_the_mount(tmp_path: Path, root: str, path: str) -> None:
    """Wherever a group lies as seen from elsewhere, what is mounted bounds it."""
    mounts = V2.replace(" / /sys", f" {root} /sys")
    files = {"sys/fs/cgroup/cpu.max": "200000 100000"}
    assert cpu_quota(tree(tmp_path, f"0::{path}\n", mounts, files)) == 2


def test_without_cgroups_there_is_no_quota(tmp_path: Path) -> None:
    """A system without /proc, and one without a cgroup of processors."""
    assert cpu_quota(tmp_path) is None
    assert cpu_quota(tree(tmp_path, "2:cpuset:/job\n", "", {})) is None


@pytest.mark.parametrize(
    ("affinity", "quota", "expected"),
    [(8, "50000", 1), (8, "150000", 1), (8, "300000", 3), (2, "300000", 2), (8, "max", 8)],
)
def test_affinity_and_quota_bound_the_processors(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    affinity: int,
    quota: str,
    expected: int,
) -> None:
    """The lesser of the two, rounded down, but never below 1."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(affinity)))
    files = {"sys/fs/cgroup/job/cpu.max": f"{quota} 100000"}
    assert available_cpus(tree(tmp_path, "0::/job\n", V2, files)) == expected


def test_on_this_machine() -> None:
    """The real file system can be read."""
    assert 1 <= available_cpus() <= len(os.sched_getaffinity(0))
