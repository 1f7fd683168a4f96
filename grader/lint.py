"""Whether an assignment proves itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grader.hollow import earned_for_nothing, too_much
from grader.model import Scorecard


def lint_problems(
    stubs: Scorecard, solutions: Scorecard, hollow: Mapping[str, Scorecard]
) -> list[str]:
    """Criteria that a stub passes, that a solution does not, or that pay for hollow answers.

    Args:
        stubs: scorecard of the untouched stubs.
        solutions: scorecard of the solutions.
        hollow: scorecards of answers that do nothing, by what they do in place of it.
    """
    faults = [fault for card in (stubs, solutions, *hollow.values()) for fault in _faults(card)]
    paid = [earned_for_nothing(title, card) for title, card in hollow.items() if too_much(card)]
    return [*faults, *_earning_stubs(stubs), *losing(solutions), *paid]


def _faults(card: Scorecard) -> Iterator[str]:
    if card.problem:
        yield f"{card.student}: {card.problem}"


def _earning_stubs(card: Scorecard) -> Iterator[str]:
    for milestone in card.milestones:
        for criterion in milestone.criteria:
            if criterion.score > 0:
                yield f"stub earns {criterion.score:g} points: {milestone.id}/{criterion.id}"


def losing(card: Scorecard) -> Iterator[str]:
    """Criteria that a solution does not pass, with what its tests say."""
    for milestone in card.milestones:
        for criterion in milestone.criteria:
            if not criterion.full:
                yield (
                    f"solution does not pass {milestone.id}/{criterion.id} "
                    f"({criterion.verdict.value}): {criterion.message}"
                )
