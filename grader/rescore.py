"""Scoring a class again from its saved reports, with the rubric as it is now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.batch import counts, rubric_digest
from grader.errors import ReportError, ResultsError
from grader.model import Scorecard, Submission
from grader.report.feedback import feedback_markdown
from grader.report.gradebook import gradebook_csv
from grader.results import Results
from grader.rubric import Rubric, check_tests_counted
from grader.scoring import score


@dataclass(frozen=True)
class Rescored:
    """One student's scorecard before and after.

    Attributes:
        before: as it was saved; `None` if there was none that could be read.
    """

    before: Scorecard | None
    after: Scorecard

    @property
    def changed(self) -> bool:
        """Whether score or status are others now."""
        return self.before is None or (self.before.score, self.before.status) != (
            self.after.score,
            self.after.status,
        )

    @property
    def loses(self) -> bool:
        """Whether the student has fewer points now."""
        if self.before is None or self.before.score is None:
            return False
        return self.after.score is None or self.after.score < self.before.score


def rescore(results: Results, rubric: Rubric, rubric_path: Path) -> list[Rescored]:
    """New scorecards for all students of a results folder; nothing is written.

    Raises:
        ResultsError: if the folder holds no students.
        RubricError: if the rubric does not fit the tests of the saved reports.
    """
    students = results.students()
    if not students:
        raise ResultsError(
            f"{results.folder} holds no graded students.",
            "Give the results folder of a run: grade SUBMISSIONS --out RESULTS.",
        )
    checked: set[tuple[str, ...]] = set()
    found = []
    for student in students:
        before = results.load_scorecard(student)
        try:
            report = results.load_report(student)
        except ReportError:
            if before is not None:  # what could not be examined then is no better known now
                found.append(Rescored(before, before))
            continue
        tests = tuple(str(test) for test in report["examination"]["expected"])
        if tests not in checked:
            check_tests_counted(rubric, rubric_path, tests)
            checked.add(tests)
        found.append(Rescored(before, score(report, rubric)))
    return found


def save_rescored(results: Results, rubric: Rubric, rescored: Sequence[Rescored]) -> None:
    """Write scorecards, feedback, gradebook and what run.json says of them."""
    cards = [one.after for one in rescored]
    for card in cards:
        results.save_scorecard(card, feedback_markdown(card, rubric))
    run = results.load_run()
    submissions = [_submission(results, card.student) for card in cards]
    remark = str(run.get("remark", ""))
    results.save_gradebook(gradebook_csv(submissions, cards, rubric, remark))
    results.save_run({**run, "rubric": rubric_digest(rubric), "counts": counts(cards)})


def _submission(results: Results, student: str) -> Submission:
    """What the gradebook says of a submission, from its saved report."""
    try:
        facts = results.load_report(student)["examination"]["facts"]
    except ReportError:
        facts = {}
    name, origin = str(facts.get("name", student)), str(facts.get("origin", ""))
    return Submission(student=student, name=name, origin=origin, files=())
