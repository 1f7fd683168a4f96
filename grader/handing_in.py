"""What the results folder keeps of handing in: who, when, and which attempt counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from grader.attempts import counting_id, settle, split_id
from grader.errors import ReportError
from grader.model import Person, Scorecard, Submission, Timing
from grader.report.feedback import feedback_markdown
from grader.results import Results
from grader.rubric import Rubric
from grader.scoring import timing_of

PEOPLE = TypeAdapter(tuple[Person, ...])


def handing_in_facts(submission: Submission) -> dict[str, str]:
    """The part of a report's facts about handing in; empty where nothing is known of it."""
    facts = {}
    if submission.timing != Timing():
        facts["timing"] = submission.timing.model_dump_json(exclude_defaults=True)
    if submission.people:
        facts["people"] = PEOPLE.dump_json(submission.people).decode()
    if submission.attempts:
        facts["attempts"] = str(submission.attempts)
    return facts


def refresh_facts(results: Results, submission: Submission) -> None:
    """Bring a saved report's facts about handing in up to date: no examination depends on them."""
    report = results.load_report(submission.student)
    facts = report["examination"]["facts"]
    kept = {key: facts[key] for key in facts.keys() - {"timing", "people", "attempts"}}
    now = {
        **kept,
        "name": submission.name,
        "origin": submission.origin,
        **handing_in_facts(submission),
    }
    if now != facts:
        report["examination"]["facts"] = now
        results.save_report(submission.student, report)


def saved_submission(results: Results, student: str) -> Submission:
    """What is known of a submission from its saved report."""
    try:
        report = results.load_report(student)
    except ReportError:
        return Submission(student=student, name=student, origin="", files=())
    facts = report["examination"]["facts"]
    return Submission(
        student=student,
        name=str(facts.get("name", student)),
        origin=str(facts.get("origin", "")),
        files=(),
        people=PEOPLE.validate_json(facts.get("people", "[]"), strict=True),
        timing=timing_of(report),
        attempts=int(facts.get("attempts", 0)),
    )


def settle_class(
    submissions: Sequence[Submission], card_of: Callable[[str], Scorecard], rubric: Rubric
) -> Iterator[tuple[Submission, Scorecard]]:
    """One submission and one scorecard for each student, one after the other.

    Args:
        submissions: every attempt that was examined.
        card_of: the scorecard of an attempt, by its id.
        rubric: says which attempt counts.
    """
    grouped: dict[str, list[Submission]] = {}
    for submission in submissions:
        grouped.setdefault(split_id(submission.student)[0], []).append(submission)
    for student, group in grouped.items():
        yield _settled(student, group, card_of, rubric)


def _settled(
    student: str, group: Sequence[Submission], card_of: Callable[[str], Scorecard], rubric: Rubric
) -> tuple[Submission, Scorecard]:
    by_id = {submission.student: submission for submission in group}
    total = group[0].attempts
    if not total:
        return by_id[student], card_of(student)
    card = settle(student, map(card_of, by_id), total, rubric.attempts)
    return replace(by_id[counting_id(card)], student=student), card


def save_settled(results: Results, card: Scorecard, rubric: Rubric) -> None:
    """Write what stands for a student with several attempts, beside those of the attempts."""
    results.take_over(counting_id(card), card.student)
    results.save_scorecard(card, feedback_markdown(card, rubric))
