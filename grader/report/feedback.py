"""feedback.md: what one student reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.model import CriterionScore, MilestoneScore, Scorecard, Verdict
from grader.rubric import Rubric

VERDICT_WORDS = {
    Verdict.PASSED: "right",
    Verdict.FAILED: "not right yet",
    Verdict.ERROR: "stopped with an error",
    Verdict.TIMEOUT: "did not finish in time",
    Verdict.CRASHED: "ended the process",
    Verdict.MISSING: "not found",
    Verdict.NOT_RUN: "not examined",
    Verdict.GRADER_FAULT: "could not be examined",
}


def feedback_markdown(card: Scorecard, rubric: Rubric) -> str:
    """The feedback page of one student."""
    return "\n".join(_lines(card, rubric)) + "\n"


def points(value: float) -> str:
    """Points without needless zeros: 12, 2.5, 0.33."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _lines(card: Scorecard, rubric: Rubric) -> Iterator[str]:
    yield f"# {escape(rubric.title)}"
    yield ""
    if card.score is None:
        yield "Your work could not be graded yet. Nothing is lost: your instructor looks at it."
        return
    yield f"**Score: {points(card.score)} of {points(card.max_score)}**"
    yield ""
    if card.status == "no-submission":
        yield "No Python file was found in your submission."
        return
    yield "| Milestone | Points |"
    yield "|---|---:|"
    for milestone in card.milestones:
        score = f"{points(milestone.score)} / {points(milestone.max_score)}"
        yield f"| {escape(milestone.title)} | {score} |"
    for note in card.notes:
        yield ""
        yield f"> {escape(note)}"
    for milestone in card.milestones:
        yield ""
        yield from _milestone_lines(milestone)


def _milestone_lines(milestone: MilestoneScore) -> Iterator[str]:
    yield f"## {escape(milestone.title)}"
    yield ""
    for note in milestone.notes:
        yield f"> {escape(note)}"
        yield ""
    shared = shared_message(milestone)
    if shared:
        yield f"**{escape(shared)}**"
        yield ""
    for criterion in milestone.criteria:
        yield from _criterion_lines(criterion, shared)


def _criterion_lines(criterion: CriterionScore, shared: str) -> Iterator[str]:
    mark = "✓" if criterion.verdict is Verdict.PASSED else "✗"
    score = f"{points(criterion.score)} / {points(criterion.max_score)}"
    word = "" if criterion.verdict is Verdict.PASSED else f": {VERDICT_WORDS[criterion.verdict]}"
    yield f"- {mark} {escape(criterion.title)} ({score}){word}"
    for line in criterion.message.split("\n"):
        if line and line != shared:
            yield f"  - {escape(line)}"


def shared_message(milestone: MilestoneScore) -> str:
    """A message that explains at least two lost criteria, so that it is said once only."""
    lost = [c for c in milestone.criteria if c.verdict is not Verdict.PASSED]
    first_lines = [c.message.split("\n")[0] for c in lost if c.message]
    for line in first_lines:
        if first_lines.count(line) >= 2:
            return line
    return ""


def escape(text: str) -> str:
    """Text as it is, in Markdown that allows HTML: nothing in it becomes markup."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return re.sub(r"([\\`*_{}\[\]<>#|!])", r"\\\1", plain)
