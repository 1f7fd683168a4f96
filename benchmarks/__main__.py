"""`make bench`: the figures of the README, as ratios measured side by side in one run."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.measuring import (
    Cost,
    cost_of,
    fresh_command,
    grade_command,
    make_class,
    peak_pss_mb,
)
from benchmarks.walls import walls_cost
from grader.batch import torch_version

CLASS_SIZE = 32
ROUNDS = 4
SINGLE_RUNS = 7
Figures = dict[str, float]


def main() -> None:
    """Measure, print a table, and the same as JSON."""
    with tempfile.TemporaryDirectory(prefix="grade-bench-") as name:
        folder = Path(name)
        crowd = make_class(folder / "class", CLASS_SIZE)
        one = make_class(folder / "one", 1)
        figures = {
            "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, Python "
            f"{platform.python_version()}, torch {torch_version()}",
            "class": throughput(crowd, one, folder),
            "one": single(one, folder),
            "walls": walls_cost(),
            "memory_mb": {"one submission": round(peak_pss_mb(grade_command(one, folder / "m")))},
        }
    show(figures)
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


def throughput(crowd: Path, one: Path, folder: Path) -> Figures:
    """CPU and wall for each further submission, against a fresh pytest process for each.

    What a run costs once (importing torch) is taken out by a run with one submission.
    """
    students = sorted(crowd.iterdir())
    fresh: list[Cost] = []
    rounds: list[tuple[Cost, Cost, Cost]] = []
    for number in range(ROUNDS):
        share = students[number::ROUNDS]
        fresh += [cost_of(fresh_command(student, folder / "report.json")) for student in share]
        rounds.append(
            (
                cost_of(grade_command(crowd, folder / "crowd")),
                cost_of(grade_command(crowd, folder / "crowd", jobs=2)),
                cost_of(grade_command(one, folder / "alone")),
            )
        )
    cpu = _further(rounds, lambda crowd, pair, alone: (crowd.cpu, alone.cpu))
    wall = _further(rounds, lambda crowd, pair, alone: (crowd.wall, alone.wall))
    wall_of_two = _further(rounds, lambda crowd, pair, alone: (pair.wall, alone.wall))
    fresh_cpu = statistics.median(cost.cpu for cost in fresh)
    fresh_wall = statistics.median(cost.wall for cost in fresh)
    whole_cpu = statistics.median(crowd.cpu for crowd, _, _ in rounds) / CLASS_SIZE
    return {
        "submissions": CLASS_SIZE,
        "fresh process, CPU s": round(fresh_cpu, 3),
        "fresh process, wall s": round(fresh_wall, 3),
        "each further submission, CPU s": round(cpu, 3),
        "each further submission, wall s": round(wall, 3),
        "each further submission with 2 jobs, wall s": round(wall_of_two, 3),
        "CPU ratio": round(fresh_cpu / cpu, 1),
        "CPU ratio with the start of the run shared out": round(fresh_cpu / whole_cpu, 1),
        "2 jobs against 1, wall": round(wall / wall_of_two, 2),
    }


def _further(
    rounds: Sequence[tuple[Cost, Cost, Cost]],
    pick: Callable[[Cost, Cost, Cost], tuple[float, float]],
) -> float:
    """Median cost of one more submission: many minus one, over the difference."""
    picked = [pick(*costs) for costs in rounds]
    return statistics.median((many - one) / (CLASS_SIZE - 1) for many, one in picked)


def single(one: Path, folder: Path) -> Figures:
    """Wall time of one submission end to end, against importing torch, in turn."""
    importing = [sys.executable, "-c", "import torch"]
    pairs = [
        (cost_of(grade_command(one, folder / "single")).wall, cost_of(importing).wall)
        for _ in range(SINGLE_RUNS)
    ]
    return {
        "one submission, wall s": round(statistics.median(ours for ours, _ in pairs), 2),
        "import torch, wall s": round(statistics.median(theirs for _, theirs in pairs), 2),
        "ratio": round(statistics.median(ours / theirs for ours, theirs in pairs), 2),
    }


def show(figures: Mapping[str, object]) -> None:
    """Print the figures as a Markdown table."""
    sys.stdout.write(f"{figures['machine']}\n\n| figure | value |\n|---|---:|\n")
    for section in ("class", "one", "walls", "memory_mb"):
        rows = figures[section]
        if isinstance(rows, dict):
            for name, value in rows.items():
                unit = ", peak PSS MB" if section == "memory_mb" else ""
                sys.stdout.write(f"| {name}{unit} | {value} |\n")
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
