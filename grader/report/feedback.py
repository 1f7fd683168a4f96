"""feedback.md: what one student reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.attempts import attempts_text
from grader.model import DETAILS, CriterionScore, MilestoneScore, Scorecard, Verdict
from grader.rubric import Rubric

SHARED_BY = 3
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
# Of a criterion that needs another one first.
WAITING = "does not count yet"


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
    for told in (card.late.explanation if card.late else "", attempts_text(card)):
        if told:
            yield escape(told)
            yield ""
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
    shared = shared_lines(milestone)
    if shared:
        yield f"**{escape(shared[0])}** {escape(' '.join(shared[1:]))}".rstrip()
        yield ""
    for misconception in milestone.misconceptions:
        yield f"**{escape(misconception.title)}.** {escape(misconception.message)}"
        yield ""
    for criterion in milestone.criteria:
        yield from _criterion_lines(criterion, shared)


def _criterion_lines(criterion: CriterionScore, shared: tuple[str, ...]) -> Iterator[str]:
    mark = "✓" if criterion.full else "✗"
    score = f" ({points(criterion.score)} / {points(criterion.max_score)})"
    shown = score if criterion.max_score else ""  # it may be a mere condition of others
    word = verdict_word(criterion)
    yield f"- {mark} {escape(criterion.title)}{shown}{word and ': ' + word}"
    for line in own_lines(criterion, shared):
        yield f"  - {escape(line)}"


def verdict_word(criterion: CriterionScore) -> str:
    """What is said of a criterion in a word or two; nothing if all is right."""
    if criterion.full:
        return ""
    return WAITING if criterion.waits_for else VERDICT_WORDS[criterion.verdict]


def shared_lines(milestone: MilestoneScore) -> tuple[str, ...]:
    """A message, with its details, that explains most lost criteria: it is said once only."""
    lost = [c for c in milestone.criteria if not c.full and c.message]
    firsts = [criterion.message.split("\n")[0] for criterion in lost]
    for first in firsts:
        if firsts.count(first) >= max(SHARED_BY, len(milestone.criteria) // 2):
            messages = [c.message.split("\n") for c in lost if c.message.startswith(first)]
            details = [m[1] for m in messages if len(m) > 1 and m[1].startswith(DETAILS)]
            return (first, *details[:1])
    return ()


def own_lines(criterion: CriterionScore, shared: tuple[str, ...]) -> list[str]:
    """Lines of a criterion's message without what was said for the whole milestone."""
    lines = []
    said = False
    for line in criterion.message.split("\n"):
        said = line in shared or (said and line.startswith(DETAILS))
        if line and not said:
            lines.append(line)
    return lines


def escape(text: str) -> str:
    """Text as it is, in Markdown that allows HTML: nothing in it becomes markup."""
    plain = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    escaped = re.sub(r"([\\`*_{}\[\]<>#|!~&])", r"\\\1", plain.lstrip())
    # A line that begins like a list, a rule or a heading.
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", escaped)
