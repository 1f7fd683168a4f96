"""A class graded again and again: what is examined anew, what is only scored, what is shown."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import copy_solutions, copy_stubs, grade, shipped_rubric, together, write_rubric

LONG = "z" * 200
# What the long name becomes as an id.
ZOE = "z" * 64


@dataclass(frozen=True)
class Snapshot:
    """A run and what its results folder held afterwards.

    Attributes:
        reports: identity of each student's report.json; a rewritten file has another one.
        scores: text of each student's score.json.
    """

    done: subprocess.CompletedProcess[str]
    reports: dict[str, tuple[int, int]]
    scores: dict[str, bytes]
    gradebook: list[dict[str, str]]

    def score(self, student: str) -> Any:
        """A student's score."""
        return json.loads(self.scores[student])["score"]


def run(submissions: Path, results: Path, *options: str | Path, cwd: Path = Path()) -> Snapshot:
    """Grade a class and look at what is there then."""
    done = grade(submissions, "--out", results, *options, cwd=cwd)
    students = sorted((cwd / results).glob("students/*"))
    reports = {path.name: (path / "report.json").stat() for path in students}
    with (cwd / results / "gradebook.csv").open(newline="", encoding="utf-8") as stream:
        gradebook = list(csv.DictReader(stream))
    return Snapshot(
        done,
        {name: (found.st_ino, found.st_mtime_ns) for name, found in reports.items()},
        {path.name: (path / "score.json").read_bytes() for path in students},
        gradebook,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of two: solutions, and stubs under a name of 200 letters."""
    found = tmp_path_factory.mktemp("runs")
    copy_solutions(found / "class" / "ann")
    copy_stubs(found / "class" / LONG)
    return found


@pytest.fixture(scope="module")
def first(folder: Path) -> Snapshot:
    """The first run."""
    return run(folder / "class", folder / "results", "--json")


@pytest.fixture(scope="module")
def dearer(folder: Path, first: Snapshot) -> Snapshot:
    """The same class again, with a rubric that gives more points for a prediction."""
    rubric = shipped_rubric()
    rubric["milestones"][0]["criteria"][0]["points"] = 12
    path = write_rubric(folder / "dearer.yaml", rubric)
    return run(folder / "class", folder / "results", "--rubric", path)


@pytest.fixture(scope="module")
def changed(folder: Path, dearer: Snapshot) -> Snapshot:
    """Again with the shipped rubric, after one student has handed in a milestone."""
    solved = (folder / "class" / "ann" / "milestone1_layernorm.py").read_text()
    (folder / "class" / LONG / "milestone1_layernorm.py").write_text(solved)
    return run(folder / "class", folder / "results")


def put_mistyped(folder: Path) -> Path:
    """A rubric in which a pattern matches no test."""
    rubric = shipped_rubric()
    rubric["milestones"][1]["criteria"][3]["tests"] = ["test_exact_gleu"]
    return write_rubric(folder / "mistyped.yaml", rubric)


@pytest.fixture(scope="module")
def last(folder: Path, changed: Snapshot) -> dict[str, Snapshot]:
    """The runs that nothing follows: each has a results folder of its own."""
    submissions, inside = folder / "class", folder / "inside"
    (inside / "ann").mkdir(parents=True)
    for copy in (folder / "kept", inside / "results"):
        shutil.copytree(folder / "results", copy)
    mistyped = put_mistyped(folder)
    calls = {
        "fresh": partial(run, submissions, folder / "results", "--fresh", "--json"),
        "other": partial(run, submissions, folder / "other"),
        "mistyped": partial(run, submissions, folder / "kept", "--rubric", mistyped),
        "inside": partial(run, Path(), Path("results"), "--json", cwd=inside),
    }
    return together(calls)


def test_json_is_the_class_and_nothing_else(folder: Path, first: Snapshot) -> None:
    """One JSON object on stdout, nothing on stderr."""
    assert (first.done.returncode, first.done.stderr) == (0, "")
    summary = json.loads(first.done.stdout)
    assert summary["results"] == str(folder / "results")
    assert summary["counts"] == {"graded": 2, "needs-attention": 0, "no-submission": 0}
    assert [(s["student"], s["score"]) for s in summary["students"]] == [("ann", 100.0), (ZOE, 0.0)]
    assert summary["up_to_date"] == 0


def test_the_results_folder_holds_what_it_should(folder: Path, first: Snapshot) -> None:
    """Gradebook, run.json and five files for each student, whole and readable."""
    results = folder / "results"
    assert {path.name for path in results.iterdir()} == {"gradebook.csv", "run.json", "students"}
    for student in ("ann", ZOE):
        names = {path.name for path in (results / "students" / student).iterdir()}
        assert names == {
            "report.json",
            "score.json",
            "feedback.md",
            "log.txt",
            "submission.json",
        }
    facts = json.loads((results / "run.json").read_text())
    assert {"format", "grader", "torch", "rubric", "isolation", "counts"} <= facts.keys()


def test_the_gradebook_has_a_line_for_each_student(first: Snapshot) -> None:
    """Id, full name, score and the points of each milestone."""
    ann, zoe = first.gradebook
    assert (ann["student"], ann["score"], ann["max_score"]) == ("ann", "100", "100")
    assert [ann[m] for m in ("layernorm", "ffn", "encoder-block")] == ["30", "25", "45"]
    assert (zoe["student"], zoe["name"], zoe["score"]) == (ZOE, LONG, "0")


def test_a_second_run_examines_nothing_again(first: Snapshot, dearer: Snapshot) -> None:
    """The reports are the same files as before."""
    assert dearer.done.returncode == 0
    assert dearer.reports == first.reports
    assert "\n2 up to date, 0 graded\n" in dearer.done.stdout


def test_a_second_run_scores_with_the_rubric_as_it_is_now(dearer: Snapshot) -> None:
    """Scores and gradebook follow the changed points."""
    assert dearer.score("ann") == 110.0
    assert [row["max_score"] for row in dearer.gradebook] == ["110", "110"]


def test_the_table_keeps_to_80_columns_and_one_line_a_student(dearer: Snapshot) -> None:
    """A name of 200 letters moves nothing, and no colours are sent to a file."""
    lines = dearer.done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("zzz") for line in lines) == 1
    assert "\x1b" not in dearer.done.stdout + dearer.done.stderr
    assert any(line.split()[:2] == ["ann", "40"] for line in lines)


def test_only_a_changed_submission_is_examined(dearer: Snapshot, changed: Snapshot) -> None:
    """The other one keeps its report."""
    assert changed.reports["ann"] == dearer.reports["ann"]
    assert changed.reports[ZOE] != dearer.reports[ZOE]
    assert "\n1 up to date, 1 graded\n" in changed.done.stdout
    assert changed.done.stderr == ""
    assert changed.score(ZOE) == 30.0
    assert changed.score("ann") == 100.0


def test_fresh_examines_everything(changed: Snapshot, last: dict[str, Snapshot]) -> None:
    """Every report is a new one, with the same scores in it."""
    fresh = last["fresh"]
    assert all(fresh.reports[name] != changed.reports[name] for name in ("ann", ZOE))
    assert fresh.scores == changed.scores


def test_two_runs_give_the_same_bytes(last: dict[str, Snapshot]) -> None:
    """Seeds are fixed: another results folder gets the same score.json files."""
    assert last["other"].scores == last["fresh"].scores


def test_a_rubric_that_fits_no_test_is_refused_when_nothing_is_examined(
    changed: Snapshot, last: dict[str, Snapshot]
) -> None:
    """A mistyped pattern takes nobody's points away when saved reports are scored again."""
    assert last["mistyped"].done.returncode == 2
    assert last["mistyped"].scores == changed.scores


def test_the_results_folder_is_no_student(last: dict[str, Snapshot]) -> None:
    """Graded from inside the class folder, the default results folder is not graded next time."""
    students = json.loads(last["inside"].done.stdout)["students"]
    assert [s["student"] for s in students] == ["ann"]
