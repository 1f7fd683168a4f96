"""Measuring whole commands: CPU and wall time with all their children, and memory as PSS."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.commands.options import default_rubric
from grader.rubric import load_rubric

SAMPLE_SECONDS = 0.02


@dataclass(frozen=True)
class Cost:
    """What a command has used.

    Attributes:
        cpu: processor seconds, user and system, of the command and all it has waited for.
        wall: seconds.
    """

    cpu: float
    wall: float


def cost_of(command: Sequence[str]) -> Cost:
    """Run a command to its end.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=single_threaded())
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall)


def single_threaded() -> dict[str, str]:
    """An environment in which torch uses one thread, as the grader's own does."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def make_class(folder: Path, count: int) -> Path:
    """A class of correct submissions, the costliest kind, that differ in a comment."""
    rubric = load_rubric(default_rubric())
    for number in range(count):
        student = folder / f"student-{number:03}"
        shutil.copytree(rubric.root / rubric.solutions, student)
        for file in student.glob("*.py"):
            file.write_text(f"{file.read_text()}\n# submission {number}\n")
    return folder


def grade_command(
    submissions: Path, out: Path, jobs: int = 1, options: Sequence[str] = ("--fresh", "--json")
) -> list[str]:
    """The command that grades a folder, from scratch if no other options are given."""
    where = ["--out", str(out), "--jobs", str(jobs)]
    return [sys.executable, "-m", "grader", str(submissions), *where, *options]


def fresh_command(submission: Path, report: Path) -> list[str]:
    """The yardstick: one fresh pytest process for one submission."""
    return [sys.executable, "-m", "benchmarks.fresh_process", str(submission), str(report)]


def peak_pss_mb(command: Sequence[str]) -> float:
    """Largest sum of the proportional set sizes of a command and all below it, in MB."""
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=single_threaded())
    return max(pss_mb_of(started))


def pss_mb_of(process: subprocess.Popen[bytes], every: float = SAMPLE_SECONDS) -> list[float]:
    """Sums for a command that runs already, looked at every so many seconds until it ends.

    Processes are read one after the other, so pages that change hands meanwhile count twice.
    """
    looks = []
    while process.poll() is None:
        looks.append(sum(pss_kb(pid) for pid in process_tree(process.pid)) / 1024)
        time.sleep(every)
    return looks


def process_tree(root: int) -> Iterator[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting += children.get(pid, [])


def pss_kb(pid: int) -> int:
    """Proportional set size of a process in kB; 0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line[:4] == "Pss:"), 0)
