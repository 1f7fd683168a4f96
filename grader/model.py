"""What the stages hand to each other: frozen, and free of behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    model_serializer,
)


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

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


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
    """Points of one criterion, with the sentence that explains them.

    Attributes:
        verdict: what its own tests say.
        waits_for: ids of other criteria that have to earn something before this one counts; left
            out of the file where there are none.
    """

    id: str
    title: str
    score: float
    max_score: float
    verdict: Verdict
    tests: TestCount
    message: str
    waits_for: tuple[str, ...] = ()

    @property
    def full(self) -> bool:
        """Whether nothing is wrong with it and nothing is missing for it to count."""
        return self.verdict is Verdict.PASSED and not self.waits_for

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        if not self.waits_for:
            del fields["waits_for"]
        return fields


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


class Timing(Frozen):
    """When a submission was handed in and was due, as far as its platform tells.

    Attributes:
        submitted: when; a time without a zone is one of the class's own clock.
        due: the platform's due time, which goes before the rubric's.
        late_due: the last time at which the platform takes work.
        marked_late: the platform calls it late and does not say when it came.
        unread: a time that was there and could not be read.
    """

    submitted: datetime | None = None
    due: datetime | None = None
    late_due: datetime | None = None
    marked_late: bool = False
    unread: str = ""


class Late(Frozen):
    """What the time of handing in does to a score.

    Attributes:
        submitted: when it was handed in; `None` if nobody knows.
        due: when it was due for this student.
        late_due: after this time a submission earns nothing.
        extended: whether the student has an extension.
        marked_late: the platform calls it late and does not say when it came.
        seconds: how long after the due time, grace or not.
        counted: begun days or hours for which the penalty was taken.
        before: the score without the penalty.
        taken: points taken.
        explanation: the arithmetic in a sentence or two; empty if it was handed in on time.
    """

    submitted: datetime | None
    due: datetime | None
    late_due: datetime | None
    extended: bool
    marked_late: bool
    seconds: int
    counted: int
    before: float
    taken: float
    explanation: str


class AttemptScore(Frozen):
    """One of several attempts of a student.

    Attributes:
        number: from 1 on, in the order of handing in.
        submitted: when it was handed in, if that is known.
        score: what it would have got; `None` if it was not examined or needs attention.
        counts: whether it is the one whose score stands.
    """

    number: int
    submitted: datetime | None
    status: Status | Literal["not-examined"]
    score: float | None
    counts: bool


class Scorecard(Frozen):
    """The contents of score.json.

    Attributes:
        score: `None` while the submission needs attention, since any number would mislead.
        problem: why an instructor must look at it; empty otherwise.
        late: what the time of handing in did to the score; left out of the file where neither
            the rubric nor the submission knows a time.
        attempts: all attempts, where there are several; left out of the file otherwise.
    """

    format: Literal[1] = 1
    student: str
    status: Status
    score: float | None
    max_score: float
    milestones: tuple[MilestoneScore, ...]
    notes: tuple[str, ...] = ()
    problem: str = ""
    late: Late | None = None
    attempts: tuple[AttemptScore, ...] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        absent = {"late"} if self.late is None else set()
        absent |= set() if self.attempts else {"attempts"}
        return {name: value for name, value in fields.items() if name not in absent}


class Person(Frozen):
    """Somebody who handed in a submission.

    Attributes:
        student: safe id, for the gradebook.
        number: the platform's or the school's own id of the person.
    """

    student: str
    name: str
    email: str = ""
    number: str = ""


UNTIMED = Timing()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a submission.

    Attributes:
        place: where it lies now.
        name: its path inside the submission, with `/` between the parts.
    """

    place: str
    name: str

    @property
    def path(self) -> Path:
        """Where it lies now."""
        return Path(self.place)


@dataclass(frozen=True, slots=True)  # of a large class there are very many
class Submission:
    """One student's files, sorted out but not yet opened.

    Attributes:
        student: safe id, used as a folder name; with `/attempts/N` behind it for one of several
            attempts.
        name: the name as the folder or file gave it.
        files: every Python source file of the submission.
        candidates: for each milestone id, the names of the files to try, best first.
        notes: what intake wants the reader to know, such as a file that was passed over.
        problem: set when intake could not decide; such a submission needs attention.
        people: who handed it in, where more is known than one name.
        timing: when it was handed in.
        attempts: how many attempts the student has; 0 if the layout knows of no attempts.
    """

    student: str
    name: str
    origin: str
    files: tuple[SourceFile, ...]
    candidates: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problem: str = ""
    people: tuple[Person, ...] = ()
    timing: Timing = UNTIMED
    attempts: int = 0

    @property
    def owners(self) -> tuple[Person, ...]:
        """Who gets a line in the gradebook for it."""
        student = self.student.partition("/")[0]
        return self.people or (Person(student=student, name=self.name),)
