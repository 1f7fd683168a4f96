"""From a report and a rubric to a scorecard: a pure function of two values.

A test counts as passed only if its call stage passed and said so; a test id that the suite
collected and the report lacks has not passed.  A fault of the grader is never a lost point: the
submission then has no score at all and goes to an instructor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from grader.lateness import CENT, Extension, lateness
from grader.model import (
    DETAILS,
    CriterionScore,
    MilestoneScore,
    Misconception,
    Scorecard,
    Status,
    TestCount,
    TestResult,
    Timing,
    Verdict,
)
from grader.needs import withheld
from grader.rubric import Criterion, Milestone, Rubric, tests_of

MAX_MESSAGES = 3


def score(
    report: Mapping[str, Any], rubric: Rubric, extension: Extension | None = None
) -> Scorecard:
    """Score one report.

    Args:
        report: contents of a report.json of this grader.
        rubric: the rubric as it is now.
        extension: the student's, if there is one.
    """
    examination = report["examination"]
    results = test_results(report)
    earned = Decimal(0)
    milestones = []
    for milestone in rubric.milestones:
        notes = tuple(examination["notes"].get(milestone.id, ()))
        finding = examination.get("findings", {}).get(milestone.id, {})
        points, scored = _score_milestone(milestone, results, notes, finding, rubric)
        earned += points
        milestones.append(scored)
    faults = [r for r in results.values() if r.verdict is Verdict.GRADER_FAULT]
    status = _status(examination["facts"], faults)
    total = earned.quantize(CENT, rounding=ROUND_HALF_UP)
    late = lateness(timing_of(report), rubric.late, extension, total)
    if status == "needs-attention":  # without a score there is nothing to take from
        late = None
    left = total - Decimal(str(late.taken)) if late else total
    return Scorecard(
        student=examination["student"],
        status=status,
        score=None if status == "needs-attention" else float(left),
        max_score=_rounded(rubric.points),
        milestones=tuple(milestones),
        notes=tuple(filter(None, examination["facts"].get("notes", "").split("\n"))),
        problem=_problem(examination["facts"], faults),
        late=late,
    )


def timing_of(report: Mapping[str, Any]) -> Timing:
    """When the submission of a report was handed in, as its facts say."""
    return Timing.model_validate_json(report["examination"]["facts"].get("timing", "{}"))


def unscored(student: str, rubric: Rubric, problem: str) -> Scorecard:
    """The scorecard of a submission that could not be examined."""
    return Scorecard(
        student=student,
        status="needs-attention",
        score=None,
        max_score=_rounded(rubric.points),
        milestones=(),
        problem=problem,
    )


def test_results(report: Mapping[str, Any]) -> dict[str, TestResult]:
    """Result of every test that the suites hold, by id, in the order of the suites."""
    present = {test["nodeid"]: _result_of(test) for test in report["tests"]}
    expected: Sequence[str] = report["examination"]["expected"]
    return {
        test: present.get(test) or TestResult(test=test, verdict=Verdict.NOT_RUN)
        for test in dict.fromkeys([*expected, *present])
    }


def _result_of(test: Mapping[str, Any]) -> TestResult:
    metadata = test.get("metadata", {})
    verdict = Verdict(metadata.get("verdict", Verdict.NOT_RUN))
    call_passed = test.get("call", {}).get("outcome") == "passed"
    if verdict is Verdict.PASSED and not (call_passed and test.get("outcome") == "passed"):
        verdict = Verdict.NOT_RUN
    return TestResult(
        test=test["nodeid"],
        verdict=verdict,
        message=metadata.get("message", ""),
        details=metadata.get("details", ""),
    )


def _score_milestone(
    milestone: Milestone,
    results: Mapping[str, TestResult],
    notes: tuple[str, ...],
    finding: Mapping[str, Any],
    rubric: Rubric,
) -> tuple[Decimal, MilestoneScore]:
    earned, criteria = _score_criteria(milestone, results, finding)
    return earned, MilestoneScore(
        id=milestone.id,
        title=milestone.title,
        score=_rounded(earned),
        max_score=_rounded(milestone.points),
        criteria=tuple(criteria),
        misconceptions=_misconceptions(finding, rubric),
        group=finding.get("fingerprint", ""),
        notes=notes,
    )


def _score_criteria(
    milestone: Milestone, results: Mapping[str, TestResult], finding: Mapping[str, Any]
) -> tuple[Decimal, list[CriterionScore]]:
    """Points of a milestone before rounding, and its criteria; what waits for others has none."""
    tests = tuple(results)
    counted = {
        criterion.id: [results[t] for t in tests_of(milestone.suite, criterion.tests, tests)]
        for criterion in milestone.criteria
    }
    shares = {
        criterion.id: max(_share(criterion, counted[criterion.id]), _kept(criterion, finding))
        for criterion in milestone.criteria
    }
    waiting = withheld(
        {criterion.id: criterion.needs for criterion in milestone.criteria},
        {name for name, share in shares.items() if share},
    )
    earned = Decimal(0)
    criteria = []
    for criterion in milestone.criteria:
        waits_for = waiting.get(criterion.id, ())
        share = Fraction(0) if waits_for else shares[criterion.id]
        points = criterion.points * share.numerator / share.denominator
        earned += points
        scored = _score_criterion(criterion, counted[criterion.id], points)
        if waits_for:
            scored = _waiting(scored, waits_for, milestone)
        criteria.append(scored)
    return earned, criteria


def _misconceptions(finding: Mapping[str, Any], rubric: Rubric) -> tuple[Misconception, ...]:
    """What is shown of a diagnosis; a group that the rubric names is shown under that name."""
    found = [
        Misconception(id=name, title=rubric.texts[name].title, message=rubric.texts[name].message)
        for name in finding.get("names", ())
        if name in rubric.texts
    ]
    either = [name for name in finding.get("either", ()) if name in rubric.texts]
    if len(either) > 1:
        texts = [rubric.texts[name] for name in either]
        message = "One of these is true; what your code computes is the same for each. " + " ".join(
            f"({number}) {text.message}" for number, text in enumerate(texts, 1)
        )
        titles = " or: ".join(text.title for text in texts)
        found.append(Misconception(id="/".join(either), title=titles, message=message))
    group = rubric.groups.get(finding.get("fingerprint", ""))
    if group is not None:
        name = finding["fingerprint"]
        found.append(Misconception(id=name, title=group.title, message=group.message))
    return tuple(found)


def _kept(criterion: Criterion, finding: Mapping[str, Any]) -> Fraction:
    """Share of the points that a known misconception leaves, if nothing else was found."""
    names = finding.get("names", ())
    if (
        not names
        or finding.get("either")
        or any(name not in criterion.misconceptions for name in names)
    ):
        return Fraction(0)
    return Fraction(min(criterion.misconceptions[name] for name in names))


def _share(criterion: Criterion, counted: Sequence[TestResult]) -> Fraction:
    """Share of the points that a criterion's own tests earn."""
    passed = sum(result.verdict is Verdict.PASSED for result in counted)
    if not counted or (criterion.award == "all" and passed < len(counted)):
        return Fraction(0)
    return Fraction(passed, len(counted))


def _waiting(
    scored: CriterionScore, waits_for: tuple[str, ...], milestone: Milestone
) -> CriterionScore:
    """A criterion's score with the sentence that says what it waits for."""
    titles = [c.title for c in milestone.criteria if c.id in waits_for]
    listing = " and ".join(f'"{title}"' for title in titles)
    verb = "are" if len(titles) > 1 else "is"
    message = f"This counts once {listing} {verb} at least partly right."
    return scored.model_copy(
        update={
            "waits_for": waits_for,
            "message": "\n".join(filter(None, (message, scored.message))),
        }
    )


def _score_criterion(
    criterion: Criterion, counted: Sequence[TestResult], points: Decimal
) -> CriterionScore:
    lost = [result for result in counted if result.verdict is not Verdict.PASSED]
    verdict = lost[0].verdict if lost else Verdict.PASSED
    return CriterionScore(
        id=criterion.id,
        title=criterion.title,
        score=_rounded(points),
        max_score=_rounded(criterion.points),
        verdict=verdict if counted else Verdict.NOT_RUN,
        tests=TestCount(passed=len(counted) - len(lost), total=len(counted)),
        message=_message(criterion, lost),
    )


def _message(criterion: Criterion, lost: Sequence[TestResult]) -> str:
    """What the student may read about lost points: distinct messages, one a line.

    Where details are shown, those of a message's first test follow it on a line of their own.
    """
    if criterion.show == "name":
        return ""
    details: dict[str, str] = {}
    for result in lost:
        if result.verdict is not Verdict.GRADER_FAULT and result.message:
            details.setdefault(result.message, result.details)
    lines = []
    for message, detail in list(details.items())[:MAX_MESSAGES]:
        lines.append(message)
        if criterion.show == "details" and detail:
            lines.append(DETAILS + detail)
    return "\n".join(lines)


def _status(facts: Mapping[str, str], faults: Sequence[TestResult]) -> Status:
    if faults or facts.get("problem"):
        return "needs-attention"
    return "no-submission" if facts.get("files") == "0" else "graded"


def _problem(facts: Mapping[str, str], faults: Sequence[TestResult]) -> str:
    if facts.get("problem"):
        return facts["problem"]
    if not faults:
        return ""
    first = faults[0]
    return f"The grader failed in {len(faults)} test(s), first in {first.test}: {first.message}"


def _rounded(points: Decimal) -> float:
    """Points to two decimals, half up."""
    return float(points.quantize(CENT, rounding=ROUND_HALF_UP))
