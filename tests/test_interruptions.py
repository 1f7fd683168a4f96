"""Processes of the grader killed at many moments: nothing graded is lost, no byte is another."""

from __future__ import annotations

import itertools
import os
import random
import select
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.disturbances import Class, contents, descendants, graded, make_class, started
from tests.support import PATIENCE_SECONDS, together

STUDENTS = 5
# Writes of the command in a run over the class: two files for each student, then the gradebook.
WRITES = (1, 2, 2 * STUDENTS + 1)


@dataclass(frozen=True)
class Step:
    """One run of a series over the same results folder.

    Attributes:
        done: how the command ended.
        reports: identity of each report afterwards; one that is written again has another.
    """

    done: subprocess.CompletedProcess[str]
    reports: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Series:
    """Runs that were disturbed, and a last one that was not."""

    of: Class
    results: Path
    steps: tuple[Step, ...]


def step(done: subprocess.CompletedProcess[str], results: Path) -> Step:
    found = {path.parent.name: path.stat() for path in results.glob("students/*/report.json")}
    return Step(done, {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in found.items()})


def run_series(folder: Path, *deeds: tuple[str, ...], options: tuple[str, ...] = ()) -> Series:
    """Grade a class, with deeds of its hidden tests in each run, and options of the second."""
    small, results = make_class(folder, STUDENTS), folder / "results"
    steps = [
        step(small.grade(results, *armed, options=options if number == 1 else ()), results)
        for number, armed in enumerate(deeds)
    ]
    return Series(small, results, tuple(steps))


def run_dying(folder: Path) -> Series:
    """Grade a class with a command that dies while it writes, then once more."""
    small, results = make_class(folder, STUDENTS), folder / "results"
    steps = []
    for write in WRITES:
        command = [sys.executable, "-m", "tests.dying_grader", str(write)]
        done = subprocess.run(
            [*command, *map(str, small.arguments(results))],
            capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        steps.append(step(done, results))
    steps.append(step(small.grade(results), results))
    return Series(small, results, tuple(steps))


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Series]:
    """All series of these tests."""
    folder = tmp_path_factory.mktemp
    below = ("child s0", "child-while-writing s1", "worker s2", "server s3", "nursery s4")
    unread = ("stop s0", "command s1")  # that s0 is done is never read
    above = (("collection s0",), ("terminate s0",), unread, ("command s4",), ())
    return together(
        {
            "undisturbed": lambda: run_series(folder("undisturbed"), ()),
            "below": lambda: run_series(folder("below"), below),
            "above": lambda: run_series(folder("above"), *above, options=("--fresh",)),
            "dying": lambda: run_dying(folder("dying")),
        }
    )


@pytest.mark.parametrize("name", ["below", "above", "dying"])
def test_the_results_are_those_of_an_undisturbed_run(series: dict[str, Series], name: str) -> None:
    """Every file, and no other; of a report all but its times."""
    found = series[name]
    assert found.steps[-1].done.returncode == 0
    assert found.of.left() == ""  # everything that was to happen has happened
    assert rebased(found) == rebased(series["undisturbed"])


def rebased(found: Series) -> dict[str, bytes]:
    """Contents of the results, without where the class lies."""
    folder = os.fsencode(found.of.folder)
    return {name: text.replace(folder, b"") for name, text in contents(found.results).items()}


def test_what_ends_below_the_command_only_costs_time(series: dict[str, Series]) -> None:
    """One run is enough; a lost server and a killed nursery are told, the rest is nobody's news."""
    (only,) = series["below"].steps
    assert only.done.stderr.count("Another one goes on with what is missing.") == 2
    assert "The sandbox server, which starts the workers, has ended." in only.done.stderr
    assert "(killed by signal 9)" in only.done.stderr
    assert "Traceback" not in only.done.stderr


def test_a_request_to_terminate_is_an_interrupt(series: dict[str, Series]) -> None:
    """Status 130, and how to go on: with --fresh, the same command would start anew."""
    done = series["above"].steps[1].done
    assert done.returncode == 130
    assert "interrupted after 0 of 5 submissions" in done.stderr
    assert "without --fresh to keep it" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_killed_command_loses_what_was_in_flight_and_no_more(series: dict[str, Series]) -> None:
    """What had a report keeps that very file in each run that follows."""
    steps = series["above"].steps
    assert [one.done.returncode for one in steps] == [1, 130, -9, -9, 0]
    assert [len(one.reports) for one in steps] == [0, 0, 1, 4, 5]
    for before, after in itertools.pairwise(steps):
        assert before.reports.items() <= after.reports.items()


def test_a_killed_command_takes_everything_with_it(series: dict[str, Series]) -> None:
    """Nursery, sandbox server, examination and worker of every run that was killed end too."""
    below = series["above"].of.below()
    assert len(below) == 3 * 4
    for pid, start in below.items():
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            ended = started(pid) != start or select.select([descriptor], [], [], 30.0)[0]
            os.close(descriptor)
            assert ended


def test_a_command_killed_while_writing_examines_nothing_again(series: dict[str, Series]) -> None:
    """Reports that were there stay the same files; what was half written is gone at the end."""
    steps = series["dying"].steps
    assert [one.done.returncode for one in steps] == [-signal.SIGKILL] * len(WRITES) + [0]
    for before, after in itertools.pairwise(steps):
        assert before.reports.items() <= after.reports.items()


def test_a_nursery_killed_while_it_starts_is_told(series: dict[str, Series]) -> None:
    """Status 1 and how to go on."""
    done = series["above"].steps[0].done
    assert done.returncode == 1
    assert "did not start (killed by signal 9)" in done.stderr
    assert "run the same command again" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_random_processes_killed_at_random_moments(tmp_path: Path, seed: int) -> None:
    """Whatever of the grader is killed whenever, the last run ends as an undisturbed one does."""
    small, results = make_class(tmp_path, 8), tmp_path / "results"
    chance = random.Random(seed)
    for _ in range(6):
        kill_one(small.start(results), chance)
    assert small.grade(results).returncode == 0
    assert small.grade(tmp_path / "undisturbed").returncode == 0
    assert contents(results) == contents(tmp_path / "undisturbed")
    assert len(graded(results)) == 8


def kill_one(command: subprocess.Popen[bytes], chance: random.Random) -> None:
    """Kill the command or something below it at some moment of its run, and see it end."""
    with suppress(subprocess.TimeoutExpired):
        command.wait(chance.uniform(1.5, 4.0))
    with suppress(ProcessLookupError):
        os.kill(chance.choice([command.pid, *descendants(command.pid)]), signal.SIGKILL)
    command.wait(PATIENCE_SECONDS)
