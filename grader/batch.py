"""Many submissions: which have to be examined, examining them, and writing what came of it.

However large the class is, no more is kept of a submission than its names: sources are read again
when it is their turn, and scorecards when somebody looks at them.
"""

from __future__ import annotations

import functools
import json
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader import __version__
from grader.attempts import split_id
from grader.errors import ReportError, ResultsError
from grader.examiner.messages import Setup, SuiteMilestone
from grader.executor import Executor, Work
from grader.files import digest_of
from grader.handing_in import (
    handing_in_facts,
    refresh_facts,
    save_handing_in,
    save_settled,
    settle_class,
)
from grader.intake.staging import read_sources
from grader.lateness import Extension
from grader.model import Scorecard, Submission
from grader.provenance import Changes, provenance
from grader.report.feedback import feedback_markdown
from grader.report.gradebook import UNKNOWN, gradebook_csv, late_cell
from grader.results import Results, SavedCards
from grader.rubric import Rubric, check_tests_counted
from grader.sandbox.policy import ALL_WALLS, FILE_WALLS
from grader.scoring import score, unscored
from grader.seeds import new_seed
from grader.versions import torch_version

TRUSTED_REMARK = "Graded without a wall around the file system (--trust-submissions)."
# Of a large class the first submissions stand for all where workers try what they can read.
MAX_TRIED = 3
STATUSES = ("graded", "needs-attention", "no-submission")


@dataclass
class Summary:
    """What is told of a class as a whole.

    Attributes:
        statuses: how many students ended in which status.
        problems: students who need attention, with the reason.
        times_unknown: students of whom nobody knows when they handed in.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)
    times_unknown: int = 0

    def add(self, card: Scorecard) -> None:
        """Take note of one student."""
        self.statuses[card.status] += 1
        self.times_unknown += late_cell(card) == UNKNOWN
        if card.problem:
            self.problems.append((card.student, card.problem))

    @property
    def counts(self) -> dict[str, int]:
        """How many students ended in each status."""
        return {status: self.statuses[status] for status in STATUSES}


@dataclass
class ClassRun:
    """One run over a class.

    Attributes:
        rubric: the assignment.
        rubric_path: its file, for messages.
        results: where to write.
        walls: the walls around workers that are hoped for, as saved results have them.
        fresh: examine all of them again.
        extensions: more time, by student.
        seed: of the tests' random numbers; secret, and without one given another for each run.
        on_card: called with each scorecard as soon as it is written, and whether it is new.
        on_notice: told, in a sentence, what has changed since the saved results.
        summary: of the class; whole after `grade`.
        examined: students with a submission that was examined in this run.
    """

    rubric: Rubric
    rubric_path: Path
    results: Results
    walls: Sequence[str] = ALL_WALLS
    fresh: bool = False
    extensions: Mapping[str, Extension] = field(default_factory=dict)
    seed: int | None = None
    on_card: Callable[[Scorecard, bool], None] = lambda card, new: None
    on_notice: Callable[[str], None] = lambda text: None
    summary: Summary = field(default_factory=Summary)
    examined: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.seed = new_seed() if self.seed is None else self.seed

    def grade(self, executor: Executor, submissions: Sequence[Submission]) -> SavedCards:
        """Grade a class and write the results folder.

        Args:
            executor: examines; nothing was asked of it before.
            submissions: the class.

        Returns:
            A scorecard for each student, in the order of the submissions.

        Raises:
            RubricError: if rubric and suites do not fit together.
            ResultsError: if the results folder cannot be written.
            NurseryError: if the nursery dies; what was graded before is on disk.
            ClusterError: if there is no cluster to examine on.
            OSError: if a file cannot be written, the disk being full perhaps; what was graded
                before is on disk.
        """
        executor.begin(setup_of(self.rubric, seed=self.seed, hidden=self._hidden(submissions)))
        unchanged, pending = self._sorted_out(submissions)
        tests = executor.wait_until_ready() if pending else self._tests_of(unchanged)
        check_tests_counted(self.rubric, self.rubric_path, tests)
        self.results.prepare()
        with self.results.claimed():
            for submission, digest in unchanged:
                refresh_facts(self.results, submission)
                self._finish(submission, "", digest, new=False)
            self._examine(executor, deque(pending))
            machines = executor.walls()
            if unchanged:  # they were contained as they were
                machines = [*machines, *self._walls_before()]
            return self._write_summary(submissions, machines)

    def _hidden(self, submissions: Sequence[Submission]) -> tuple[str, ...]:
        """What no student code may read, besides suites and solutions."""
        handed_in = [file.path for one in submissions[:MAX_TRIED] for file in one.files]
        return tuple(map(str, (self.rubric_path, self.results.folder, *handed_in)))

    def _sorted_out(
        self, submissions: Sequence[Submission]
    ) -> tuple[list[tuple[Submission, str]], list[Submission]]:
        """Those whose saved reports still hold, with their digests, and those to be examined."""
        if self.fresh:
            return [], list(submissions)
        unchanged, pending = [], []
        changes = Changes(self.provenance)
        for submission in submissions:
            digest = self._digest(read_sources(submission), submission)
            if self.results.saved_digest(submission.student) == digest:
                unchanged.append((submission, digest))
            else:
                pending.append(submission)
                changes.add(self.results.saved_provenance(submission.student, self.provenance))
        if changes.students:
            self.on_notice(changes.notice(len(submissions)))
        return unchanged, pending

    @functools.cached_property
    def provenance(self) -> dict[str, str]:
        """What the examinations of this run depend on besides the submissions."""
        return provenance(self.rubric, self.walls)

    @functools.cached_property
    def _suites(self) -> str:
        return suite_digest(self.provenance)

    def _digest(self, sources: Sequence[tuple[str, bytes]], submission: Submission) -> str:
        return submission_digest(sources, submission, self._suites)

    def _tests_of(self, unchanged: Sequence[tuple[Submission, str]]) -> list[str]:
        """Ids of all hidden tests, as the saved reports of the same suites have them."""
        report = self.results.load_report(unchanged[0][0].student)
        return [str(test) for test in report["examination"]["expected"]]

    def _examine(self, executor: Executor, pending: deque[Submission]) -> None:
        running: dict[str, tuple[Submission, str]] = {}
        while pending or running:
            while pending and len(running) < executor.capacity:
                submission = pending.popleft()
                work = self._work(submission)
                running[submission.student] = (submission, work.facts["digest"])
                if self.fresh:  # else a report of before is told from the new one by its digest
                    work.report.unlink(missing_ok=True)
                save_handing_in(self.results, submission)
                executor.submit(work)
            student, problem = executor.next_done()
            submission, digest = running.pop(student)
            self._finish(submission, problem, digest, new=True)

    def _work(self, submission: Submission) -> Work:
        sources = read_sources(submission)
        facts = {
            "digest": self._digest(sources, submission),
            "name": submission.name,
            "origin": submission.origin,
            "files": str(len(sources)),
            "notes": "\n".join(submission.notes),
            "problem": submission.problem,
            **handing_in_facts(submission),
        }
        return Work(
            student=submission.student,
            sources=sources,
            candidates=submission.candidates,
            facts=facts,
            provenance=self.provenance,
            report=self.results.report(submission.student),
            log=self.results.log(submission.student),
        )

    def _finish(self, submission: Submission, problem: str, digest: str, new: bool) -> None:
        """Score one report and write what follows from it."""
        card = self._scorecard(submission.student, problem, digest, new)
        self.results.save_scorecard(card, feedback_markdown(card, self.rubric))
        if new:
            self.examined.add(split_id(submission.student)[0])
        self.on_card(card, new)

    def _scorecard(self, student: str, problem: str, digest: str, new: bool) -> Scorecard:
        try:
            if problem:
                raise ReportError(problem, "Run the same command again.")
            extension = self.extensions.get(split_id(student)[0])
            report = self.results.load_report(student, digest)
            card = score(report, self.rubric, extension)
            return card.model_copy(update={"student": student})  # an attempt's, perhaps, before
        except ReportError as error:
            if not new:
                raise ResultsError(
                    f"{self.results.folder} was changed by somebody else meanwhile: {error}",
                    "Run the same command again.",
                ) from error
            self.results.report(student).unlink(missing_ok=True)  # one of before
            return unscored(student, self.rubric, error.problem)

    def _write_summary(
        self, submissions: Sequence[Submission], machines: Sequence[tuple[str, ...]]
    ) -> SavedCards:
        contained = containment(machines or [tuple(self.walls)])
        students: list[str] = []
        settled = self._settled(submissions, students)
        self.results.save_gradebook(gradebook_csv(settled, self.rubric, contained["remark"]))
        run = {
            "format": 1,
            "grader": __version__,
            "torch": torch_version(),
            "provenance": self.provenance,
            "rubric": rubric_digest(self.rubric),
            "seed": self._seed_of_results(),
            **contained,
            "counts": self.summary.counts,
            "students": students,
        }
        self.results.save_run(run)
        return SavedCards(self.results, students)

    def _settled(
        self, submissions: Sequence[Submission], students: list[str]
    ) -> Iterator[tuple[Submission, Scorecard]]:
        """One submission and scorecard for each student, whatever the number of attempts."""
        for submission, card in settle_class(submissions, self.results.read_scorecard, self.rubric):
            if card.attempts:
                save_settled(self.results, card, self.rubric)
            self.summary.add(card)
            students.append(card.student)
            yield submission, card

    def _seed_of_results(self) -> str:
        """The seed of the last run that examined anybody, as text; each report has its own."""
        return str(self.seed) if self.examined else str(self.results.load_run().get("seed", ""))

    def _walls_before(self) -> list[tuple[str, ...]]:
        """The walls that run.json tells of; an interrupted first run has left none."""
        isolation = self.results.load_run().get("isolation")
        return [tuple(map(str, isolation))] if isinstance(isolation, list) else []


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


def setup_of(
    rubric: Rubric,
    jobs: int = 1,
    walls: tuple[str, ...] = ALL_WALLS,
    seed: int | None = None,
    hidden: tuple[str, ...] = (),
) -> Setup:
    """What the nursery has to know of a rubric; without a seed, it gets a new one."""
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
        seed=new_seed() if seed is None else seed,
        walls=walls,
        packages=rubric.packages,
        hidden=tuple(os.path.abspath(path) for path in hidden),  # noqa: PTH100  # may not exist yet
    )


def suite_digest(parts: Mapping[str, str]) -> str:
    """Digest of everything but the submission that an examination depends on: its provenance."""
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
