"""`make soak`: classes of 100, 1,000 and 10,000 submissions, and whether the cost of one stays.

Usage: python -m benchmarks.growth [SIZE…]
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import grade_command, make_class, pss_mb_of, single_threaded
from grader.results import Results

SIZES = (100, 1_000, 10_000)
JOBS = 2
# Looking at the memory of all processes takes 5 ms, so it is not done all the time.
SAMPLE_SECONDS = 0.5


@dataclass(frozen=True)
class Growth:
    """One class.

    Attributes:
        submissions: how many.
        wall: seconds from start to end: listing, hashing, examining, writing and reporting.
        cpu: processor seconds of all processes.
        memory_mb: sum of the proportional set sizes of all processes, which it was below in 95
            of 100 looks.  The more looks, the higher is the highest: a large class has more.
        peak_mb: the highest of the looks.
        again: seconds of a second run, in which everything is up to date.
    """

    submissions: int
    wall: float
    cpu: float
    memory_mb: float
    peak_mb: float
    again: float

    def row(self) -> str:
        """A row of the table."""
        each = 1000 / self.submissions
        return (
            f"| {self.submissions:,} | {self.wall:.0f} | {self.wall * each:.1f} | "
            f"{self.cpu * each:.1f} | {self.memory_mb:.0f} | {self.peak_mb:.0f} | "
            f"{self.again * each:.2f} |"
        )


def main(sizes: Sequence[int]) -> None:
    """Grade each class, print a table, and the same as JSON."""
    print(
        "| submissions | wall s | wall ms each | CPU ms each | PSS MB, 95 % | PSS MB, peak | "
        "up to date, ms each |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    found = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="grade-growth-") as name:
            found.append(grow(Path(name), size))
        print(found[-1].row(), flush=True)
    print(json.dumps([vars(growth) for growth in found], indent=2))


def grow(folder: Path, size: int) -> Growth:
    """Grade a class of a size, twice.

    Raises:
        SystemExit: if a submission has not got every point.
    """
    crowd, out = make_class(folder / "class", size), folder / "out"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    memory = pss_mb_of(_start(crowd, out, "--fresh"), SAMPLE_SECONDS)
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    _start(crowd, out).wait()
    again = time.perf_counter() - begun
    _check(out, size)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    most = statistics.quantiles(memory, n=20, method="inclusive")[-1]
    return Growth(size, wall, cpu, most, max(memory), again)


def _start(crowd: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    command = grade_command(crowd, out, JOBS, options)
    silent = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=silent, stderr=silent, env=single_threaded())


def _check(out: Path, size: int) -> None:
    """All have full marks, on disk and in the gradebook."""
    scores = [json.loads(path.read_text())["score"] for path in out.glob("students/*/score.json")]
    rows = Results(out).gradebook.read_text(encoding="utf-8").count("graded")
    if scores != [100.0] * size or rows != size:
        sys.exit(f"{size} submissions: {scores.count(100.0)} with full marks, {rows} in the book")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or SIZES)
