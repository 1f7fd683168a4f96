"""A class with times, extensions and attempts: one real run, then everything that follows."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from grader.cli import run
from tests.scenarios import assignment
from tests.support import grade, read_json

LATE = """
late:
  due: 2026-10-03T23:59:00+02:00
  late_due: 2026-10-10T23:59:00+02:00
  grace: 15 minutes
  penalty: {percent: 10, per: day, cap: 50}
attempts: best
"""
# Folder, deed, and the lines of submissions.csv behind the folder's name.
HANDED_IN = [
    ("ann-1", "wrong", ["ann,Ann A.,ann@x.edu,2026-10-03 10:00"]),
    ("ann-2", "right", ["ann,Ann A.,ann@x.edu,2026-10-05T21:59:00Z"]),
    ("bo", "right", ["bo,Bo,,2026-10-05 02:59"]),
    ("cy", "right", ["cy,Cy,,2026-10-04 00:14"]),
    ("dan", "wrong", ["dan,Dan,,2026-10-11 00:14:01"]),
    ("eve-1", "right", ["eve,Eve,,2026-10-03 10:00"]),
    ("eve-2", "kill-examiner", ["eve,Eve,,2026-10-03 11:00"]),
    ("fay-1", "wrong", ["fay,Fay,,2026-10-03 10:00"]),
    ("fay-2", "kill-examiner", ["fay,Fay,,2026-10-03 11:00"]),
    ("pair", "right", ["gus,Gus,gus@x.edu,2026-10-04 10:00", "hal,=Hal,hal@x.edu,"]),
    ("ivy", "right", []),
]


@dataclass(frozen=True)
class Graded:
    """A graded class.

    Attributes:
        folder: holds `class`, `small/rubric.yaml` with an extensions.csv beside it, `results`.
        done: how the command ended.
    """

    folder: Path
    done: CompletedProcess[str]

    @property
    def results(self) -> Path:
        """What the command wrote."""
        return self.folder / "results"

    @property
    def rubric(self) -> Path:
        """The rubric's file."""
        return self.folder / "small" / "rubric.yaml"

    def again(self) -> CompletedProcess[str]:
        """Grade the class once more."""
        return grade_class(self.folder)

    def rescore(self, *more: str | Path) -> int:
        """Score the saved reports again, in this process; the exit status."""
        arguments = ("score", self.results, "--rubric", self.rubric, *more)
        return run([str(argument) for argument in arguments])

    def change_rubric(self, old: str, new: str) -> None:
        """Change a part of the rubric that is there."""
        text = self.rubric.read_text()
        assert old in text
        self.rubric.write_text(text.replace(old, new))

    def card(self, student: str) -> dict[str, Any]:
        """A student's score.json."""
        content: dict[str, Any] = read_json(self.results / "students" / student / "score.json")
        return content

    def scores(self) -> dict[str, float | None]:
        """Score of each student."""
        return {
            folder.name: self.card(folder.name)["score"]
            for folder in sorted((self.results / "students").iterdir())
        }

    def rows(self) -> dict[str, dict[str, str]]:
        """Lines of the gradebook, by student."""
        with (self.results / "gradebook.csv").open(newline="") as stream:
            return {row["student"]: row for row in csv.DictReader(stream)}

    def feedback(self, student: str) -> str:
        """A student's feedback.md."""
        return (self.results / "students" / student / "feedback.md").read_text()

    def examinations(self) -> dict[str, Any]:
        """When each report was made."""
        reports = (self.results / "students").rglob("report.json")
        return {str(path.relative_to(self.results)): read_json(path)["created"] for path in reports}


def grade_class(folder: Path) -> CompletedProcess[str]:
    return grade("class", "--rubric", folder / "small" / "rubric.yaml", cwd=folder)


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The class, graded once with the real command."""
    folder = tmp_path_factory.mktemp("late")
    rubric = assignment(folder / "small")
    rubric.write_text(rubric.read_text() + LATE)
    (folder / "small" / "extensions.csv").write_text("student,days\nBo,1\n")
    lines = ["submission,student,name,email,submitted"]
    for name, deed, told in HANDED_IN:
        (folder / "class" / name).mkdir(parents=True)
        answer = f"DEED = {deed!r}\n\n\ndef answer(x):\n    return x\n"
        (folder / "class" / name / "answer.py").write_text(answer)
        lines += [f"{name},{line}" for line in told]
    (folder / "class" / "submissions.csv").write_text("\n".join(lines) + "\n")
    return Graded(folder, grade_class(folder))


@pytest.fixture
def graded(first_run: Graded, tmp_path: Path) -> Graded:
    """A copy of it, to be changed."""
    shutil.copytree(first_run.folder, tmp_path / "copy", dirs_exist_ok=True)
    return Graded(tmp_path / "copy", first_run.done)


SCORES = {
    "ann": 8.0,  # 10 points two days late go before 5 in time
    "bo": 9.0,  # one of two begun days is extended
    "cy": 10.0,
    "dan": 0.0,
    "eve": 10.0,  # nothing beats full marks
    "fay": None,  # the attempt that could not be examined might have been better
    "gus": 9.0,
    "ivy": 10.0,
}


def test_scores_are_those_after_the_penalty(first_run: Graded) -> None:
    """Best attempt, extension, grace, the last time, and needs attention where it is open."""
    assert first_run.scores() == SCORES
    assert first_run.done.returncode == 1
    assert "fay needs attention: Attempt 2: " in first_run.done.stdout
    assert "Of 1 submissions nobody knows when they were handed in" in first_run.done.stdout


def test_the_run_names_its_class(first_run: Graded) -> None:
    """Students, and neither attempts nor members of groups."""
    assert read_json(first_run.results / "run.json")["students"] == list(SCORES)


def test_the_gradebook_has_a_line_for_each_person(first_run: Graded) -> None:
    """With lateness, e-mail, and the note that tells attempts and groups."""
    rows = first_run.rows()
    assert list(rows) == ["ann", "bo", "cy", "dan", "eve", "fay", "gus", "hal", "ivy"]
    assert {name: row["late"] for name, row in rows.items()} == {
        "ann": "2 days (-2)",
        "bo": "3 h (-1)",
        "cy": "15 min",
        "dan": "7 days 15 min 1 s (-5)",
        "eve": "",
        "fay": "",
        "gus": "10 h 1 min (-1)",
        "hal": "10 h 1 min (-1)",
        "ivy": "unknown",
    }
    assert rows["ann"]["notes"] == "Attempt 2 of 2 counts. Attempt 1: 5 points."
    assert (rows["hal"]["score"], rows["hal"]["email"]) == ("9", "hal@x.edu")
    assert rows["hal"]["name"] == "'=Hal"
    assert rows["hal"]["notes"] == "Handed in together with Gus; see gus."


def test_students_read_the_arithmetic(first_run: Graded) -> None:
    """In figures that they can compute again; who was in time reads nothing of it."""
    bo = first_run.feedback("bo")
    assert "**Score: 9 of 10**" in bo
    assert "Handed in 3 h late: 1 begun day x 10 % of 10 = 1 points taken: 9." in bo
    assert "(with your extension)" in bo
    assert "no longer" not in bo
    ann = first_run.feedback("ann")
    assert "2 begun days x 10 % of 10 = 2 points taken: 8." in ann
    assert "Attempt 2 of 2 counts. Attempt 1: 5 points." in ann
    assert "The first 15 min do not count" in first_run.feedback("cy")
    assert "late" not in first_run.feedback("eve").lower()


def test_the_scorecard_holds_what_was_reckoned(first_run: Graded) -> None:
    """For programs: times, seconds, points before and taken; all attempts."""
    late = first_run.card("ann")["late"]
    assert (late["before"], late["taken"], late["counted"]) == (10.0, 2.0, 2)
    assert late["seconds"] == 2 * 86_400
    assert late["submitted"] == "2026-10-05T21:59:00Z"
    attempts = first_run.card("ann")["attempts"]
    assert [(a["number"], a["score"], a["counts"]) for a in attempts] == [
        (1, 5.0, False),
        (2, 8.0, True),
    ]
    assert first_run.card("fay").keys().isdisjoint({"late"})
    assert "attempts" not in first_run.card("bo")


def test_a_corrected_time_needs_no_examination(graded: Graded) -> None:
    """Each attempt has a report of its own, in which only what is known of handing in changes."""
    table = graded.folder / "class" / "submissions.csv"
    text = table.read_text()
    assert "2026-10-11 00:14:01" in text
    table.write_text(text.replace("2026-10-11 00:14:01", "2026-10-03 12:00"))
    before = graded.examinations()
    assert {"students/ann/attempts/1/report.json", "students/ann/report.json"} <= before.keys()
    graded.again()
    assert graded.examinations() == before
    assert graded.scores() == {**SCORES, "dan": 5.0}
    assert graded.rows()["dan"]["late"] == ""
    graded.change_rubric("percent: 10", "percent: 20")
    graded.rescore("--yes")
    assert graded.card("dan")["score"] == 5.0


def test_a_student_with_one_attempt_left_is_graded_by_it(graded: Graded) -> None:
    """Nothing of the other attempt stays: neither its penalty nor a word of it."""
    shutil.rmtree(graded.folder / "class" / "ann-1")
    table = graded.folder / "class" / "submissions.csv"
    lines = [line for line in table.read_text().splitlines() if not line.startswith("ann-1")]
    text = "\n".join(lines).replace("2026-10-05T21:59:00Z", "2026-10-03T20:00:00+02:00")
    table.write_text(text + "\n")
    graded.again()
    card = graded.card("ann")
    assert (card["student"], card["score"]) == ("ann", 10.0)
    assert "attempts" not in card
    assert "ttempt" not in graded.rows()["ann"]["notes"]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("percent: 10", "percent: 30", {"ann": 5.0, "bo": 7.0, "gus": 7.0}),
        ("grace: 15 minutes", "grace: 1 day", {"bo": 10.0, "dan": 2.5, "gus": 10.0}),
        ("attempts: best", "attempts: newest", {"eve": None}),
        ("penalty: {percent: 10, per: day, cap: 50}", "zone: UTC",
         {"ann": 10.0, "bo": 10.0, "gus": 10.0, "dan": 0.0}),
    ],
)  # fmt: skip
def test_a_changed_section_is_applied_to_saved_reports(
    graded: Graded, old: str, new: str, changed: dict[str, float | None]
) -> None:
    """Another attempt may count then, and the penalty is that of the rubric now."""
    graded.change_rubric(old, new)
    assert graded.rescore("--yes") == 1
    assert graded.scores() == {**SCORES, **changed}
    assert graded.examinations().keys() >= {"students/ann/attempts/2/report.json"}


def test_which_attempt_counts_is_told_after_a_change(graded: Graded) -> None:
    """Report, feedback and gradebook are those of the attempt that counts now."""
    graded.change_rubric("percent: 10", "percent: 40")
    graded.rescore("--yes")
    assert "Attempt 1 of 2 counts. Attempt 2: 5 points" not in graded.feedback("ann")
    counting = next(a["number"] for a in graded.card("ann")["attempts"] if a["counts"])
    assert counting == 2  # 5 points each: of equal ones the newest
    graded.change_rubric("percent: 40, per: day, cap: 50", "percent: 40, per: day")
    graded.rescore("--yes")
    assert graded.card("ann")["score"] == 5.0
    assert "Attempt 1 of 2 counts. Attempt 2: 2 points." in graded.feedback("ann")
    assert graded.rows()["ann"]["submission"].endswith("ann-1")
    own = graded.results / "students" / "ann"
    report, attempt = (read_json(path / "report.json") for path in (own, own / "attempts" / "1"))
    assert (report["examination"]["student"], report["created"]) == ("ann", attempt["created"])


def test_extensions_are_those_of_now(graded: Graded) -> None:
    """Who would lose points by it is protected; a file may be named."""
    (graded.folder / "small" / "extensions.csv").unlink()
    assert graded.rescore() == 2
    assert graded.scores() == SCORES
    more = graded.folder / "more.csv"
    more.write_text("student,due\ngus@x.edu,2026-10-05 00:00\nbo,2026-10-06 00:00\n")
    assert graded.rescore("--extensions", more) == 1
    assert graded.scores() == {**SCORES, "bo": 10.0, "gus": 10.0}


def broken_extensions(graded: Graded) -> None:
    (graded.folder / "small" / "extensions.csv").write_text("student,days\nBob,1\nann,x\n")


def broken_table(graded: Graded) -> None:
    table = graded.folder / "class" / "submissions.csv"
    table.write_text(table.read_text() + "anna-3,,,,soon\n")


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        (broken_extensions, ["2 problems", "line 2: nobody of the class is Bob", "line 3: days"]),
        (broken_table, ["submissions.csv: 1 problem", "no such submission: anna-3; perhaps you"]),
    ],
)
def test_a_wrong_table_grades_nobody(
    graded: Graded, breaks: Callable[[Graded], None], says: list[str]
) -> None:
    """Every fault is named, the status is 2, and no result changes."""
    breaks(graded)
    before = {p: p.read_bytes() for p in graded.results.rglob("*") if p.is_file()}
    done = graded.again()
    assert done.returncode == 2
    assert all(word in done.stderr for word in says)
    assert {p: p.read_bytes() for p in graded.results.rglob("*") if p.is_file()} == before


def test_a_rescored_class_refuses_wrong_extensions_too(
    graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    """The class is known from its results."""
    broken_extensions(graded)
    assert graded.rescore() == 2
    assert "nobody of the class is Bob" in capsys.readouterr().err


@pytest.mark.parametrize("older", [False, True])
def test_an_interrupted_class_is_scored_whole(graded: Graded, older: bool) -> None:
    """Attempts are found where nothing of the summary is there, in older results too."""
    (graded.results / "run.json").unlink()
    for name in ("score.json", "report.json"):
        for student in ("ann", "eve", "fay"):
            (graded.results / "students" / student / name).unlink(missing_ok=True)
    if older:
        for path in graded.results.rglob("submission.json"):
            path.unlink()
    before = graded.rows()
    assert graded.rescore() == 1
    assert graded.scores() == SCORES
    after = graded.rows()
    if older:  # there, what was known of fay's second attempt went with its report
        del before["fay"], after["fay"]
    assert after == before


def test_a_group_whose_examination_failed_keeps_its_members(graded: Graded) -> None:
    """Who they are is written down beside the report."""
    (graded.results / "students" / "gus" / "report.json").unlink()
    before = graded.rows()
    assert graded.rescore() == 1
    assert graded.rows() == before
