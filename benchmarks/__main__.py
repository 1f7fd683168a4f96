"""`make bench`: the figures of the README, as ratios measured side by side in one run."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.diagnosis import diagnosis_cost
from benchmarks.floor import floor_cpu
from benchmarks.measuring import (
    Cost,
    cost_of,
    fresh_command,
    grade_command,
    make_class,
    peak_pss_mb,
)
from benchmarks.walls import walls_cost
from grader.versions import torch_version

CLASS_SIZE = 32
CORPUS = Path(__file__).parents[1] / "tests" / "corpus"
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
            "diagnosis": diagnosis_cost(CORPUS),
            "memory_mb": {"one submission": round(peak_pss_mb(grade_command(one, folder / "m")))},
        }
    show(figures)
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


@dataclass(frozen=True)
class Round:
    """One round of the benchmark: everything measured within the same minute or two.

    Attributes:
        fresh: a fresh pytest process for each of a few submissions.
        crowd: the whole class in one run.
        pair: the whole class with two jobs.
        alone: a run with one submission.
        floor: CPU seconds of a fork, the loads and the bare answers of one submission.
    """

    fresh: Sequence[Cost]
    crowd: Cost
    pair: Cost
    alone: Cost
    floor: float

    @property
    def fresh_cpu(self) -> float:
        """CPU seconds of a fresh process."""
        return statistics.mean(cost.cpu for cost in self.fresh)

    @property
    def fresh_wall(self) -> float:
        """Wall seconds of a fresh process."""
        return statistics.mean(cost.wall for cost in self.fresh)

    @property
    def cpu(self) -> float:
        """CPU seconds of one more submission."""
        return _further(self.crowd.cpu, self.alone.cpu)

    @property
    def wall(self) -> float:
        """Wall seconds of one more submission."""
        return _further(self.crowd.wall, self.alone.wall)

    @property
    def wall_of_two(self) -> float:
        """Wall seconds of one more submission when two are examined at a time."""
        return _further(self.pair.wall, self.alone.wall)


def _further(many: float, one: float) -> float:
    """What one more submission costs: what a run costs once (importing torch) is taken out."""
    return (many - one) / (CLASS_SIZE - 1)


def throughput(crowd: Path, one: Path, folder: Path) -> Figures:
    """CPU and wall for each further submission, against a fresh pytest process for each.

    The machine's speed drifts, so each ratio is formed within its round.
    """
    students = sorted(crowd.iterdir())
    rounds = [
        Round(
            [cost_of(fresh_command(s, folder / "report.json")) for s in students[number::ROUNDS]],
            cost_of(grade_command(crowd, folder / "crowd")),
            cost_of(grade_command(crowd, folder / "crowd", jobs=2)),
            cost_of(grade_command(one, folder / "alone")),
            floor_cpu(),
        )
        for number in range(ROUNDS)
    ]

    def middle(figure: Callable[[Round], float], digits: int = 3) -> float:
        return round(statistics.median(figure(one_round) for one_round in rounds), digits)

    return {
        "submissions": CLASS_SIZE,
        "fresh process, CPU s": middle(lambda r: r.fresh_cpu),
        "fresh process, wall s": middle(lambda r: r.fresh_wall),
        "each further submission, CPU s": middle(lambda r: r.cpu),
        "fork, load and bare answers of one, CPU s": middle(lambda r: r.floor),
        "each further submission, wall s": middle(lambda r: r.wall),
        "each further submission with 2 jobs, wall s": middle(lambda r: r.wall_of_two),
        "CPU ratio": middle(lambda r: r.fresh_cpu / r.cpu, 1),
        "CPU ratio of the floor": middle(lambda r: r.fresh_cpu / r.floor, 1),
        "CPU ratio with the start of the run shared out": middle(
            lambda r: r.fresh_cpu * CLASS_SIZE / r.crowd.cpu, 1
        ),
        "2 jobs against 1, wall": middle(lambda r: r.wall / r.wall_of_two, 2),
    }


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
    for section in ("class", "one", "walls", "diagnosis", "memory_mb"):
        rows = figures[section]
        if isinstance(rows, dict):
            for name, value in rows.items():
                unit = ", peak PSS MB" if section == "memory_mb" else ""
                sys.stdout.write(f"| {name}{unit} | {value} |\n")
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
