"""Many submissions: which have to be examined, examining them, and writing what came of it."""

from __future__ import annotations

import functools
import json
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader import __version__
from grader.attempts import split_id
from grader.errors import ReportError
from grader.examiner.client import Nursery
from grader.examiner.messages import UNWRITTEN, Job, Setup, SuiteMilestone
from grader.handing_in import handing_in_facts, refresh_facts, save_settled, settle_class
from grader.intake.staging import StagingArea, read_sources
from grader.lateness import Extension
from grader.model import Scorecard, Submission
from grader.provenance import Changes, provenance, torch_version
from grader.report.feedback import feedback_markdown
from grader.report.gradebook import gradebook_csv
from grader.results import Results, digest_of
from grader.rubric import Rubric, check_tests_counted
from grader.sandbox.policy import ALL_WALLS, FILE_WALLS
from grader.scoring import score, unscored

# Students whose files are staged ahead of the examiner, beyond those in progress.
AHEAD = 2
TRUSTED_REMARK = "Graded without a wall around the file system (--trust-submissions)."


@dataclass
class ClassRun:
    """One run over a class.

    Attributes:
        rubric: the assignment.
        rubric_path: its file, for messages.
        results: where to write.
        jobs: submissions examined at the same time.
        walls: the walls around each worker.
        fresh: examine all of them again.
        cold: start each worker as a new process, as where fork is not to be had.
        extensions: more time, by student.
        on_card: called with each scorecard as soon as it is written, and whether it is new.
        on_notice: told, in a sentence, what has changed since the saved results.
        digests: what each student's report must be about.
        examined: students with a submission that was examined in this run.
    """

    rubric: Rubric
    rubric_path: Path
    results: Results
    jobs: int
    walls: tuple[str, ...]
    fresh: bool = False
    cold: bool = False
    on_card: Callable[[Scorecard, bool], None] = lambda card, new: None
    extensions: Mapping[str, Extension] = field(default_factory=dict)
    on_notice: Callable[[str], None] = lambda text: None
    cards: dict[str, Scorecard] = field(default_factory=dict)
    examined: set[str] = field(default_factory=set)
    digests: dict[str, str] = field(default_factory=dict)

    def grade(self, nursery: Nursery, submissions: Sequence[Submission]) -> list[Scorecard]:
        """Grade a class and write the results folder.

        Args:
            nursery: started, not yet configured.
            submissions: the class.

        Returns:
            A scorecard for each student, in the order of the submissions.

        Raises:
            RubricError: if rubric and suites do not fit together.
            ResultsError: if the results folder cannot be written.
            NurseryError: if the nursery dies; what was graded before is on disk.
            OSError: if a file cannot be written, the disk being full perhaps; the same holds.
        """
        setup = setup_of(self.rubric, self.jobs, self.walls)
        nursery.configure(setup.model_copy(update={"cold": self.cold}))
        suites = suite_digest(self.rubric, self.walls)
        changes = Changes(self.provenance)
        pending: deque[tuple[Submission, list[tuple[str, bytes]], str]] = deque()
        unchanged = []
        for submission in submissions:
            sources = read_sources(submission)
            digest = submission_digest(sources, submission, suites)
            self.digests[submission.student] = digest
            if not self.fresh and self.results.saved_digest(submission.student) == digest:
                unchanged.append(submission)
            else:
                pending.append((submission, sources, digest))
                changes.add(self.results.saved_provenance(submission.student, self.provenance))
        if changes.students and not self.fresh:
            self.on_notice(changes.notice(len(submissions)))
        tests = nursery.wait_until_ready() if pending else self._tests_of(unchanged)
        check_tests_counted(self.rubric, self.rubric_path, tests)
        self.results.prepare()
        with self.results.claimed(), StagingArea() as staging:
            for submission in unchanged:
                refresh_facts(self.results, submission)
                self._finish(submission, new=False)
            self._examine(nursery, staging, pending)
            submissions, cards = self._settle(submissions)
            self._write_summary(submissions, cards)
        return cards

    def _settle(
        self, submissions: Sequence[Submission]
    ) -> tuple[list[Submission], list[Scorecard]]:
        """One submission and scorecard for each student, whatever the number of attempts."""
        settled = settle_class(submissions, self.cards, self.rubric)
        for _, card in settled:
            if card.attempts:
                save_settled(self.results, card, self.rubric)
        return [submission for submission, _ in settled], [card for _, card in settled]

    @functools.cached_property
    def provenance(self) -> dict[str, str]:
        """What the examinations of this run depend on besides the submissions."""
        return provenance(self.rubric, self.walls)

    def _tests_of(self, unchanged: Sequence[Submission]) -> list[str]:
        """Ids of all hidden tests, as the saved reports of the same suites have them."""
        report = self.results.load_report(unchanged[0].student)
        return [str(test) for test in report["examination"]["expected"]]

    def _examine(
        self,
        nursery: Nursery,
        staging: StagingArea,
        pending: deque[tuple[Submission, list[tuple[str, bytes]], str]],
    ) -> None:
        running: dict[str, tuple[Submission, Path]] = {}
        while pending or running:
            while pending and len(running) < self.jobs + AHEAD:
                submission, sources, digest = pending.popleft()
                folder = staging.stage(sources)
                running[submission.student] = (submission, folder)
                if self.fresh:  # else a report of before is told from the new one by its digest
                    self.results.report(submission.student).unlink(missing_ok=True)
                nursery.submit(self._job(submission, folder, digest, len(sources)))
            student, status = nursery.next_done()
            submission, folder = running.pop(student)
            staging.remove(folder)
            self._finish(submission, new=True, status=status)

    def _job(self, submission: Submission, folder: Path, digest: str, files: int) -> Job:
        facts = {
            "digest": digest,
            "name": submission.name,
            "origin": submission.origin,
            "files": str(files),
            "notes": "\n".join(submission.notes),
            "problem": submission.problem,
            **handing_in_facts(submission),
        }
        return Job(
            student=submission.student,
            folder=str(folder),
            candidates=submission.candidates,
            report=str(self.results.report(submission.student).resolve()),
            log=str(self.results.log(submission.student).resolve()),
            facts=facts,
            provenance=self.provenance,
        )

    def _finish(self, submission: Submission, new: bool, status: int = 0) -> None:
        """Score one report and write what follows from it."""
        card = self._scorecard(submission, status)
        self.results.save_scorecard(card, feedback_markdown(card, self.rubric))
        self.cards[submission.student] = card
        if new:
            self.examined.add(split_id(submission.student)[0])
        self.on_card(card, new)

    def _scorecard(self, submission: Submission, status: int) -> Scorecard:
        if status >= UNWRITTEN:
            reason = status - UNWRITTEN
            path = self.results.report(submission.student)
            raise OSError(reason, os.strerror(reason), str(path))
        try:
            if status != 0:
                raise ReportError(f"The examination itself failed (status {status}).", "Try again.")
            report = self.results.load_report(submission.student, self.digests[submission.student])
            extension = self.extensions.get(split_id(submission.student)[0])
            return score(report, self.rubric, extension)
        except ReportError as error:
            self.results.report(submission.student).unlink(missing_ok=True)  # one of before
            return unscored(submission.student, self.rubric, error.problem)

    def _write_summary(self, submissions: Sequence[Submission], cards: list[Scorecard]) -> None:
        trusted = not set(FILE_WALLS) & set(self.walls)
        remark = TRUSTED_REMARK if trusted else ""
        gradebook = gradebook_csv(submissions, cards, self.rubric, remark)
        self.results.save_gradebook(gradebook)
        run = {
            "format": 1,
            "grader": __version__,
            "torch": torch_version(),
            "provenance": self.provenance,
            "rubric": rubric_digest(self.rubric),
            "isolation": ["own process", *self.walls, "deadlines"],
            "trusted": trusted,
            "remark": remark,
            "counts": counts(cards),
        }
        self.results.save_run(run)


def setup_of(rubric: Rubric, jobs: int, walls: tuple[str, ...] = ALL_WALLS) -> Setup:
    """What the nursery has to know of a rubric."""
    return Setup(
        root=str(rubric.suite_folder.resolve()),
        suites=tuple(str(path.resolve()) for path in rubric.suite_paths),
        milestones=tuple(
            SuiteMilestone(id=m.id, file=m.file, suite=m.suite) for m in rubric.milestones
        ),
        solutions=str((rubric.root / rubric.solutions).resolve()),
        question_seconds=rubric.limits.question_seconds,
        submission_seconds=rubric.limits.submission_seconds,
        memory_mb=rubric.limits.memory_mb,
        output_kb=rubric.limits.output_kb,
        jobs=jobs,
        walls=walls,
    )


def suite_digest(rubric: Rubric, walls: Sequence[str] = ALL_WALLS) -> str:
    """Digest of everything but the submission that an examination depends on."""
    parts = provenance(rubric, walls)
    return digest_of((name, value.encode()) for name, value in parts.items())


def submission_digest(
    sources: Sequence[tuple[str, bytes]], submission: Submission, suites: str
) -> str:
    """Digest of one submission's files and of all that its examination depends on."""
    facts = {"problem": submission.problem, "notes": list(submission.notes)}
    prefix = [("suites", suites.encode()), ("facts", json.dumps(facts).encode())]
    return digest_of([*prefix, *sources])


def rubric_digest(rubric: Rubric) -> str:
    """Digest of a rubric's meaning: comments and layout of the file do not count."""
    return digest_of([("rubric", rubric.model_dump_json().encode())])


def counts(cards: Sequence[Scorecard]) -> dict[str, int]:
    """How many submissions ended in which status."""
    return {
        status: sum(card.status == status for card in cards)
        for status in ("graded", "needs-attention", "no-submission")
    }
