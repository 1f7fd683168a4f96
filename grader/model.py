"""What the stages hand to each other: frozen, and free of behaviour."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Verdict(str, Enum):
    """The outcome of one test.

    Every verdict but `PASSED` and `GRADER_FAULT` is the submission's own and costs points;
    `GRADER_FAULT` never does, it sends the submission to an instructor instead.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    MISSING = "missing"
    NOT_RUN = "not-run"
    GRADER_FAULT = "grader-fault"


# How a line of a message begins that holds the details of the line before it.
DETAILS = "Details: "

Status = Literal["graded", "needs-attention", "no-submission"]
# When Gradescope shows a test to students (its own words).
Visibility = Literal["hidden", "after_due_date", "after_published", "visible"]


class Frozen(BaseModel):
    """A strict, immutable record without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TestResult(Frozen):
    """What one hidden test found out.

    Attributes:
        test: id of the test, `<suite file>::<test name>`.
        message: what the student may read at `show: message`.
        details: what the student may read besides at `show: details`.
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    test: str
    verdict: Verdict
    message: str = ""
    details: str = ""


class TestCount(Frozen):
    """How many of a criterion's tests passed."""

    __test__ = False

    passed: int
    total: int


class CriterionScore(Frozen):
    """Points of one criterion, with the sentence that explains them."""

    id: str
    title: str
    score: float
    max_score: float
    verdict: Verdict
    tests: TestCount
    message: str


class Misconception(Frozen):
    """A named mistake.

    Attributes:
        id: its id; several with `/` between them where each computes the same and one is there.
    """

    id: str
    title: str
    message: str


class MilestoneScore(Frozen):
    """Points of one milestone.

    Attributes:
        misconceptions: what is wrong, where that is certain.
        group: fingerprint of a wrong result that nothing explains: equal for equal mistakes.
    """

    id: str
    title: str
    score: float
    max_score: float
    criteria: tuple[CriterionScore, ...]
    misconceptions: tuple[Misconception, ...] = ()
    group: str = ""
    notes: tuple[str, ...] = ()


class Scorecard(Frozen):
    """The contents of score.json.

    Attributes:
        score: `None` while the submission needs attention, since any number would mislead.
        problem: why an instructor must look at it; empty otherwise.
    """

    format: Literal[1] = 1
    student: str
    status: Status
    score: float | None
    max_score: float
    milestones: tuple[MilestoneScore, ...]
    notes: tuple[str, ...] = ()
    problem: str = ""


class SourceFile(Frozen):
    """One file of a submission.

    Attributes:
        path: where it lies now.
        name: its path inside the submission, with `/` between the parts.
    """

    path: Path
    name: str


class Submission(Frozen):
    """One student's files, sorted out but not yet opened.

    Attributes:
        student: safe id, used as a folder name.
        name: the name as the folder or file gave it.
        files: every Python source file of the submission.
        candidates: for each milestone id, the names of the files to try, best first.
        notes: what intake wants the reader to know, such as a file that was passed over.
        problem: set when intake could not decide; such a submission needs attention.
    """

    student: str
    name: str
    origin: str
    files: tuple[SourceFile, ...]
    candidates: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problem: str = ""
