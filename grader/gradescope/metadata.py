"""submission_metadata.json: what Gradescope tells about a submission.

Source: gradescope/autograder_samples, docs/submission_metadata.md, which reserves changes.  So
nothing here is required: what is missing or odd is `None` or left out, and the rest is used.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from grader.intake.names import safe_id
from grader.model import Person, Timing
from grader.text import printable
from grader.times import parse_time

MAX_BYTES = 20_000_000


def _or_none(value: object, handler: ValidatorFunctionWrapHandler) -> Any:
    """What is not as documented is not there."""
    try:
        return handler(value)
    except ValidationError:
        return None


def _time(value: object) -> datetime | None:
    """A time with its zone, written as one; no number, which could mean anything."""
    moment = parse_time(value) if isinstance(value, str) else None
    return moment if moment and moment.tzinfo else None


def _no_truth(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true is no number")
    return value


def _records(value: object) -> list[object]:
    """A list without what is no record, each part of which is lenient in turn."""
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


Lenient = WrapValidator(_or_none)
Time = Annotated[datetime | None, BeforeValidator(_time)]
Words = Annotated[Annotated[str, AfterValidator(printable)] | None, Lenient]
Number = Annotated[float, BeforeValidator(_no_truth), Field(allow_inf_nan=False)]
Score = Annotated[Number | None, Lenient]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(_Part):
    """A member of the group that handed in, or the one student."""

    name: Words = None
    email: Words = None


class Assignment(_Part):
    """What the assignment's settings say; times are those of this student where they differ."""

    title: Words = None
    due_date: Time = None
    late_due_date: Time = None
    total_points: Score = None


class PreviousSubmission(_Part):
    """An earlier submission of the same student or group.

    Attributes:
        results: its results.json; Gradescope gives it for the latest one only.
    """

    submission_time: Time = None
    score: Score = None
    autograder_error: Annotated[bool | None, Lenient] = None
    results: Annotated[dict[str, Any] | None, Lenient] = None


class Metadata(_Part):
    """All that is used of submission_metadata.json.

    Attributes:
        created_at: when the submission was handed in.
    """

    created_at: Time = None
    assignment: Annotated[Assignment | None, Lenient] = None
    users: Annotated[tuple[User, ...], BeforeValidator(_records)] = ()
    previous_submissions: Annotated[tuple[PreviousSubmission, ...], BeforeValidator(_records)] = ()

    @property
    def timing(self) -> Timing:
        """When it was handed in and due, as far as Gradescope tells."""
        assignment = self.assignment or Assignment()
        return Timing(
            submitted=self.created_at, due=assignment.due_date, late_due=assignment.late_due_date
        )

    @property
    def people(self) -> tuple[Person, ...]:
        """Who handed it in, as far as they have a name or an address."""
        taken: set[str] = set()
        return tuple(
            Person(
                student=safe_id(user.email or user.name or "", taken),
                name=user.name or "",
                email=user.email or "",
            )
            for user in self.users
            if user.name or user.email
        )

    @property
    def graded_before(self) -> tuple[PreviousSubmission, ...]:
        """Earlier submissions that have a score of their own, oldest first."""
        graded = [p for p in self.previous_submissions if p.score is not None]
        graded = [p for p in graded if not p.autograder_error]
        return tuple(sorted(graded, key=_moment))


def _moment(previous: PreviousSubmission) -> float:
    return previous.submission_time.timestamp() if previous.submission_time else 0.0


def read_metadata(path: Path) -> tuple[Metadata, str]:
    """Read the file; with it, what an instructor should know if it is missing or odd."""
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES)
        # A mark of its encoding or a bad byte in a name is no reason to do without the rest.
        found = json.loads(content.decode("utf-8-sig", "replace"))
        return Metadata.model_validate(found), ""
    except OSError as error:
        return Metadata(), f"{path.name} cannot be read: {error.strerror}."
    except (ValueError, RecursionError):
        return Metadata(), f"{path.name} is not what Gradescope documents; nothing of it is used."
