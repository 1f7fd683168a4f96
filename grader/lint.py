"""Whether an assignment proves itself."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model import Scorecard


def lint_problems(stubs: Scorecard, solutions: Scorecard) -> list[str]:
    """Criteria that a stub passes or that a solution does not.

    Args:
        stubs: scorecard of the untouched stubs.
        solutions: scorecard of the solutions.
    """
    return [*_faults(stubs), *_faults(solutions), *_earning_stubs(stubs), *losing(solutions)]


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
