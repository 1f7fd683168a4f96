"""From a scorecard to results.json.

What students may not see yet must not stand in the output on top either, which Gradescope always
shows: points and mistakes of a milestone go there only if all its criteria are visible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from grader import __version__
from grader.attempts import attempts_text
from grader.gradescope.metadata import Metadata, PreviousSubmission
from grader.gradescope.results_format import (
    FailedRun,
    GradescopeResults,
    LeaderboardColumn,
    TestCase,
)
from grader.model import (
    CriterionScore,
    MilestoneScore,
    Misconception,
    Scorecard,
    Verdict,
    Visibility,
)
from grader.report.feedback import escape, points, verdict_word
from grader.rubric import SCORE_COLUMN, Milestone, Rubric
from grader.times import time_text

EARNED = "earned"
MAX_FILES_SHOWN = 20
LEAST_VISIBLE_FIRST: tuple[Visibility, ...] = (
    "hidden",
    "after_published",
    "after_due_date",
    "visible",
)


@dataclass(frozen=True)
class Circumstances:
    """What is known of a submission besides its scorecard.

    Attributes:
        files: what was handed in, by name; `None` if that is not known.
        seconds: how long the grading took.
    """

    metadata: Metadata = field(default_factory=Metadata)
    files: tuple[str, ...] | None = None
    seconds: float | None = None


def graded_results(
    card: Scorecard, rubric: Rubric, circumstances: Circumstances
) -> GradescopeResults:
    """What Gradescope is told of a submission that has its score."""
    if card.score is None:
        raise ValueError("a scorecard without a score has no results")
    best = _better_before(card.score, rubric, circumstances.metadata)
    score = card.score if best is None or best.score is None else best.score
    return GradescopeResults(
        score=score,
        execution_time=circumstances.seconds,
        output="\n\n".join(_top(card, rubric, circumstances)),
        output_format="md",
        test_output_format="md",
        test_name_format="text",
        visibility=rubric.gradescope.visibility,
        stdout_visibility="hidden",
        extra_data={"grader": __version__, EARNED: _earned(card), "status": card.status},
        tests=tuple(_tests(card, rubric)),
        leaderboard=_leaderboard(card, score, rubric),
    )


def refused_results(problem: str, files: tuple[str, ...] | None = None) -> GradescopeResults:
    """What a student is told whose files cannot be graded as they are: no score, not a zero."""
    output = "\n\n".join((escape(problem), *_handed_in(files), "Mend that, and submit again."))
    test = TestCase(
        name="Your files", status="failed", output=output, output_format="md", visibility="visible"
    )
    return GradescopeResults(
        tests=(test,), output=output, output_format="md", stdout_visibility="hidden"
    )


def failed_run(files: tuple[str, ...] | None = None) -> FailedRun:
    """What a student is told when our side failed; why stands in the log for instructors."""
    sentences = ("Your work could not be graded. Nothing is lost: your instructor sees why.",)
    output = "\n\n".join((*sentences, *_handed_in(files)))
    return FailedRun(output=output, output_format="md", stdout_visibility="hidden")


def hides_points(rubric: Rubric) -> list[str]:
    """Criteria that are not always visible, as `milestone/criterion`.

    Any of them makes Gradescope hide the total.
    """
    return [
        f"{milestone.id}/{criterion.id}"
        for milestone in rubric.milestones
        for criterion in milestone.criteria
        if (criterion.visibility or rubric.gradescope.visibility) != "visible"
    ]


def visibility_warning(rubric: Rubric) -> str:
    """One sentence if some criteria are hidden; empty if none is."""
    hidden = hides_points(rubric)
    if not hidden:
        return ""
    listing = ", ".join(hidden[:3]) + (", ..." if len(hidden) > 3 else "")
    return (
        f"Warning: Gradescope hides the total from students as long as one test is hidden. "
        f"{len(hidden)} criteria are not always visible: {listing}"
    )


def _top(card: Scorecard, rubric: Rubric, circumstances: Circumstances) -> Iterator[str]:
    """Paragraphs of the output on top."""
    if not hides_points(rubric) and card.score is not None:
        yield from _total(card, card.score, rubric, circumstances.metadata)
    yield from _group(circumstances.metadata)
    if card.status == "no-submission":
        yield "No Python file was found in your submission."
    if card.status == "no-submission" or _misses_files(card, rubric):
        yield from _handed_in(circumstances.files)
    yield from (f"> {escape(note)}" for note in card.notes)
    for milestone, scored in _pairs(card, rubric):
        yield from _summary(milestone, scored, rubric)


def _total(card: Scorecard, score: float, rubric: Rubric, metadata: Metadata) -> Iterator[str]:
    yield f"**Score: {points(score)} of {points(card.max_score)}**"
    told = (card.late.explanation if card.late else "", attempts_text(card))
    yield from (escape(text) for text in told if text)
    best = _better_before(score, rubric, metadata)
    if best is not None and best.score is not None:
        when = f", of {time_text(best.submission_time)}" if best.submission_time else ""
        yield escape(f"Your best submission counts: {points(best.score)} points{when}.")
    yield from _progress(_earned(card), metadata)


def _better_before(score: float, rubric: Rubric, metadata: Metadata) -> PreviousSubmission | None:
    """The earlier submission that counts in place of this one, if the rubric says so."""
    if rubric.attempts == "newest":
        return None
    best = max(metadata.graded_before, key=lambda before: before.score or 0.0, default=None)
    return best if best is not None and (best.score or 0.0) > score else None


def _earned(card: Scorecard) -> float:
    """Points for the work itself, before anything is taken for lateness."""
    return card.late.before if card.late else card.score or 0.0


def _misses_files(card: Scorecard, rubric: Rubric) -> bool:
    """Whether a criterion says so that students may see now."""
    return any(
        criterion.verdict is Verdict.MISSING
        and _visibilities(milestone, rubric).get(criterion.id) == "visible"
        for milestone, scored in _pairs(card, rubric)
        for criterion in scored.criteria
    )


def _pairs(card: Scorecard, rubric: Rubric) -> Iterator[tuple[Milestone, MilestoneScore]]:
    milestones = {milestone.id: milestone for milestone in rubric.milestones}
    return ((milestones[scored.id], scored) for scored in card.milestones)


def _progress(earned: float, metadata: Metadata) -> Iterator[str]:
    if metadata.graded_before:
        last = metadata.graded_before[-1]
        before = _earned_before(last.results) if last.results else None
        before = last.score if before is None else before
        if before is not None:
            change = round(earned - before, 2)
            sign = "+" if change > 0 else "-" if change < 0 else "±"
            yield f"Since your last submission: {sign}{points(abs(change))}"


def _earned_before(results: dict[str, Any]) -> float | None:
    """Points of the latest submission by its work alone, as `extra_data` keeps them."""
    extra = results.get("extra_data")
    earned = extra.get(EARNED) if isinstance(extra, dict) else None
    if not isinstance(earned, (int, float)) or isinstance(earned, bool):
        return None
    with suppress(OverflowError):  # a whole number has as many digits as somebody writes
        return float(earned) if math.isfinite(earned) else None
    return None


def _group(metadata: Metadata) -> Iterator[str]:
    if len(metadata.users) > 1:
        names = [user.name or user.email or "somebody" for user in metadata.users]
        yield f"Handed in for {escape(', '.join(names[:-1]) + ' and ' + names[-1])}."


def _handed_in(files: tuple[str, ...] | None) -> Iterator[str]:
    if files is None:
        return
    if not files:
        yield "Nothing was found in what you handed in."
        return
    more = f" and {len(files) - MAX_FILES_SHOWN} more" if len(files) > MAX_FILES_SHOWN else ""
    yield f"You handed in: {escape(', '.join(files[:MAX_FILES_SHOWN]) + more)}"


def _summary(milestone: Milestone, scored: MilestoneScore, rubric: Rubric) -> Iterator[str]:
    """A milestone's points, notes and mistakes, as far as students may see them now."""
    visible = _least(_visibilities(milestone, rubric)) == "visible"
    score = f": {points(scored.score)} / {points(scored.max_score)}" if visible else ""
    yield f"### {escape(scored.title)}{score}"
    yield from (f"> {escape(note)}" for note in scored.notes)
    if visible:
        yield from map(_mistake, scored.misconceptions)


def _mistake(misconception: Misconception) -> str:
    return f"**{escape(misconception.title)}.** {escape(misconception.message)}"


def _tests(card: Scorecard, rubric: Rubric) -> Iterator[TestCase]:
    for place, (milestone, scored) in enumerate(_pairs(card, rubric), 1):
        visibilities = _visibilities(milestone, rubric)
        least = _least(visibilities)
        # A mistake that may not stand on top may be found by the test that is shown last.
        mistakes = () if least == "visible" else scored.misconceptions
        teller = _teller(scored, visibilities, least) if mistakes else None
        for number, criterion in enumerate(scored.criteria, 1):
            yield TestCase(
                score=criterion.score,
                max_score=criterion.max_score,
                status="passed" if criterion.full else "failed",
                name=criterion.title,
                name_format="text",
                number=f"{place}.{number}",
                output=_output(criterion, mistakes if criterion is teller else ()),
                output_format="md",
                tags=(milestone.id,),
                visibility=visibilities.get(criterion.id, least),
            )
        if mistakes and teller is None:
            yield TestCase(
                status="failed",
                name="What is wrong",
                name_format="text",
                number=f"{place}.{len(scored.criteria) + 1}",
                output="\n\n".join(map(_mistake, mistakes)),
                output_format="md",
                tags=(milestone.id,),
                visibility=least,
            )


def _teller(
    scored: MilestoneScore, visibilities: dict[str, Visibility], least: Visibility
) -> CriterionScore | None:
    """The first criterion that lost points among those that are shown last."""
    lost = (c for c in scored.criteria if not c.full)
    return next((c for c in lost if visibilities.get(c.id) == least), None)


def _visibilities(milestone: Milestone, rubric: Rubric) -> dict[str, Visibility]:
    default = rubric.gradescope.visibility
    return {criterion.id: criterion.visibility or default for criterion in milestone.criteria}


def _least(visibilities: dict[str, Visibility]) -> Visibility:
    return min(visibilities.values(), key=LEAST_VISIBLE_FIRST.index)


def _output(criterion: CriterionScore, mistakes: tuple[Misconception, ...]) -> str | None:
    if criterion.full:
        return None
    word = verdict_word(criterion)
    paragraphs = [f"{word[0].upper()}{word[1:]}.", *map(_mistake, mistakes)]
    lines = [f"- {escape(line)}" for line in criterion.message.split("\n") if line]
    return "\n\n".join([*paragraphs, *(["\n".join(lines)] if lines else [])])


def _leaderboard(
    card: Scorecard, score: float, rubric: Rubric
) -> tuple[LeaderboardColumn, ...] | None:
    if not rubric.gradescope.leaderboard:
        return None
    values = {milestone.id: (milestone.title, milestone.score) for milestone in card.milestones}
    values[SCORE_COLUMN] = ("Score", score)
    columns = [values[name] for name in rubric.gradescope.leaderboard if name in values]
    return tuple(LeaderboardColumn(name=n, value=v, order="desc") for n, v in columns)
