"""Several attempts of one student: which counts, and that a fault of ours never costs points."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.attempts import (
    Rule,
    attempt_id,
    attempts_text,
    counting_id,
    examined_ids,
    settle,
    split_id,
)
from grader.intake.attempts import counting_attempts
from grader.model import Scorecard, SourceFile, Submission, Timing
from grader.rubric import Rubric


def card(number: int, score: float | None) -> Scorecard:
    """The scorecard of one of ann's attempts; without a score it needs attention."""
    return Scorecard(
        student=attempt_id("ann", number),
        status="graded" if score is not None else "needs-attention",
        score=score,
        max_score=10.0,
        milestones=(),
        problem="" if score is not None else "The examination itself failed.",
    )


def settled(rule: Rule, *scores: float | None, examined: range | None = None) -> Scorecard:
    """Ann's scorecard from attempts with these scores, all or some of them examined."""
    numbers = examined or range(1, len(scores) + 1)
    return settle("ann", [card(n, scores[n - 1]) for n in numbers], len(scores), rule)


def counting(found: Scorecard) -> list[int]:
    return [attempt.number for attempt in found.attempts if attempt.counts]


@pytest.mark.parametrize(
    ("rule", "scores", "score", "number"),
    [
        ("newest", (9.0, 4.0), 4.0, 2),
        ("best", (9.0, 4.0), 9.0, 1),
        ("best", (4.0, 9.0, 9.0, 3.0), 9.0, 3),
        ("best", (0.0, 0.0), 0.0, 2),
        ("newest", (None, 4.0), 4.0, 2),
        ("best", (10.0, None), 10.0, 1),
        ("best", (None, 10.0), 10.0, 2),
    ],
)
def test_the_one_that_counts(
    rule: Rule, scores: tuple[float | None, ...], score: float, number: int
) -> None:
    """The newest, or the best; of equal ones the newest; nothing beats full marks."""
    found = settled(rule, *scores)
    assert (found.student, found.status, found.score) == ("ann", "graded", score)
    assert counting(found) == [number]
    assert counting_id(found) == f"ann/attempts/{number}"


@pytest.mark.parametrize(
    ("rule", "scores", "named"),
    [
        ("newest", (10.0, None), "Attempt 2: The examination itself failed."),
        ("best", (9.99, None), "Attempt 2: The examination itself failed."),
        ("best", (None, 9.99), "Attempt 1: The examination itself failed."),
        ("best", (None, None), "Attempt 1: The examination itself failed. Attempt 2: "),
    ],
)
def test_a_missing_score_is_never_passed_over(
    rule: Rule, scores: tuple[float | None, ...], named: str
) -> None:
    """Where the attempt without a score could have counted, somebody has to look at it."""
    found = settled(rule, *scores)
    assert (found.status, found.score, counting(found)) == ("needs-attention", None, [])
    assert named in found.problem


def test_an_attempt_that_was_not_examined_may_be_the_best() -> None:
    """After `newest` was graded, `best` cannot be told from the saved reports."""
    found = settled("best", 3.0, 4.0, examined=range(2, 3))
    assert found.status == "needs-attention"
    assert "Attempt 1 was not examined" in found.problem
    newest = settled("newest", 3.0, 4.0, examined=range(2, 3))
    assert (newest.score, examined_ids(newest)) == (4.0, ["ann/attempts/2"])
    assert attempts_text(newest) == "Attempt 2 of 2 counts. Attempt 1: not examined."


def test_what_the_others_got_is_told() -> None:
    """The one that counts comes first."""
    assert attempts_text(settled("best", 3.5, 10.0, None)) == (
        "Attempt 2 of 3 counts. Attempt 1: 3.5 points. Attempt 3: could not be graded yet."
    )
    assert attempts_text(card(1, 3.0)) == ""


scores = st.lists(st.none() | st.floats(0, 10).map(lambda score: round(score, 2)), min_size=1)


@given(scores)
def test_the_best_is_never_less_than_any_score(found: list[float | None]) -> None:
    """Either it is as good as every known score, or it is left open."""
    best = settled("best", *found)
    known = [score for score in found if score is not None]
    assert best.score is None or best.score == max(known)
    assert best.score is not None or None in found


def test_ids_hold_student_and_number() -> None:
    """A student with one attempt has the id alone."""
    assert split_id(attempt_id("ann", 12)) == ("ann", 12)
    assert split_id("ann") == ("ann", 0)


def submission(hour: int | None, name: str, files: int = 1) -> Submission:
    """An attempt of that hour."""
    submitted = None if hour is None else datetime(2026, 10, 3, hour)
    source = SourceFile(place=name, name=name)
    return Submission(
        student="ann",
        name="Ann",
        origin=name,
        files=(source,) * files,
        timing=Timing(submitted=submitted),
    )


def chosen(rubric: Rubric, rule: Rule, *attempts: Submission) -> list[Submission]:
    return counting_attempts(attempts, rubric.model_copy(update={"attempts": rule}))


def test_attempts_are_numbered_by_time(rubric: Rubric) -> None:
    """Whatever order their folders come in; only those that can count are examined."""
    late, early = submission(20, "a"), submission(8, "b")
    best = chosen(rubric, "best", late, early)
    assert [(one.student, one.origin) for one in best] == [
        ("ann/attempts/1", "b"),
        ("ann/attempts/2", "a"),
    ]
    (newest,) = chosen(rubric, "newest", late, early)
    assert (newest.student, newest.origin, newest.attempts) == ("ann/attempts/2", "a", 2)
    assert newest.problem == ""


@pytest.mark.parametrize("hours", [(8, 8), (8, None), (None, None)])
def test_nobody_guesses_which_is_the_newest(
    rubric: Rubric, hours: tuple[int | None, int | None]
) -> None:
    """Without times, or with equal ones, the newest needs attention; the best is found anyhow."""
    attempts = [submission(hour, name) for hour, name in zip(hours, "ab", strict=True)]
    (newest,) = chosen(rubric, "newest", *attempts)
    assert "Which of the 2 attempts is the newest cannot be told" in newest.problem
    assert [one.problem for one in chosen(rubric, "best", *attempts)] == ["", ""]


def test_an_older_tie_does_not_matter(rubric: Rubric) -> None:
    """Only the newest has to be known."""
    attempts = (submission(8, "a"), submission(8, "b"), submission(9, "c"))
    (newest,) = chosen(rubric, "newest", *attempts)
    assert (newest.origin, newest.problem) == ("c", "")


@pytest.mark.parametrize("rule", ["newest", "best"])
def test_an_attempt_without_files_is_none(rubric: Rubric, rule: Rule) -> None:
    """A later comment without a file does not take the place of what was handed in."""
    only = submission(8, "a")
    assert chosen(rubric, rule, only, submission(9, "b", files=0)) == [only]
    assert len(chosen(rubric, rule, submission(8, "a", 0), submission(9, "b", 0))) == 1
