"""What command and nursery tell each other.  Does not import torch."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from grader.packages import DEFAULT_PACKAGES
from grader.sandbox.policy import ALL_WALLS

# Exit status of an examination whose report could not be written, added to the errno of the reason.
UNWRITTEN = 100


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SuiteMilestone(_Message):
    """A milestone as the nursery needs it."""

    id: str
    file: str
    suite: str


class Setup(_Message):
    """What a nursery is started for: one assignment with its limits.

    Attributes:
        suites: paths of the hidden suites.
        root: folder that test ids are relative to.
        solutions: folder of the solutions, which say what the tests will ask.
        output_kb: how much of a submission's prints to keep.
        jobs: submissions examined at the same time.
        cold: start workers as new processes instead of forking them.
        seed: of the random numbers of jobs that have none of their own.  No worker hears of it:
            their server is forked before the setup is read.
        variants: tell with the tests which variants of the solutions the suites have.
        walls: the walls around each worker.
        packages: distributions that student code may import.
        hidden: files and folders that no worker may read, besides suites and solutions.
        trusted: go on although student code can read them.
    """

    root: str
    suites: tuple[str, ...]
    milestones: tuple[SuiteMilestone, ...]
    solutions: str
    question_seconds: float
    submission_seconds: float
    memory_mb: int
    output_kb: int
    jobs: int
    seed: int
    cold: bool = False
    variants: bool = False
    walls: tuple[str, ...] = ALL_WALLS
    packages: tuple[str, ...] = DEFAULT_PACKAGES
    hidden: tuple[str, ...] = ()
    trusted: bool = False


class SuiteVariant(_Message):
    """A solution of one milestone with known mistakes, to prove the suite.

    Attributes:
        suite: file name of the suite.
        names: the misconceptions in it; none if it is right.
        source: text of the milestone's file.
    """

    suite: str
    names: tuple[str, ...]
    source: str


class Job(_Message):
    """One submission to examine.

    Attributes:
        folder: its staged files.
        candidates: files to try for each milestone id, best first.
        report: where report.json is to be written.
        log: where log.txt is to be written.
        facts: copied into the report as they are.
        provenance: what its examination depends on besides it, part by part; copied too.
        trusted: our own code: it runs without a worker, in the child of the examiner.
        seed: of the tests' random numbers; `None` for the setup's.
        fingerprints: of the staged files; no report is written where they are others in the end.
    """

    student: str
    folder: str
    candidates: dict[str, tuple[str, ...]]
    report: str
    log: str
    facts: dict[str, str]
    provenance: dict[str, str] = {}
    trusted: bool = False
    seed: int | None = None
    fingerprints: dict[str, str] = {}
