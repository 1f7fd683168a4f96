"""Scorecards for tests that compare classes."""

from __future__ import annotations

from collections.abc import Mapping

from grader.model import (
    CriterionScore,
    MilestoneScore,
    Scorecard,
    Status,
    TestCount,
    Verdict,
)

# Scores by milestone and criterion; each with the most that can be had where that is not 10.
Scores = Mapping[str, Mapping[str, float | tuple[float, float]]]


def card(scores: Scores, status: Status = "graded") -> Scorecard:
    """A scorecard with these criteria."""
    milestones = tuple(milestone(name, criteria) for name, criteria in scores.items())
    return Scorecard(
        student="ann",
        status=status,
        score=None if status == "needs-attention" else sum(m.score for m in milestones),
        max_score=sum(m.max_score for m in milestones),
        milestones=milestones,
    )


def milestone(name: str, criteria: Mapping[str, float | tuple[float, float]]) -> MilestoneScore:
    pairs = {c: (s if isinstance(s, tuple) else (s, 10.0)) for c, s in criteria.items()}
    scored = tuple(
        CriterionScore(
            id=criterion,
            title="A criterion",
            score=score,
            max_score=most,
            verdict=Verdict.PASSED,
            tests=TestCount(passed=1, total=1),
            message="",
        )
        for criterion, (score, most) in pairs.items()
    )
    return MilestoneScore(
        id=name,
        title=name,
        score=sum(c.score for c in scored),
        max_score=sum(c.max_score for c in scored),
        criteria=scored,
    )


FULL = card({"m": {"a": 10.0, "b": 10.0}, "n": {"c": 10.0}})
LESS = card({"m": {"a": 10.0, "b": 4.5}, "n": {"c": 10.0}})
MIXED = card({"m": {"a": 9.0, "b": 5.5}, "n": {"c": 10.0}})
ATTENTION = card({"m": {"a": 0.0, "b": 0.0}, "n": {"c": 0.0}}, "needs-attention")
OLD = {"ann": FULL, "bob": LESS, "cleo": FULL, "dan": FULL, "eve": LESS}
NEW = {"ann": FULL, "bob": FULL, "cleo": LESS, "eve": ATTENTION, "fay": FULL}
