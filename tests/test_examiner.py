"""The examiner: reports of real runs, and what becomes of faults that are not the student's."""

from __future__ import annotations

import csv
import json
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader.rubric import Rubric
from grader.scoring import score
from tests.scenarios import assignment, write_class
from tests.support import Examined, grade, read_json, small_assignment, together

# Deeds of a hidden test after which no number may stand in the gradebook.
OUR_FAULTS = ("divide", "skip", "expect-failure", "exit", "interrupt", "leave", "leave-at-once",
              "kill-examiner", "lose-files")  # fmt: skip
STUDENTS_FAULTS = ("wrong", "compare")


def test_the_nursery_lists_every_hidden_test(solution: Examined) -> None:
    """Ids are those of pytest, relative to the suites' folder."""
    assert "test_milestone1_layernorm.py::test_matches_shape[3d]" in solution.tests
    assert len(solution.tests) == len(set(solution.tests)) > 40


def test_the_report_has_the_form_of_pytest_json_report(solution: Examined) -> None:
    """Every test with outcome and stages, in the order of the suites."""
    report = solution.report
    assert {"created", "duration", "exitcode", "summary", "tests"} <= report.keys()
    assert [test["nodeid"] for test in report["tests"]] == list(solution.tests)
    assert report["summary"]["passed"] == report["summary"]["total"] == len(solution.tests)
    assert all(test["call"]["outcome"] == "passed" for test in report["tests"])


def test_the_report_has_our_part(solution: Examined) -> None:
    """Who it is about, which tests were to run, and the facts of the job."""
    examination = solution.report["examination"]
    assert examination["format"] == 1
    assert examination["student"] == "solution"
    assert examination["expected"] == list(solution.tests)
    assert examination["facts"]["files"] == "3"
    assert examination["notes"].keys() == {"layernorm", "ffn", "encoder-block"}


def test_the_report_scores_full_marks(solution: Examined, rubric: Rubric) -> None:
    """The solution earns every point of the shipped rubric."""
    assert score(solution.report, rubric).score == 100.0


def test_what_a_submission_prints_is_in_the_log(solution: Examined) -> None:
    """It is for the instructor, and not in the report."""
    assert "printed by the solution" in solution.log
    assert "printed by the solution" not in str(solution.report)


@dataclass(frozen=True)
class Deeds:
    """One run over a class of deeds."""

    done: subprocess.CompletedProcess[str]
    results: Path

    def card(self, deed: str) -> Any:
        """The scorecard of the student of that name."""
        return read_json(self.results / "students" / deed / "score.json")

    def row(self, deed: str) -> dict[str, str]:
        """The student's line of the gradebook."""
        with (self.results / "gradebook.csv").open(newline="", encoding="utf-8") as stream:
            return next(row for row in csv.DictReader(stream) if row["student"] == deed)


def old_report(student: str) -> dict[str, Any]:
    """A report of an earlier run in which everything has passed."""
    passed = {"outcome": "passed", "call": {"outcome": "passed"}, "metadata": {"verdict": "passed"}}
    ids = [f"test_answer.py::{name}" for name in ("test_always_right", "test_deed")]
    facts = {"files": "1", "digest": "of other files"}
    examination = {"student": student, "expected": ids, "notes": {}, "facts": facts}
    return {"tests": [{"nodeid": test, **passed} for test in ids], "examination": examination}


def grade_deeds(folder: Path) -> Deeds:
    """Every deed once, over the results of an earlier run."""
    for deed in OUR_FAULTS:
        old = folder / "results" / "students" / deed / "report.json"
        old.parent.mkdir(parents=True)
        old.write_text(json.dumps(old_report(deed)))
    rubric = assignment(folder / "assignment")
    submissions = write_class(folder / "class", ["right", *STUDENTS_FAULTS, *OUR_FAULTS])
    done = grade(submissions, "--rubric", rubric, "--out", folder / "results")
    return Deeds(done, folder / "results")


def grade_killed(folder: Path) -> Deeds:
    """Three students, one after the other; every nursery is killed with the second."""
    rubric = assignment(folder / "assignment")
    write_class(folder / "class", ["right", "kill-nursery", "wrong"])
    (folder / "class" / "right").rename(folder / "class" / "a-right")
    options = ("--rubric", rubric, "--out", folder / "results", "--jobs", "1")
    return Deeds(grade(folder / "class", *options), folder / "results")


def grade_unimportable(folder: Path) -> Deeds:
    """One student, and a suite that cannot be imported."""
    rubric = small_assignment(folder / "assignment", "import nothing_of_this_name\n")
    submissions = write_class(folder / "class", ["right"])
    done = grade(submissions, "--rubric", rubric, "--out", folder / "results")
    return Deeds(done, folder / "results")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Deeds]:
    """All runs of these tests, graded by the real command."""
    kinds = {"deeds": grade_deeds, "killed": grade_killed, "unimportable": grade_unimportable}
    folders = {name: tmp_path_factory.mktemp(name) for name in kinds}
    return together({name: partial(run, folders[name]) for name, run in kinds.items()})


@pytest.fixture
def deeds(runs: dict[str, Deeds]) -> Deeds:
    """The run over a class in which every deed happens."""
    return runs["deeds"]


@pytest.fixture
def killed(runs: dict[str, Deeds]) -> Deeds:
    """The run whose nursery was killed."""
    return runs["killed"]


def test_a_fault_of_ours_ends_with_status_1_and_a_name(deeds: Deeds) -> None:
    """The command finishes the class and says who needs attention."""
    assert deeds.done.returncode == 1
    assert "Traceback" not in deeds.done.stderr
    for deed in OUR_FAULTS:
        assert f"{deed} needs attention: " in deeds.done.stdout


def test_a_class_with_faults_still_has_its_scores(deeds: Deeds) -> None:
    """A fault in one submission takes nothing from another."""
    assert deeds.card("right")["score"] == 10.0
    assert deeds.row("right")["score"] == "10"


@pytest.mark.parametrize("deed", OUR_FAULTS)
def test_a_fault_of_ours_is_never_a_number(deeds: Deeds, deed: str) -> None:
    """No score in score.json, and an empty cell in the gradebook."""
    card, row = deeds.card(deed), deeds.row(deed)
    assert (card["status"], card["score"]) == ("needs-attention", None)
    assert (row["status"], row["score"], row["answer"]) == ("needs-attention", "", "")
    assert card["problem"]


def test_a_faulty_hidden_test_is_named(deeds: Deeds) -> None:
    """Whoever mends it knows which, and what it raised."""
    problem = deeds.card("divide")["problem"]
    assert "test_answer.py::test_deed" in problem
    assert "ZeroDivisionError: division by zero" in problem


def test_lost_files_are_named(deeds: Deeds) -> None:
    """What happened, and what to do."""
    assert deeds.card("lose-files")["problem"] == (
        "Somebody removed, changed or closed its files while it was examined. Run the same "
        "command again."
    )


@pytest.mark.parametrize("deed", OUR_FAULTS)
def test_what_did_not_pass_is_not_reported_as_passed(deeds: Deeds, deed: str) -> None:
    """Where there is a report at all, the test's own verdict is not `passed`."""
    path = deeds.results / "students" / deed / "report.json"
    tests = read_json(path)["tests"] if path.exists() else []
    verdicts = {t["nodeid"]: t.get("metadata", {}).get("verdict") for t in tests}
    assert verdicts.get("test_answer.py::test_deed") != "passed"


@pytest.mark.parametrize(("deed", "message"), [("wrong", "The number is wrong."), ("compare", "")])
def test_a_plain_assertion_is_the_students_fault(deeds: Deeds, deed: str, message: str) -> None:
    """It costs the points of that test; its first line is what the student reads."""
    card = deeds.card(deed)
    (criterion,) = card["milestones"][0]["criteria"]
    assert (card["status"], card["score"]) == ("graded", 5.0)
    assert (criterion["verdict"], criterion["message"]) == ("failed", message)


def test_a_nursery_that_is_killed_again_and_again_ends_the_run(killed: Deeds) -> None:
    """Status 1, what happened and what to do, and no traceback; others were tried before."""
    assert killed.done.returncode == 1
    assert killed.done.stderr.count("Another one goes on with what is missing.") == 3
    assert "ended before its work was done" in killed.done.stderr
    assert "run the same command again" in killed.done.stderr
    assert "Traceback" not in killed.done.stderr


def test_only_who_ends_every_nursery_is_not_graded(killed: Deeds) -> None:
    """The others have report and score, whether they come before or after."""
    assert (killed.card("a-right")["score"], killed.card("wrong")["score"]) == (10.0, 5.0)
    assert (killed.results / "students" / "a-right" / "report.json").exists()
    assert not (killed.results / "students" / "kill-nursery" / "score.json").exists()


def test_a_suite_that_cannot_be_imported_is_named_with_the_reason(runs: dict[str, Deeds]) -> None:
    """Nobody is graded by half of the tests, and pytest's own words are passed on."""
    run = runs["unimportable"]
    assert run.done.returncode in (1, 2)
    assert not run.results.exists()
    assert "nothing_of_this_name" in run.done.stderr
