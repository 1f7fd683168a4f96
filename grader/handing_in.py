"""What the results folder keeps of handing in: who, when, and which attempt counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from grader.attempts import counting_id, settle, split_id
from grader.errors import ReportError, ResultsError
from grader.files import write_atomically
from grader.model import UNTIMED, Frozen, Person, Scorecard, Submission, Timing
from grader.report.feedback import feedback_markdown
from grader.results import Results, why_unreadable
from grader.rubric import Rubric
from grader.scoring import timing_of

PEOPLE = TypeAdapter(tuple[Person, ...])


class HandedIn(Frozen):
    """The contents of submission.json: what an examination does not depend on.

    Attributes:
        name: as the folder or file gave it.
        origin: where the submission came from.
        people: who handed it in, where more is known than one name.
        timing: when it was handed in.
        attempts: how many attempts the student has; 0 if the layout knows of no attempts.
    """

    name: str = ""
    origin: str = ""
    people: tuple[Person, ...] = ()
    timing: Timing = UNTIMED
    attempts: int = 0


def handing_in_facts(submission: Submission) -> dict[str, str]:
    """The part of a report's facts about handing in; empty where nothing is known of it."""
    facts = {}
    if submission.timing != UNTIMED:
        facts["timing"] = submission.timing.model_dump_json(exclude_defaults=True)
    if submission.people:
        facts["people"] = PEOPLE.dump_json(submission.people).decode()
    if submission.attempts:
        facts["attempts"] = str(submission.attempts)
    return facts


def refresh_facts(results: Results, submission: Submission) -> None:
    """Bring what is saved about handing in up to date: no examination depends on it."""
    save_handing_in(results, submission)
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


def save_handing_in(results: Results, submission: Submission) -> None:
    """Write down what is known of handing in, which the next examination may leave without report.

    Of a student with several attempts it is noted beside them how many there are now: an attempt
    of another number of them is one of before.
    """
    student, number = split_id(submission.student)
    known = HandedIn(
        name=submission.name,
        origin=submission.origin,
        people=submission.people,
        timing=submission.timing,
        attempts=submission.attempts,
    )
    _save(results.handing_in(submission.student), known)
    if number:
        _save(results.handing_in(student), HandedIn(attempts=submission.attempts))


def _save(path: Path, known: HandedIn) -> None:
    text = known.model_dump_json(exclude_defaults=True) + "\n"
    if not path.is_file() or path.read_bytes() != text.encode():
        write_atomically(path, text)


def saved_submissions(results: Results, student: str) -> list[Submission]:
    """What is known of a student's submission, or of each attempt that has been examined.

    Raises:
        ResultsError: if what was written down cannot be read.
    """
    found = [saved_submission(results, attempt) for attempt in results.attempts(student)]
    total = _total(results, student, found)
    # Nobody knows the total of an attempt without report in results of an older version.
    current = [
        replace(one, attempts=total)
        for one in found
        if one.attempts in (0, total) and split_id(one.student)[1] <= total
    ]
    return current or [replace(saved_submission(results, student), attempts=0)]


def _total(results: Results, student: str, found: Sequence[Submission]) -> int:
    """How many attempts a student has; 0 if the layout knew of no attempts."""
    known = _handed_in(results, student)
    if known:
        return known.attempts
    with suppress(ReportError):
        return _told(results.load_report(student)).attempts
    card = results.load_scorecard(student)
    if card:
        return len(card.attempts)
    return max((one.attempts for one in found), default=0)


def saved_submission(results: Results, identifier: str) -> Submission:
    """What is known of a submission: from its report, which is about what was examined, or without.

    Raises:
        ResultsError: if there is no report, and what was written down cannot be read.
    """
    try:
        known: HandedIn | None = _told(results.load_report(identifier))
    except ReportError:
        known = _handed_in(results, identifier)
    known = known or HandedIn()
    return Submission(
        student=identifier,
        name=known.name or split_id(identifier)[0],
        origin=known.origin,
        files=(),
        people=known.people,
        timing=known.timing,
        attempts=known.attempts,
    )


def _told(report: Mapping[str, Any]) -> HandedIn:
    facts = report["examination"]["facts"]
    return HandedIn(
        name=str(facts.get("name", "")),
        origin=str(facts.get("origin", "")),
        people=PEOPLE.validate_json(facts.get("people", "[]"), strict=True),
        timing=timing_of(report),
        attempts=int(facts.get("attempts", 0)),
    )


def _handed_in(results: Results, identifier: str) -> HandedIn | None:
    path = results.handing_in(identifier)
    try:
        return HandedIn.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ResultsError(
            f"{path} cannot be read: {why_unreadable(error)}.",
            "Grade into that folder again, which writes it anew: grade SUBMISSIONS --out RESULTS.",
        ) from error


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
