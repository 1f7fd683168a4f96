"""Scoring a class again from its saved reports, with the rubric as it is now.

No more than one student's scorecards are held at a time: they are made once to see who would lose
points, and again to be written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.attempts import split_id
from grader.batch import Summary, rubric_digest
from grader.errors import ReportError
from grader.handing_in import save_settled, saved_submissions, settle_class
from grader.lateness import Extension
from grader.model import Scorecard, Status, Submission
from grader.report.feedback import feedback_markdown
from grader.report.gradebook import gradebook_csv
from grader.results import Results
from grader.rubric import Rubric, check_tests_counted
from grader.scoring import score, unscored

NOT_EXAMINED = "There is no report of this submission: run `grade SUBMISSIONS` for it."


@dataclass(frozen=True)
class Standing:
    """What a scorecard comes to."""

    score: float | None
    status: Status


@dataclass(frozen=True)
class Rescored:
    """How one student stood before, and stands now.

    Attributes:
        before: as it was saved; `None` if there was no scorecard that could be read.
    """

    student: str
    before: Standing | None
    after: Standing

    @property
    def changed(self) -> bool:
        """Whether score or status are others now."""
        return self.before != self.after

    @property
    def loses(self) -> bool:
        """Whether the student has fewer points now."""
        if self.before is None or self.before.score is None:
            return False
        return self.after.score is None or self.after.score < self.before.score


def saved_class(results: Results) -> list[Submission]:
    """The submissions of a results folder, every examined attempt being one.

    Raises:
        ResultsError: if the folder holds no students, or what it tells of one cannot be read.
    """
    return [one for student in results.class_list() for one in saved_submissions(results, student)]


@dataclass
class Rescoring:
    """Scores the saved reports of a class with a rubric.

    Attributes:
        results: the folder.
        rubric: as it is now.
        rubric_path: its file, for messages.
        submissions: the class, as `saved_class` has it.
        extensions: more time, by student.
    """

    results: Results
    rubric: Rubric
    rubric_path: Path
    submissions: Sequence[Submission]
    extensions: Mapping[str, Extension]
    _checked: set[tuple[str, ...]] = field(default_factory=set)

    def compare(self) -> list[Rescored]:
        """How everybody would stand; nothing is written.

        Raises:
            RubricError: if the rubric does not fit the tests of the saved reports.
        """
        found = []
        for _, card in settle_class(self.submissions, self._scorecard, self.rubric):
            before = self.results.load_scorecard(card.student)
            standing = Standing(before.score, before.status) if before else None
            found.append(Rescored(card.student, standing, Standing(card.score, card.status)))
        return found

    def save(self) -> None:
        """Write scorecards, feedback, gradebook and what run.json says of them."""
        run, summary = self.results.load_run(), Summary()
        remark = str(run.get("remark", ""))
        settled = self._saved(summary)
        self.results.save_gradebook(gradebook_csv(settled, self.rubric, remark))
        now = {"rubric": rubric_digest(self.rubric), "counts": summary.counts}
        self.results.save_run({**run, **now})

    def _saved(self, summary: Summary) -> Iterator[tuple[Submission, Scorecard]]:
        for submission, card in settle_class(self.submissions, self._save_one, self.rubric):
            if card.attempts:
                save_settled(self.results, card, self.rubric)
            summary.add(card)
            yield submission, card

    def _save_one(self, identifier: str) -> Scorecard:
        card = self._scorecard(identifier)
        self.results.save_scorecard(card, feedback_markdown(card, self.rubric))
        return card

    def _scorecard(self, identifier: str) -> Scorecard:
        """The scorecard of a student or attempt; the saved one if there is no report."""
        try:
            report = self.results.load_report(identifier)
        except ReportError:  # what could not be examined then is no better known now
            saved = self.results.load_scorecard(identifier)
            return saved or unscored(identifier, self.rubric, NOT_EXAMINED)
        tests = tuple(str(test) for test in report["examination"]["expected"])
        if tests not in self._checked:
            check_tests_counted(self.rubric, self.rubric_path, tests)
            self._checked.add(tests)
        card = score(report, self.rubric, self.extensions.get(split_id(identifier)[0]))
        return card.model_copy(update={"student": identifier})
