"""What intake found, in few words, for tests."""

from __future__ import annotations

from grader.model import Submission
from grader.rubric import Rubric


def facts(submission: Submission) -> tuple[str, str, str | None]:
    """Id, name and time of a submission."""
    submitted = submission.timing.submitted
    iso = submitted.isoformat() if submitted else None
    return submission.student, submission.owners[0].name, iso


def names(submission: Submission) -> list[str]:
    return [source.name for source in submission.files]


def best(rubric: Rubric) -> Rubric:
    """The rubric with `attempts: best`, for which every attempt is found."""
    return rubric.model_copy(update={"attempts": "best"})
