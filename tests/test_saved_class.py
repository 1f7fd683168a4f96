"""A results folder as interruptions, older versions and students who left have it."""

from __future__ import annotations

import csv
import gc
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.cli import run
from grader.handing_in import save_handing_in, saved_submissions
from grader.model import Person, Scorecard, Submission
from grader.results import Results
from grader.rubric import load_rubric
from grader.scoring import score
from tests.support import small_assignment

TEST = "test_answer.py::test_right"
RIGHT = {
    "nodeid": TEST,
    "outcome": "passed",
    "call": {"outcome": "passed"},
    "metadata": {"verdict": "passed"},
}


@dataclass(frozen=True)
class Saved:
    """A results folder made by hand, and its rubric, whose only criterion gives ten points."""

    results: Results
    rubric: Path

    def add(self, student: str, right: bool = True, test: str = TEST, **facts: str) -> None:
        """A report with its scorecard."""
        report: dict[str, Any] = {
            "tests": [{**RIGHT, "nodeid": test}] if right else [],
            "examination": {
                "student": student,
                "expected": [test],
                "notes": {},
                "facts": {"name": student, "origin": student, "files": "1", **facts},
            },
        }
        self.results.save_report(student, report)
        self.results.save_scorecard(score(report, load_rubric(self.rubric)), "")

    def name(self, *students: str) -> None:
        """Have run.json tell who the class is."""
        self.results.save_run({"students": students})

    def score(self, *more: str | Path) -> int:
        """Run `grade score`; its status."""
        return run(["score", *map(str, (self.results.folder, "--rubric", self.rubric, *more))])

    def export(self, into: Path) -> int:
        """Run `grade export`; its status."""
        options = ("--into", into, "--rubric", self.rubric)
        return run(["export", "gradescope", str(self.results.folder), *map(str, options)])

    def rows(self) -> dict[str, tuple[str, str]]:
        """Status and score in the gradebook, by student."""
        with self.results.gradebook.open(newline="") as stream:
            return {r["student"]: (r["status"], r["score"]) for r in csv.DictReader(stream)}

    def card(self, student: str) -> Scorecard:
        """A student's score.json."""
        return self.results.read_scorecard(student)


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    """Without anybody."""
    rubric = small_assignment(tmp_path / "small", "def test_right():\n    pass\n")
    rubric.write_text(rubric.read_text() + "attempts: best\n")
    return Saved(Results(tmp_path / "results"), rubric)


def with_attempts(saved: Saved, total: int = 2) -> Saved:
    """Aa's first attempt is right and the others are wrong; nothing stands for aa yet."""
    for number in range(1, total + 1):
        saved.add(f"aa/attempts/{number}", right=number == 1, attempts=str(total))
    return saved


@pytest.mark.parametrize("settled", [None, b"", b"{}"])
def test_attempts_are_found_without_what_follows_from_them(
    saved: Saved, settled: bytes | None
) -> None:
    """An interruption leaves a student's attempts without a scorecard beside them."""
    with_attempts(saved)
    if settled is not None:
        (saved.results.student("aa") / "score.json").write_bytes(settled)
    assert saved.score() == 0
    assert saved.rows() == {"aa": ("graded", "10")}
    assert [(a.number, a.counts) for a in saved.card("aa").attempts] == [(1, True), (2, False)]


def test_an_attempt_that_no_run_came_to_is_told(saved: Saved) -> None:
    """Another run has to examine it, since it may be the best."""
    saved.add("aa/attempts/1", right=False, attempts="2")
    assert saved.score() == 1
    assert saved.rows() == {"aa": ("needs-attention", "")}
    assert "Attempt 2 was not examined" in saved.card("aa").problem


@pytest.mark.parametrize("damage", ["missing", "broken"])
def test_a_student_without_report_and_scorecard_is_not_passed_over(
    saved: Saved, damage: str
) -> None:
    """The gradebook says that somebody must look, as does the status."""
    saved.add("bo")
    saved.results.student("cy").mkdir()
    if damage == "broken":
        saved.results.report("cy").write_text("{")
    assert saved.score() == 1
    assert saved.rows() == {"bo": ("graded", "10"), "cy": ("needs-attention", "")}
    assert "no report" in saved.card("cy").problem


def attempt(number: int, total: int) -> Submission:
    return Submission(
        student=f"aa/attempts/{number}", name="aa", origin="", files=(), attempts=total
    )


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ([(1, 3), (2, 3), (3, 3)], [(1, 2), (2, 2)], ["aa/attempts/1", "aa/attempts/2"]),
        ([(2, 2)], [(3, 3)], ["aa/attempts/3"]),
        ([(9, 10), (10, 10)], [], ["aa/attempts/9", "aa/attempts/10"]),
        ([(1, 2), (2, 2)], [(0, 0)], ["aa"]),
    ],
)
def test_attempts_of_before_do_not_count(
    tmp_path: Path, before: list[tuple[int, int]], now: list[tuple[int, int]], found: list[str]
) -> None:
    """Attempts come and are withdrawn; folders of another number of them are passed over."""
    results = Results(tmp_path)
    for number, total in before + now:
        one = attempt(number, total)
        single = Submission(student="aa", name="aa", origin="", files=())
        save_handing_in(results, one if total else single)
    assert [one.student for one in saved_submissions(results, "aa")] == found


def left(saved: Saved) -> None:
    """A student who left, with a report of other tests than there are now."""
    saved.add("bo")
    saved.add("gone")
    saved.add("gone", test="test_old.py::test_old")
    saved.name("bo")


def test_students_who_left_are_not_scored(saved: Saved) -> None:
    """They do not come back to the gradebook, nor can their old tests be in the way."""
    left(saved)
    assert saved.score() == 0
    assert saved.rows() == {"bo": ("graded", "10")}


def test_students_who_left_are_not_exported(saved: Saved, tmp_path: Path) -> None:
    """Nor can their scorecard be in the way."""
    left(saved)
    (saved.results.student("gone") / "score.json").write_text("")
    assert saved.export(tmp_path / "files") == 0
    assert [path.name for path in (tmp_path / "files").iterdir()] == ["bo.json"]


def test_students_who_left_are_not_compared(saved: Saved) -> None:
    """A broken scorecard of theirs is nobody's business."""
    left(saved)
    (saved.results.student("gone") / "score.json").write_text("")
    assert run(["diff", str(saved.results.folder), str(saved.results.folder)]) == 0


def test_nothing_is_exported_where_one_scorecard_is_broken(saved: Saved, tmp_path: Path) -> None:
    """All are looked at before the first file is written."""
    saved.add("bo")
    saved.add("zoe")
    (saved.results.student("zoe") / "score.json").write_text("")
    assert saved.export(tmp_path / "files") == 2
    assert not (tmp_path / "files").exists()


def live_cards() -> int:
    """Scorecards in memory."""
    return sum(type(one) is Scorecard for one in gc.get_objects())


def test_a_class_is_never_in_memory_as_a_whole(
    saved: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scorecards are let go of as soon as they are written."""
    for number in range(20):
        saved.add(f"s{number:02}")
    gc.collect()
    before, most = live_cards(), []
    replace = Path.replace

    def counting(path: Path, target: Path) -> Path:
        most.append(live_cards() - before)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", counting)
    assert saved.score() == 0
    assert saved.export(tmp_path / "files") == 0
    assert len(most) == 20 * 3 + 2
    assert max(most) < 5


PAIR = (Person(student="bo", name="Bo", email="bo@x.edu"), Person(student="cy", name="Cy"))


def test_members_of_a_group_without_report_keep_their_lines(saved: Saved) -> None:
    """Who handed in does not depend on an examination."""
    group = Submission(student="pair", name="Pair", origin="p.zip", files=(), people=PAIR)
    save_handing_in(saved.results, group)
    assert saved.score() == 1
    assert saved.rows() == {"bo": ("needs-attention", ""), "cy": ("needs-attention", "")}
    assert "bo@x.edu" in saved.results.gradebook.read_text()
    assert "p.zip" in saved.results.gradebook.read_text()


def test_what_was_examined_is_told_from_its_report(saved: Saved) -> None:
    """A score of a first file does not stand beside the name of a second, not yet examined."""
    saved.add("bo", origin="first.zip")
    save_handing_in(
        saved.results, Submission(student="bo", name="Bo", origin="second.zip", files=())
    )
    assert saved.score() == 0
    assert "first.zip" in saved.results.gradebook.read_text()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"people": 3}', '{"unknown": 1}'])
def test_a_damaged_record_is_named(
    saved: Saved, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to do; nothing is written."""
    saved.results.student("bo").mkdir(parents=True)
    saved.results.handing_in("bo").write_text(content)
    assert saved.score() == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "submission.json cannot be read" in told
    assert "Grade into that folder again" in told
    assert not saved.results.gradebook.exists()


LATE = """
late:
  due: 2026-10-03T23:59:00+00:00
  penalty: {percent: 10, per: day, cap: 50}
"""


def test_an_extension_may_name_any_attempt(saved: Saved, tmp_path: Path) -> None:
    """As in `grade`, by the name of each attempt's folder."""
    saved.rubric.write_text(saved.rubric.read_text() + LATE)
    for number in (1, 2):
        timing = json.dumps({"submitted": "2026-10-04T12:00:00"})
        name = f"amara/attempts/{number}"
        saved.add(name, attempts="2", timing=timing, name=f"g-{number}")
    more = tmp_path / "more.csv"
    more.write_text("student,days\ng-1,1\n")
    assert saved.score("--extensions", more) == 0
    assert saved.rows() == {"amara": ("graded", "10")}
