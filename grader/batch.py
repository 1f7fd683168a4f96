"""Many submissions: which have to be examined, examining them, and writing what came of it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader import __version__
from grader.errors import ReportError
from grader.examiner.messages import Setup, SuiteMilestone
from grader.executor import Executor, Work
from grader.intake.staging import read_sources
from grader.model import Scorecard, Submission
from grader.report.feedback import feedback_markdown
from grader.report.gradebook import gradebook_csv
from grader.results import Results, digest_of
from grader.rubric import Rubric, check_tests_counted
from grader.sandbox.policy import ALL_WALLS, FILE_WALLS
from grader.scoring import score, unscored
from grader.versions import torch_version

TRUSTED_REMARK = "Graded without a wall around the file system (--trust-submissions)."


@dataclass
class ClassRun:
    """One run over a class.

    Attributes:
        rubric: the assignment.
        rubric_path: its file, for messages.
        results: where to write.
        fresh: examine all of them again.
        on_card: called with each scorecard as soon as it is written, and whether it is new.
    """

    rubric: Rubric
    rubric_path: Path
    results: Results
    fresh: bool = False
    on_card: Callable[[Scorecard, bool], None] = lambda card, new: None
    cards: dict[str, Scorecard] = field(default_factory=dict)

    def grade(self, executor: Executor, submissions: Sequence[Submission]) -> list[Scorecard]:
        """Grade a class and write the results folder.

        Args:
            executor: examines; nothing was asked of it before.
            submissions: the class.

        Returns:
            A scorecard for each submission, in the same order.

        Raises:
            RubricError: if rubric and suites do not fit together.
            ResultsError: if the results folder cannot be written.
            NurseryError: if the nursery dies; what was graded before is on disk.
            ClusterError: if there is no cluster to examine on.
        """
        executor.begin(setup_of(self.rubric))
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
        tests = executor.wait_until_ready() if pending else self._tests_of(unchanged)
        check_tests_counted(self.rubric, self.rubric_path, tests)
        self.results.prepare()
        for submission in unchanged:
            self._finish(submission, new=False)
        self._examine(executor, pending)
        cards = [self.cards[submission.student] for submission in submissions]
        self._write_summary(submissions, cards, executor.walls())
        return cards

    def _tests_of(self, unchanged: Sequence[Submission]) -> list[str]:
        """Ids of all hidden tests, as the saved reports of the same suites have them."""
        report = self.results.load_report(unchanged[0].student)
        return [str(test) for test in report["examination"]["expected"]]

    def _examine(
        self,
        executor: Executor,
        pending: deque[tuple[Submission, list[tuple[str, bytes]], str]],
    ) -> None:
        running: dict[str, Submission] = {}
        while pending or running:
            while pending and len(running) < executor.capacity:
                submission, sources, digest = pending.popleft()
                running[submission.student] = submission
                executor.submit(self._work(submission, sources, digest))
            student, problem = executor.next_done()
            self._finish(running.pop(student), new=True, problem=problem)

    def _work(self, submission: Submission, sources: list[tuple[str, bytes]], digest: str) -> Work:
        facts = {
            "digest": digest,
            "name": submission.name,
            "origin": submission.origin,
            "files": str(len(sources)),
            "notes": "\n".join(submission.notes),
            "problem": submission.problem,
            "grader": __version__,
            "torch": torch_version(),
        }
        return Work(
            student=submission.student,
            sources=sources,
            candidates=submission.candidates,
            facts=facts,
            report=self.results.report(submission.student),
            log=self.results.log(submission.student),
        )

    def _finish(self, submission: Submission, new: bool, problem: str = "") -> None:
        """Score one report and write what follows from it."""
        card = self._scorecard(submission, problem)
        self.results.save_scorecard(card, feedback_markdown(card, self.rubric))
        self.cards[submission.student] = card
        self.on_card(card, new)

    def _scorecard(self, submission: Submission, problem: str) -> Scorecard:
        if problem:
            return unscored(submission.student, self.rubric, problem)
        try:
            return score(self.results.load_report(submission.student), self.rubric)
        except ReportError as error:
            return unscored(submission.student, self.rubric, error.problem)

    def _write_summary(
        self,
        submissions: Sequence[Submission],
        cards: list[Scorecard],
        walls: list[tuple[str, ...]],
    ) -> None:
        contained = containment(walls) if walls else self._contained_before()
        gradebook = gradebook_csv(submissions, cards, self.rubric, contained["remark"])
        self.results.save_gradebook(gradebook)
        run = {
            "format": 1,
            "grader": __version__,
            "torch": torch_version(),
            "rubric": rubric_digest(self.rubric),
            **contained,
            "counts": counts(cards),
        }
        self.results.save_run(run)

    def _contained_before(self) -> dict[str, Any]:
        """What run.json says of the run before: nothing was examined since."""
        before = self.results.load_run()
        return {key: before.get(key, value) for key, value in containment([()]).items()}


def containment(machines: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """What run.json says of the walls around workers: those that stood on every machine.

    Args:
        machines: the walls on each machine that has examined something.
    """
    weakest = [wall for wall in ALL_WALLS if all(wall in walls for walls in machines)]
    trusted = any(not set(FILE_WALLS) & set(walls) for walls in machines)
    return {
        "isolation": ["own process", *weakest, "deadlines"],
        "trusted": trusted,
        "remark": TRUSTED_REMARK if trusted else "",
    }


def setup_of(rubric: Rubric, jobs: int = 1, walls: tuple[str, ...] = ALL_WALLS) -> Setup:
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


def counts(cards: Sequence[Scorecard]) -> dict[str, int]:
    """How many submissions ended in which status."""
    return {
        status: sum(card.status == status for card in cards)
        for status in ("graded", "needs-attention", "no-submission")
    }
