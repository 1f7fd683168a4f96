"""Which of a student's attempts counts: a pure function of their scorecards.

Where a score is missing, nothing is guessed.  The newest attempt without a score needs attention,
and no older one stands in for it.  Among several, the best counts only if no attempt without a
score could be better: if it has full marks already.  Equal scores: the newest counts, which is
what the student meant last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from grader.model import AttemptScore, Scorecard

Rule = Literal["newest", "best"]
MARK = "/attempts/"


def attempt_id(student: str, number: int) -> str:
    """Id, and path below `students`, of one of several attempts."""
    return f"{student}{MARK}{number}"


def split_id(identifier: str) -> tuple[str, int]:
    """Student and number of an attempt; 0 if the student has only one."""
    student, _, number = identifier.partition(MARK)
    return student, int(number or 0)


def examined_ids(card: Scorecard) -> list[str]:
    """Ids of the attempts that a student's scorecard rests on; none if there was only one."""
    return [
        attempt_id(card.student, attempt.number)
        for attempt in card.attempts
        if attempt.status != "not-examined"
    ]


def settle(student: str, cards: Iterable[Scorecard], total: int, rule: Rule) -> Scorecard:
    """A student's scorecard from those of the attempts.

    Args:
        student: id of the student.
        cards: of the attempts that were examined, at least one; their ids tell the numbers.
        total: how many attempts there are.
        rule: the rubric's.
    """
    by_number = {split_id(card.student)[1]: card for card in cards}
    numbers = range(1, total + 1) if rule == "best" else [total]
    unknown = [n for n in numbers if n not in by_number or by_number[n].score is None]
    known = [(card.score, n) for n, card in by_number.items() if card.score is not None]
    best = max((one for one in known if one[1] in numbers), default=(0.0, 0))
    if unknown and not (best[1] and best[0] >= by_number[best[1]].max_score):
        card = _unsettled(by_number, unknown)
        counting = 0
    else:
        counting = best[1]
        card = by_number[counting]
    attempts = tuple(_attempt(n, by_number.get(n), n == counting) for n in range(1, total + 1))
    return card.model_copy(update={"student": student, "attempts": attempts})


def counting_id(card: Scorecard) -> str:
    """Id of the attempt whose report stands for a student: the one that counts, else the last."""
    examined = examined_ids(card)
    counting = [attempt_id(card.student, a.number) for a in card.attempts if a.counts]
    return (counting or examined[-1:] or [card.student])[0]


def attempts_text(card: Scorecard) -> str:
    """Which attempt counts and what the others got; empty if there was only one."""
    total = len(card.attempts)
    sentences: list[str] = []
    for attempt in card.attempts:
        if attempt.counts:
            sentences.insert(0, f"Attempt {attempt.number} of {total} counts.")
        elif attempt.status == "not-examined":
            sentences.append(f"Attempt {attempt.number}: not examined.")
        elif attempt.score is None:
            sentences.append(f"Attempt {attempt.number}: could not be graded yet.")
        else:
            sentences.append(f"Attempt {attempt.number}: {attempt.score:g} points.")
    return " ".join(sentences)


def _unsettled(by_number: Mapping[int, Scorecard], unknown: list[int]) -> Scorecard:
    """The scorecard of a student of whom an attempt that may count has no score."""
    shown = by_number.get(unknown[0]) or by_number[max(by_number)]
    problems = [
        f"Attempt {number}: {by_number[number].problem}"
        if number in by_number
        else f"Attempt {number} was not examined: run `grade SUBMISSIONS` for it."
        for number in unknown
    ]
    update = {
        "status": "needs-attention",
        "score": None,
        "late": None,
        "problem": " ".join(problems),
    }
    return shown.model_copy(update=update)


def _attempt(number: int, card: Scorecard | None, counts: bool) -> AttemptScore:
    if card is None:
        return AttemptScore(
            number=number, submitted=None, status="not-examined", score=None, counts=False
        )
    return AttemptScore(
        number=number,
        submitted=card.late.submitted if card.late else None,
        status=card.status,
        score=card.score,
        counts=counts,
    )
