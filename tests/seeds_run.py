"""Grades the corpus once for each of several seeds, and compares what students are given.

`python -m tests.seeds_run [--seeds N] [--first SEED] [--jobs N] [CASE ...]` prints every case whose
score.json is not the same, byte for byte, with every seed, and what differs.
"""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.rubric import load_rubric
from tests.corpus_run import (
    RUBRIC,
    case_names,
    grade_class,
    load_case,
    quick_rubric,
    stage_case,
)

# Whoever runs it twice looks at other seeds only if asked to: what it finds can be found again.
FIRST_SEED = 1
MAX_LINES = 6  # of a difference that are shown


def scorecards(
    names: Sequence[str], seeds: Sequence[int], folder: Path, *options: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """Each seed with the score.json of every case.

    Args:
        names: of the cases.
        seeds: one run of the real command for each.
        folder: for the class and the results.
        options: of the command.
    """
    rubric = load_rubric(RUBRIC)
    for name in names:
        stage_case(load_case(name), rubric, folder / "class" / name)
    path = quick_rubric(folder)
    for seed in seeds:
        out = folder / f"results-{seed}"
        given = ("--rubric", str(path), "--seed", str(seed), *options)
        grade_class(folder / "class", out, *given)
        yield seed, {name: (out / "students" / name / "score.json").read_text() for name in names}


def differing(first: Mapping[str, str], other: Mapping[str, str]) -> dict[str, list[str]]:
    """Lines that differ between two runs, for each case whose score.json is not the same."""
    return {
        name: changed_lines(text, other[name])
        for name, text in first.items()
        if text != other[name]
    }


def changed_lines(before: str, after: str) -> list[str]:
    """The lines that are only in one of two texts."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def main() -> int:
    """Print every difference; 1 if there is any."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="CASE")
    given = parser.parse_args()
    names = given.names or case_names()
    seeds = range(given.first, given.first + given.seeds)
    wrong: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        runs = scorecards(names, seeds, Path(folder), "--jobs", str(given.jobs))
        _, first = next(runs)
        for seed, cards in runs:
            for name, lines in differing(first, cards).items():
                wrong.add(name)
                print(f"{name}: seeds {given.first} and {seed}:", *lines[:MAX_LINES], sep="\n  ")
            print(f"seed {seed} compared with seed {given.first}", flush=True)
    print(f"{len(names) - len(wrong)} of {len(names)} cases are the same with {len(seeds)} seeds")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
