"""What several test files share: running the real command, and small assignments of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from tests.corpus_run import ROOT, RUBRIC

SOLUTIONS = ROOT / "solutions"
STUBS = ROOT / "assignments"
# Commands that run at the same time where tests do not depend on each other.
TOGETHER = 2
# Far longer than any run takes; a command that hangs fails its test instead of the whole run.
PATIENCE_SECONDS = 120


Result = TypeVar("Result")


@dataclass(frozen=True)
class CorpusRun:
    """The whole corpus, graded once.

    Attributes:
        folder: holds `class` and `results`.
        cards: scorecards by case.
    """

    folder: Path
    cards: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Examined:
    """One submission examined through a nursery.

    Attributes:
        tests: ids of all hidden tests, as the nursery lists them.
        report: contents of its report.json.
        log: what it printed.
    """

    tests: tuple[str, ...]
    report: dict[str, Any]
    log: str


def grade(
    *arguments: str | Path,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    patience: float = PATIENCE_SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Run the real command `grade` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "grader", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        timeout=patience,
    )


def together(calls: Mapping[str, Callable[[], Result]]) -> dict[str, Result]:
    """Make calls that wait for commands, a few at a time; their results by the same names."""
    with ThreadPoolExecutor(max_workers=TOGETHER) as pool:
        running = {name: pool.submit(call) for name, call in calls.items()}
        return {name: future.result() for name, future in running.items()}


def copy_solutions(folder: Path) -> Path:
    """A submission that earns every point."""
    return copy_files(SOLUTIONS, folder)


def copy_stubs(folder: Path) -> Path:
    """A submission that earns nothing."""
    return copy_files(STUBS, folder)


def copy_files(source: Path, folder: Path) -> Path:
    """A submission with the three milestones of a folder."""
    folder.mkdir(parents=True)
    for path in source.glob("milestone*.py"):
        shutil.copyfile(path, folder / path.name)
    return folder


def shipped_rubric() -> dict[str, Any]:
    """The assignment's rubric as plain data, with absolute paths."""
    data: dict[str, Any] = yaml.safe_load(RUBRIC.read_text(encoding="utf-8"))
    for key in ("stubs", "solutions", "suites"):
        data[key] = str(ROOT / data[key])
    return data


def write_rubric(path: Path, data: Mapping[str, Any]) -> Path:
    """Write a rubric from plain data."""
    path.write_text(yaml.safe_dump(dict(data), sort_keys=False), encoding="utf-8")
    return path


def small_assignment(
    folder: Path, suite: str, patterns: Sequence[str] = ("test_*",), points: float = 10
) -> Path:
    """An assignment with one milestone, `answer.py`; its rubric's path.

    Args:
        folder: where to make it.
        suite: text of the hidden suite.
        patterns: which tests its only criterion counts.
        points: of that criterion.
    """
    for name in ("assignments", "solutions", "suites"):
        (folder / name).mkdir(parents=True)
    (folder / "suites" / "test_answer.py").write_text(suite, encoding="utf-8")
    criterion = {"id": "right", "title": "Right", "points": points, "tests": list(patterns)}
    milestone = {
        "id": "answer",
        "title": "The answer",
        "file": "answer.py",
        "suite": "test_answer.py",
        "criteria": [{**criterion, "award": "proportional"}],
    }
    data = {"format": 1, "assignment": "small", "title": "Small", "suites": "suites"}
    return write_rubric(folder / "rubric.yaml", {**data, "milestones": [milestone]})


def read_json(path: Path) -> Any:
    """A JSON file's content; NaN and infinities, which are not JSON, are refused."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
