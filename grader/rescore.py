"""Scoring a class again from its saved reports, with the rubric as it is now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.attempts import examined_ids, settle
from grader.batch import Summary, rubric_digest
from grader.errors import ReportError, ResultsError
from grader.handing_in import save_settled, saved_submission
from grader.lateness import Extension
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
        attempts: scorecards of the attempts, where there are several.
    """

    before: Scorecard | None
    after: Scorecard
    attempts: tuple[Scorecard, ...] = ()

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


def saved_class(results: Results) -> list[Submission]:
    """The submissions of a results folder, as far as their reports tell of them.

    Raises:
        ResultsError: if the folder holds no students.
    """
    students = results.graded_students()
    if not students:
        raise ResultsError(
            f"{results.folder} holds no graded students.",
            "Give the results folder of a run: grade SUBMISSIONS --out RESULTS.",
        )
    return [saved_submission(results, student) for student in students]


def rescore(
    results: Results,
    rubric: Rubric,
    rubric_path: Path,
    extensions: Mapping[str, Extension],
) -> list[Rescored]:
    """New scorecards for all students of a results folder; nothing is written.

    Args:
        results: the folder.
        rubric: as it is now.
        rubric_path: its file, for messages.
        extensions: more time, by student.

    Raises:
        RubricError: if the rubric does not fit the tests of the saved reports.
    """
    again = _Again(results, rubric, rubric_path)
    found = []
    for student in results.graded_students():
        before = results.load_scorecard(student)
        attempts = examined_ids(before) if before else []
        extension = extensions.get(student)
        scored = [again.scorecard(one, extension) for one in attempts or [student]]
        cards = tuple(card for card in scored if card is not None)
        if before and attempts and cards:
            after = settle(student, cards, len(before.attempts), rubric.attempts)
            found.append(Rescored(before, after, cards))
        elif cards:
            after = cards[0].model_copy(update={"student": student})
            found.append(Rescored(before, after))
    return found


@dataclass
class _Again:
    """Scores saved reports with a rubric that is checked against each list of tests once."""

    results: Results
    rubric: Rubric
    rubric_path: Path
    checked: set[tuple[str, ...]] = field(default_factory=set)

    def scorecard(self, identifier: str, extension: Extension | None) -> Scorecard | None:
        """The scorecard of a student or attempt; the saved one if there is no report."""
        try:
            report = self.results.load_report(identifier)
        except ReportError:  # what could not be examined then is no better known now
            return self.results.load_scorecard(identifier)
        tests = tuple(str(test) for test in report["examination"]["expected"])
        if tests not in self.checked:
            check_tests_counted(self.rubric, self.rubric_path, tests)
            self.checked.add(tests)
        return score(report, self.rubric, extension)


def save_rescored(results: Results, rubric: Rubric, rescored: Sequence[Rescored]) -> None:
    """Write scorecards, feedback, gradebook and what run.json says of them."""
    for one in rescored:
        for card in (*one.attempts, *(() if one.attempts else (one.after,))):
            results.save_scorecard(card, feedback_markdown(card, rubric))
        if one.attempts:
            save_settled(results, one.after, rubric)
    cards = [one.after for one in rescored]
    run = results.load_run()
    submissions = [saved_submission(results, card.student) for card in cards]
    remark = str(run.get("remark", ""))
    settled = zip(submissions, cards, strict=True)
    results.save_gradebook(gradebook_csv(settled, rubric, remark))
    summary = Summary()
    for card in cards:
        summary.add(card)
    results.save_run({**run, "rubric": rubric_digest(rubric), "counts": summary.counts})
