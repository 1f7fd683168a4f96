"""Every exception of the grader.

Each message says what was wrong, where, and what to do next.  Only the command
line turns an error into an exit status; the statuses are those of `ExitStatus`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path


class ExitStatus(IntEnum):
    """How a command ends."""

    DONE = 0
    NEEDS_ATTENTION = 1
    CHANGED = 1  # of `grade diff`, as of diff(1)
    WRONG_USAGE = 2
    INTERRUPTED = 130


class GraderError(Exception):
    """Base of all errors that a person is shown.

    Args:
        problem: what was wrong, and where.
        remedy: what to do next.
    """

    exit_status = ExitStatus.WRONG_USAGE

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}\n{remedy}")
        self.problem = problem
        self.remedy = remedy


class SubmissionsError(GraderError):
    """The folder of submissions is missing, empty or not a folder."""


class ResultsError(GraderError):
    """The results folder cannot be written or read."""


class RubricError(GraderError):
    """The rubric is invalid; `problems` holds every fault found in it.

    Args:
        path: the rubric file, as the user named it.
        problems: one line for each fault, with line and column where known.
        remedy: what to do next.
    """

    def __init__(
        self,
        path: str,
        problems: Sequence[str],
        remedy: str = "Mend these lines and run the command again.",
    ) -> None:
        self.problems = tuple(problems)
        count = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
        listing = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(
            f"{path}: {count} in the rubric:\n{listing}",
            remedy,
        )


class TableError(GraderError):
    """A CSV file that an instructor wrote is wrong; `problems` holds every fault found in it.

    Args:
        path: the file.
        problems: one line for each fault, with the number of its line where known.
    """

    def __init__(self, path: Path, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        count = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
        listing = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(
            f"{path}: {count}:\n{listing}",
            "Mend these lines and run the command again; a line that begins with # is left out.",
        )


class ReportError(GraderError):
    """A saved report.json does not hold what the grader writes."""

    exit_status = ExitStatus.NEEDS_ATTENTION


class AssignmentError(GraderError):
    """The assignment does not prove itself: a stub earns points, or a solution loses some."""

    exit_status = ExitStatus.NEEDS_ATTENTION


class ContainmentError(GraderError):
    """Nothing on this machine keeps student code from files that it must not read."""


class MissingPackageError(GraderError):
    """A distribution that student code may import is not installed as pip installs it.

    Args:
        name: of the distribution.
    """

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The package {name}, which the rubric lets student code import, is not installed "
            "beside the grader, or has no list of its files.",
            f"Install it with pip into the grader's own environment ({sys.prefix}), or correct "
            "`packages` in the rubric.",
        )


class SuiteError(GraderError):
    """A hidden suite cannot be imported, so nobody can be examined."""


class NurseryError(GraderError):
    """The nursery did not start, or ended before its work was done."""

    exit_status = ExitStatus.NEEDS_ATTENTION


class ClusterError(GraderError):
    """There is no cluster to examine on, or none of its workers can be used."""


class ClusterLostError(ClusterError):
    """The cluster went away before the work was done."""

    exit_status = ExitStatus.NEEDS_ATTENTION


class ArchiveError(GraderError):
    """An archive cannot be built as it is asked for."""


class DeadlineError(GraderError):
    """A run takes longer than it may, or may take too little: a fault of ours or the machine."""

    exit_status = ExitStatus.NEEDS_ATTENTION


class BoundaryError(Exception):
    """Something went wrong between the examiner and a worker.

    Never shown as it is: the examiner turns it into the verdict of a test.
    """


class FrameError(BoundaryError):
    """A frame breaks the rules of the wire: too large, malformed or not in the schema."""


class WorkerTimeoutError(BoundaryError):
    """The worker did not answer before the deadline, and was killed.

    Args:
        seconds: wall time that it was given.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} seconds")
        self.seconds = seconds


class WorkerCrashedError(BoundaryError):
    """The worker's process ended before it had answered."""


class ScratchFullError(WorkerCrashedError):
    """A worker wrote more files than it may, and was killed for it."""


class WorkerStartError(BoundaryError):
    """No worker could be started: a fault of the grader or of the machine."""


class RefusedTensorError(BoundaryError):
    """A tensor cannot cross the boundary, for instance a meta or a sparse tensor."""


class OutOfTimeError(Exception):
    """The processor time that the examiner may take for one submission is used up."""


class StudentFaultError(Exception):
    """A hidden test found something in the student's work; it becomes the test's verdict.

    Args:
        verdict: value of the `Verdict` that the test gets.
        message: what the student reads.
        details: what the student reads besides where the rubric shows details.
        kind: class of the exception behind it, or another word for the cause; for the diagnosis.
        text: the exception's own words; for the diagnosis.
    """

    def __init__(
        self, verdict: str, message: str, details: str = "", *, kind: str = "", text: str = ""
    ) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message
        self.details = details
        self.kind = kind
        self.text = text
