"""Where submissions are examined: the seam between a class and the machines that work on it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from grader.examiner.client import Nursery
from grader.examiner.messages import Job, Setup
from grader.intake.staging import StagingArea

# Students whose files are staged ahead of the examiner, beyond those in progress.
AHEAD = 2


@dataclass(frozen=True)
class Work:
    """One submission to examine.

    Attributes:
        student: safe id; one piece of work for each.
        sources: name and content of each of its files.
        candidates: files to try for each milestone id, best first.
        facts: copied into the report as they are.
        report: where report.json must lie when the work is done; an older one must not, since it
            would pass for this one's where the examination ended without any.
        log: where log.txt must lie then.
    """

    student: str
    sources: Sequence[tuple[str, bytes]]
    candidates: dict[str, tuple[str, ...]]
    facts: dict[str, str]
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
    """

    def __init__(self, jobs: int, walls: tuple[str, ...], cold: bool = False) -> None:
        self._jobs = jobs
        self._walls = walls
        self._cold = cold
        self._staged: dict[str, Path] = {}

    def __enter__(self) -> Local:
        with ExitStack() as stack:
            self._nursery = stack.enter_context(Nursery())
            self._staging = stack.enter_context(StagingArea())
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
        update = {"jobs": self._jobs, "walls": self._walls, "cold": self._cold}
        self._nursery.configure(setup.model_copy(update=update))

    def wait_until_ready(self) -> list[str]:
        """See `Executor`."""
        return self._nursery.wait_until_ready()

    def submit(self, work: Work) -> None:
        """Stage the files; the examiner's child writes the report where it must lie."""
        work.report.unlink(missing_ok=True)
        folder = self._staging.stage(work.sources)
        self._staged[work.student] = folder
        job = Job(
            student=work.student,
            folder=str(folder),
            candidates=work.candidates,
            report=str(work.report.resolve()),
            log=str(work.log.resolve()),
            facts=work.facts,
        )
        self._nursery.submit(job)

    def next_done(self) -> tuple[str, str]:
        """See `Executor`."""
        student, status = self._nursery.next_done()
        self._staging.remove(self._staged.pop(student))
        return student, failure(status)

    def walls(self) -> list[tuple[str, ...]]:
        """See `Executor`."""
        return [self._walls]


def failure(status: int) -> str:
    """Why there is no report, from the exit status of the examiner's child."""
    return f"The examination itself failed (status {status})." if status else ""
