"""Grading on a cluster: real Dask processes, some of which do not fit, are lost, or come back."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader.batch import ClassRun, setup_of
from grader.cluster.executor import Cluster
from grader.errors import ClusterError
from grader.examiner.messages import Setup
from grader.executor import Work
from grader.intake.layouts import find_submissions
from grader.results import Results
from grader.rubric import Rubric
from grader.sandbox.policy import FILE_WALLS, LIMITS
from tests.clusters import DaskCluster, dask_cluster, wait_until
from tests.corpus_run import ROOT
from tests.support import PATIENCE_SECONDS, grade, read_json, small_assignment, together

SAMPLES = ROOT / "tests" / "sample_class"
# A hidden test that does what a student's file asks for to the Dask worker that it runs in.
SUITE = """
import os, signal, time
from pathlib import Path

LOOKED_FOR = ("answer",)
MARKS = Path({marks!r})


def kill_the_dask_worker():
    nursery = os.getppid()
    worker = Path(f"/proc/{{nursery}}/stat").read_text().rpartition(")")[2].split()[1]
    os.kill(int(worker), signal.SIGKILL)
    signal.pause()


def kill_once():
    if not (MARKS / "killed").exists():
        (MARKS / "killed").touch()
        kill_the_dask_worker()


def wait():
    (MARKS / "waiting").touch()
    while not (MARKS / "go").exists():
        time.sleep(0.02)


def hang():
    (MARKS / "hanging").touch()
    signal.pause()


def wrong():
    raise AssertionError("The number is wrong.")


DEEDS = {{
    "right": lambda: None,
    "wrong": wrong,
    "kill-once": kill_once,
    "kill-always": kill_the_dask_worker,
    "kill-examiner": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "leave": lambda: os._exit(0),
    "wait": wait,
    "hang": hang,
}}


def test_always_right(student):
    assert isinstance(student.constant("DEED"), str)


def test_deed(student):
    DEEDS[student.constant("DEED")]()
"""


@dataclass(frozen=True)
class Run:
    """What came of one command."""

    done: subprocess.CompletedProcess[str]
    out: Path

    def score_file(self, student: str) -> bytes:
        """Text of a student's score.json."""
        return (self.out / "students" / student / "score.json").read_bytes()

    def card(self, student: str) -> dict[str, Any]:
        """Contents of a student's score.json."""
        card: dict[str, Any] = json.loads(self.score_file(student))
        return card

    @property
    def run(self) -> dict[str, Any]:
        """Contents of run.json."""
        run: dict[str, Any] = read_json(self.out / "run.json")
        return run


@dataclass(frozen=True)
class Stage:
    """The cluster with two workers that fit, and what came of runs before they were there.

    Attributes:
        folder: holds the small assignment, its classes and all results.
        without: the words of the error while there was no worker at all.
        unfit: a run when there were only workers that do not fit.
        trusted: a run that takes the one without walls.
        local: the same on this machine.
        left: temporary files of that worker after its end.
    """

    cluster: DaskCluster
    folder: Path
    without: str
    unfit: Run
    trusted: Run
    local: Run
    left: Sequence[str]


def write_class(folder: Path, students: dict[str, str]) -> Path:
    """A class in which each student's file asks for a deed."""
    for student, deed in students.items():
        (folder / student).mkdir(parents=True)
        text = f"DEED = {deed!r}\n\n\ndef answer(x):\n    return x\n"
        (folder / student / "answer.py").write_text(text, encoding="utf-8")
    return folder


def run_in(folder: Path, name: str, submissions: Path, *options: str | Path) -> Run:
    out = folder / "out" / name
    return Run(grade(submissions, "--out", out, *options), out)


def other_version(folder: Path) -> Path:
    """A folder with a grader of another version."""
    shutil.copytree(ROOT / "grader", folder / "grader")
    (folder / "grader" / "__init__.py").write_text('"""Other."""\n\n__version__ = "0.0.1"\n')
    return folder


def no_walls(folder: Path) -> Path:
    """A module that makes a Dask worker find no wall but the limits."""
    path = folder / "no_walls.py"
    path.write_text(
        f"from grader.cluster import remote\nremote.available_walls = lambda: ({LIMITS!r},)\n"
    )
    return path


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, rubric: Rubric) -> Iterator[Stage]:
    """The cluster, built up step by step, with a run at each."""
    folder = tmp_path_factory.mktemp("cluster")
    small_assignment(folder / "small", SUITE.format(marks=str(folder)))
    samples = folder / "samples"
    for student in ("dotty", "mo"):
        shutil.copytree(SAMPLES / student, samples / student)
    with dask_cluster(folder) as cluster:
        at = ("--scheduler", cluster.address)
        without = words_without_workers(cluster.address, rubric)
        cluster.add(
            "old", "--no-nanny", environment={"PYTHONPATH": str(other_version(folder / "old"))}
        )
        (folder / "none").mkdir()
        (folder / "none" / "grader.py").write_text("raise ImportError('no grader here')\n")
        cluster.add("none", "--no-nanny", environment={"PYTHONPATH": str(folder / "none")})
        temporary = folder / "temporary"
        temporary.mkdir()
        bare = ("--no-nanny", "--nthreads", "1", "--preload", no_walls(folder))
        cluster.add("bare", *bare, environment={"TMPDIR": str(temporary)})
        unfit = run_in(folder, "unfit", samples, *at)
        calls = {
            "trusted": partial(run_in, folder, "trusted", samples, *at, "--trust-submissions"),
            "local": partial(run_in, folder, "local", samples, "--jobs", "1"),
        }
        runs = together(calls)
        cluster.end("bare")
        cluster.end("none")
        left = [path.name for path in temporary.glob("grade-*")]
        for name, threads in (("one", "1"), ("two", "2")):
            cluster.add(name, "--nanny", "--nthreads", threads)
        yield Stage(cluster, folder, without, unfit, **runs, left=left)


def words_without_workers(address: str, rubric: Rubric) -> str:
    with Cluster(address, trusted=False, say=print, patience=0.1) as cluster:
        cluster.begin(setup_of(rubric))
        with pytest.raises(ClusterError) as caught:
            cluster.wait_until_ready()
    return str(caught.value)


@pytest.fixture(scope="module")
def lossy(stage: Stage) -> tuple[Run, Run]:
    """A class in which two students' examinations kill Dask workers, and its like done locally."""
    students = {
        "ann": "right",
        "ben": "wrong",
        "cy": "right",
        "dan": "kill-examiner",
        "eve": "leave",
    }
    harmless = write_class(stage.folder / "harmless", students)
    killing = {"a-once": "kill-once", "b-always": "kill-always"}
    lossy = write_class(stage.folder / "lossy", {**killing, **students})
    rubric = ("--rubric", stage.folder / "small" / "rubric.yaml")
    calls = {
        "cluster": partial(
            run_in, stage.folder, "lossy", lossy, *rubric, "--scheduler", stage.cluster.address
        ),
        "local": partial(run_in, stage.folder, "harmless", harmless, *rubric),
    }
    runs = together(calls)
    return runs["cluster"], runs["local"]


def test_no_worker_at_all_is_told(stage: Stage) -> None:
    """A scheduler to which nobody has come is waited for, not for ever."""
    assert "has had no worker" in stage.without
    assert "Start workers" in stage.without


def test_workers_that_do_not_fit_are_refused_with_reasons(stage: Stage) -> None:
    """Version, walls and a missing grader are named, each with its worker; nothing is written."""
    assert stage.unfit.done.returncode == 2
    lines = stage.unfit.done.stderr.splitlines()
    (old,) = (line for line in lines if line.startswith("  ") and "grader is 0.0.1 there" in line)
    (bare,) = (line for line in lines if line.startswith("  ") and "the file system" in line)
    (none,) = (line for line in lines if line.startswith("  ") and "no grader here" in line)
    assert "code of the grader" in old
    assert len({line.split()[0] for line in (old, bare, none)}) == 3
    assert old.split()[0].startswith("tcp://127.0.0.1:")
    assert not stage.unfit.out.exists()


def test_trusted_grading_without_walls_is_recorded(stage: Stage) -> None:
    """run.json names the walls of the worker's machine, not of the command's."""
    assert stage.trusted.done.returncode == 0
    assert stage.trusted.run["isolation"] == ["own process", LIMITS, "deadlines"]
    assert stage.trusted.run["trusted"] is True
    assert "--trust-submissions" in (stage.trusted.out / "gradebook.csv").read_text()


def test_scores_are_the_same_bytes_as_on_this_machine(stage: Stage) -> None:
    """Where it was examined shows nowhere in score.json and feedback.md."""
    assert stage.local.done.returncode == 0
    for student in ("dotty", "mo"):
        assert stage.trusted.score_file(student) == stage.local.score_file(student)
        parts = ("students", student, "feedback.md")
        there, here = (
            run.out.joinpath(*parts).read_bytes() for run in (stage.trusted, stage.local)
        )
        assert there == here
        assert (stage.trusted.out / "students" / student / "log.txt").exists()


class Idle:
    """An executor that has nothing to do."""

    capacity = 1.0

    def begin(self, setup: Setup) -> None:
        """Nothing to prepare."""

    def wait_until_ready(self) -> list[str]:
        """Not asked where nothing is to be examined."""
        raise AssertionError

    def submit(self, work: Work) -> None:
        """Not asked either."""
        raise AssertionError

    def next_done(self) -> tuple[str, str]:
        """Nor this."""
        raise AssertionError

    def walls(self) -> list[tuple[str, ...]]:
        """No machine has examined anything."""
        return []


def test_a_run_that_examines_nothing_keeps_what_contained_the_one_before(
    stage: Stage, rubric: Rubric
) -> None:
    """The reports are still those of the machine without walls."""
    results = Results(stage.trusted.out)
    before = results.load_run()
    submissions = find_submissions(stage.folder / "samples", rubric, results.folder)
    path = ROOT / "rubric.yaml"
    with pytest.raises(AssertionError):  # where walls are asked for they are examined again
        ClassRun(rubric, path, results).grade(Idle(), submissions)
    cards = ClassRun(rubric, path, results, walls=()).grade(Idle(), submissions)
    assert [card.student for card in cards] == ["dotty", "mo"]
    assert results.load_run() == before
    assert before["trusted"] is True


def test_a_worker_leaves_nothing_behind(stage: Stage) -> None:
    """Nursery, hidden suites and staged files end with the Dask worker."""
    assert stage.left == []


def test_a_lost_workers_submissions_are_done_again(lossy: tuple[Run, Run]) -> None:
    """Everybody else is graded as if nothing had happened; a worker that fits is enough."""
    there, here = lossy
    for student in ("ann", "ben", "cy", "dan"):
        assert there.score_file(student) == here.score_file(student)
    assert "is missing" in there.card("eve")["problem"]
    assert there.card("a-once")["score"] == 10.0
    assert there.card("ben")["score"] == 5.0
    assert there.card("dan")["status"] == "needs-attention"


def test_a_submission_that_kills_workers_needs_attention(lossy: tuple[Run, Run]) -> None:
    """After three tries nobody's score is a zero, and the command says so with its status."""
    card = lossy[0].card("b-always")
    assert (card["status"], card["score"]) == ("needs-attention", None)
    assert "in 3 tries" in card["problem"]
    assert "was lost" in card["problem"]
    assert lossy[0].done.returncode == 1


def test_a_worker_of_another_version_is_left_out_and_the_others_go_on(
    lossy: tuple[Run, Run],
) -> None:
    """The reason is told once, on stderr."""
    told = [line for line in lossy[0].done.stderr.splitlines() if "is left out" in line]
    assert len(told) == 1
    assert "grader is 0.0.1 there" in told[0]
    assert set(FILE_WALLS) & set(lossy[0].run["isolation"])


def test_interrupted_it_goes_on_later(stage: Stage, lossy: tuple[Run, Run]) -> None:
    """SIGINT ends with 130; the next run examines only what was not graded."""
    submissions = write_class(stage.folder / "long", {"ann": "right", "zoe": "wait"})
    out = stage.folder / "out" / "long"
    rubric = stage.folder / "small" / "rubric.yaml"
    options = ("--out", out, "--rubric", rubric, "--scheduler", stage.cluster.address)
    command = [sys.executable, "-m", "grader", submissions, *options]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as running:
        wait_until((out / "students" / "ann" / "score.json").exists)
        wait_until((stage.folder / "waiting").exists)
        os.kill(running.pid, signal.SIGINT)
        words = running.communicate(timeout=PATIENCE_SECONDS)[1]
    assert running.returncode == 130
    assert "interrupted after 1 of 2 submissions" in words
    report = out / "students" / "ann" / "report.json"
    before = report.stat()
    (stage.folder / "go").touch()
    done = grade(submissions, *options)
    assert done.returncode == 0
    assert "zoe" in done.stdout
    assert report.stat() == before
    assert read_json(out / "students" / "zoe" / "score.json")["score"] == 10.0


def test_a_scheduler_that_ends_is_told(stage: Stage) -> None:
    """Status 1 and how to go on.  The last test: it ends the cluster."""
    submissions = write_class(stage.folder / "hanging-class", {"ann": "right", "zoe": "hang"})
    out = stage.folder / "out" / "hanging"
    rubric = stage.folder / "small" / "rubric.yaml"
    options = ("--out", out, "--rubric", rubric, "--scheduler", stage.cluster.address)
    command = [sys.executable, "-m", "grader", submissions, *options]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as running:
        wait_until((out / "students" / "ann" / "score.json").exists)
        wait_until((stage.folder / "hanging").exists)
        stage.cluster.kill_scheduler()
        words = running.communicate(timeout=PATIENCE_SECONDS)[1]
    assert running.returncode == 1
    assert f"The scheduler at {stage.cluster.address} does not answer any more" in words
    assert "run the same command again" in words
    assert "Traceback" not in words
