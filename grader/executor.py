"""Where submissions are examined: the seam between a class and the machines that work on it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from grader.examiner.child import ALTERED
from grader.examiner.lasting import LastingNursery
from grader.examiner.messages import UNWRITTEN, Job, Setup
from grader.intake.staging import StagingArea
from grader.sandbox.policy import LANDLOCK, UID

# Students whose files are staged ahead of the examiner, beyond those in progress.
AHEAD = 2
# Whose files somebody touches is examined again, so many times in all.
MAX_STAGINGS = 2


@dataclass(frozen=True)
class Work:
    """One submission to examine.

    Attributes:
        student: safe id; one piece of work for each.
        sources: name and content of each of its files.
        candidates: files to try for each milestone id, best first.
        facts: copied into the report as they are.
        provenance: what the examination depends on besides the submission; copied too.
        report: where report.json must lie when the work is done; an older one is told from it by
            the digest among the facts.
        log: where log.txt must lie then.
    """

    student: str
    sources: Sequence[tuple[str, bytes]]
    candidates: dict[str, tuple[str, ...]]
    facts: dict[str, str]
    provenance: dict[str, str]
    report: Path
    log: Path


class Executor(Protocol):
    """Examines submissions, several at the same time.

    First `begin`, then `wait_until_ready` if anything is to be examined, then `submit` and
    `next_done` in any mixture.
    """

    @property
    def capacity(self) -> float:
        """How much work it wants to have in hand."""

    def begin(self, setup: Setup) -> None:
        """Say which assignment is to be examined.

        Args:
            setup: jobs, walls and the way to start workers in it are the executor's to choose.
        """

    def wait_until_ready(self) -> list[str]:
        """Wait for the suites to be collected; return the ids of all hidden tests.

        Raises:
            SuiteError: if a suite cannot be imported.
        """

    def submit(self, work: Work) -> None:
        """Take one more submission."""

    def next_done(self) -> tuple[str, str]:
        """Wait for an examination to end.

        Returns:
            The student, and why there is no report; nothing if there is one.
        """

    def walls(self) -> list[tuple[str, ...]]:
        """The walls around workers, for each machine that has examined something."""


class Local:
    """Examines on this machine, in one nursery, which starts at once.

    Use it as a context manager: at its end the nursery and all below it end too.

    Args:
        jobs: submissions examined at the same time.
        walls: the walls around each worker.
        cold: start each worker as a new process, as where fork is not to be had.
        say: told why there is another nursery, if one has ended.
        trusted: go on although student code can read what it must not see.
    """

    def __init__(
        self,
        jobs: int,
        walls: tuple[str, ...],
        cold: bool = False,
        say: Callable[[str], None] = lambda why: None,
        trusted: bool = False,
    ) -> None:
        self._trusted = trusted
        self._say = say
        self._jobs = jobs
        self._walls = walls
        self._cold = cold
        self._used = False
        self._staged: dict[str, tuple[Work, Path]] = {}
        self._stagings: Counter[str] = Counter()

    def __enter__(self) -> Local:
        with ExitStack() as stack:
            # Removed last: an examination in progress must never find a file missing.
            self._staging = stack.enter_context(StagingArea())
            self._nursery = stack.enter_context(LastingNursery(self._say))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def capacity(self) -> float:
        """See `Executor`."""
        return self._jobs + AHEAD

    def begin(self, setup: Setup) -> None:
        """See `Executor`."""
        another = self._staging.stage([("another.py", b"# a submission that no other may read")])
        update = {
            "jobs": self._jobs,
            "walls": self._walls,
            "cold": self._cold,
            "hidden": (*setup.hidden, str(another)),
            "trusted": self._trusted,
        }
        self._nursery.configure(setup.model_copy(update=update))

    def wait_until_ready(self) -> list[str]:
        """See `Executor`."""
        return self._nursery.wait_until_ready()

    def submit(self, work: Work) -> None:
        """Stage the files; the examiner's child writes the report where it must lie."""
        self._used = True
        folder = self._staging.stage(work.sources)
        self._staged[work.student] = (work, folder)
        self._stagings[work.student] += 1
        job = Job(
            student=work.student,
            folder=str(folder),
            candidates=work.candidates,
            report=str(work.report.resolve()),
            log=str(work.log.resolve()),
            facts=work.facts,
            provenance=work.provenance,
            fingerprints=self._staging.fingerprints(folder),
        )
        self._nursery.submit(job)

    def next_done(self) -> tuple[str, str]:
        """See `Executor`.

        Raises:
            OSError: if a report cannot be written.
            NurseryError: if the nurseries end one after the other.
        """
        while True:
            student, status = self._nursery.next_done()
            work, folder = self._staged.pop(student)
            if not self._staging.is_whole(folder) and status < UNWRITTEN:
                status = ALTERED
                work.report.unlink(missing_ok=True)  # nothing in it can be relied on
            self._staging.remove(folder)
            if status != ALTERED or self._stagings[student] >= MAX_STAGINGS:
                break
            self.submit(work)
        del self._stagings[student]
        if status >= UNWRITTEN:
            reason = status - UNWRITTEN
            raise OSError(reason, os.strerror(reason), str(work.report))
        return student, failure(status)

    def walls(self) -> list[tuple[str, ...]]:
        """See `Executor`.

        A user of its own keeps files from a worker only where they are closed to others, which
        nobody has tried where submissions are trusted.
        """
        untried = self._trusted and LANDLOCK not in self._walls
        walls = tuple(wall for wall in self._walls if not (untried and wall == UID))
        return [walls] if self._used else []


def failure(status: int) -> str:
    """Why there is no report, from the exit status of the examiner's child."""
    if status == ALTERED:
        return (
            "Somebody removed, changed or closed its files while it was examined. Run the same "
            "command again."
        )
    return f"The examination itself failed (status {status})." if status else ""
