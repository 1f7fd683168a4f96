"""Many submissions: which have to be examined, examining them, and writing what came of it."""

from __future__ import annotations

import functools
import importlib.metadata
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader import __version__
from grader.attempts import split_id
from grader.errors import ReportError
from grader.examiner.client import Nursery
from grader.examiner.messages import Job, Setup, SuiteMilestone
from grader.handing_in import handing_in_facts, refresh_facts, save_settled, settle_class
from grader.intake.staging import StagingArea, read_sources
from grader.lateness import Extension
from grader.model import Scorecard, Submission
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
    cards: dict[str, Scorecard] = field(default_factory=dict)

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
        """
        setup = setup_of(self.rubric, self.jobs, self.walls)
        nursery.configure(setup.model_copy(update={"cold": self.cold}))
        suites = suite_digest(self.rubric)
        pending: deque[tuple[Submission, list[tuple[str, bytes]], str]] = deque()
        unchanged = []
        for submission in submissions:
            sources = read_sources(submission)
            digest = submission_digest(sources, submission, suites)
            if not self.fresh and self.results.saved_digest(submission.student) == digest:
                unchanged.append(submission)
            else:
                pending.append((submission, sources, digest))
        tests = nursery.wait_until_ready() if pending else self._tests_of(unchanged)
        check_tests_counted(self.rubric, self.rubric_path, tests)
        self.results.prepare()
        for submission in unchanged:
            refresh_facts(self.results, submission)
            self._finish(submission, new=False)
        with StagingArea() as staging:
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
            "grader": __version__,
            "torch": torch_version(),
            **handing_in_facts(submission),
        }
        return Job(
            student=submission.student,
            folder=str(folder),
            candidates=submission.candidates,
            report=str(self.results.report(submission.student).resolve()),
            log=str(self.results.log(submission.student).resolve()),
            facts=facts,
        )

    def _finish(self, submission: Submission, new: bool, status: int = 0) -> None:
        """Score one report and write what follows from it."""
        card = self._scorecard(submission, status)
        self.results.save_scorecard(card, feedback_markdown(card, self.rubric))
        self.cards[submission.student] = card
        self.on_card(card, new)

    def _scorecard(self, submission: Submission, status: int) -> Scorecard:
        if status != 0:
            problem = f"The examination itself failed (status {status})."
            return unscored(submission.student, self.rubric, problem)
        try:
            extension = self.extensions.get(split_id(submission.student)[0])
            return score(self.results.load_report(submission.student), self.rubric, extension)
        except ReportError as error:
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
        question_seconds=rubric.limits.question_seconds,
        submission_seconds=rubric.limits.submission_seconds,
        memory_mb=rubric.limits.memory_mb,
        output_kb=rubric.limits.output_kb,
        jobs=jobs,
        walls=walls,
    )


def suite_digest(rubric: Rubric) -> str:
    """Digest of everything but the submission that an examination depends on."""

    def parts() -> Iterator[tuple[str, bytes]]:
        yield "grader", __version__.encode()
        yield "torch", torch_version().encode()
        yield "limits", rubric.limits.model_dump_json().encode()
        for milestone in rubric.milestones:
            yield milestone.id, f"{milestone.file}:{milestone.suite}".encode()
        for path in sorted(rubric.suite_folder.rglob("*.py")):
            yield path.relative_to(rubric.suite_folder).as_posix(), path.read_bytes()

    return digest_of(parts())


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


@functools.cache
def torch_version() -> str:
    """Version of the installed torch, without importing it."""
    return importlib.metadata.version("torch")


def counts(cards: Sequence[Scorecard]) -> dict[str, int]:
    """How many submissions ended in which status."""
    return {
        status: sum(card.status == status for card in cards)
        for status in ("graded", "needs-attention", "no-submission")
    }
