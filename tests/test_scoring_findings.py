"""Scoring: what a diagnosis leaves of the points, and what late work costs."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from grader.lateness import Extension, LateRules
from grader.misconceptions import MisconceptionText, known_texts
from grader.model import Scorecard, Verdict
from grader.rubric import Rubric
from grader.scoring import score
from tests.reports import card_of, entry, report_of, rubric_of

SHARES = {"eps-missing": 0.5, "root-missing": 0.25}
FOUND_OUT = "0123456789ab"


def diagnosed(rubric: Rubric, *tests: Any, finding: object) -> Scorecard:
    """Score a report with a diagnosis; the grader's own texts are known."""
    report = report_of(*tests)
    report["examination"]["findings"] = {"one": finding}
    return score(report, rubric.model_copy(update={"texts": known_texts()}))


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        ([], 0.0),
        (["eps-missing"], 2.0),
        (["root-missing", "eps-missing"], 1.0),
        (["eps-missing", "sign-reversed"], 0.0),
        (["eps-missing", "renamed-since"], 0.0),
        (["sign-reversed"], 0.0),
    ],
    ids=["none", "one", "smaller-share", "another-one", "unknown-one", "not-in-map"],
)
def test_a_misconception_leaves_its_share_of_the_points(names: list[str], kept: float) -> None:
    """The smallest share of all that were found; nothing if one of them has none."""
    rubric = rubric_of({"points": 4, "misconceptions": SHARES})
    card = diagnosed(rubric, entry("test_c0_a", "failed"), finding={"names": names})
    (criterion,) = card.milestones[0].criteria
    assert (card.score, criterion.score, criterion.verdict) == (kept, kept, Verdict.FAILED)


def test_a_share_is_of_the_criterion_that_has_it() -> None:
    """Another criterion of the same milestone loses its points as ever."""
    rubric = rubric_of({"points": 4, "misconceptions": SHARES}, {"points": 4})
    lost = [entry("test_c0_a", "failed"), entry("test_c1_a", "failed")]
    card = diagnosed(rubric, *lost, finding={"names": ["eps-missing"]})
    assert [criterion.score for criterion in card.milestones[0].criteria] == [2.0, 0.0]


@pytest.mark.parametrize(("passed", "points"), [(0, 2.0), (1, 2.0), (3, 3.0), (4, 4.0)])
def test_a_share_never_takes_what_tests_give(passed: int, points: float) -> None:
    """The larger of both counts, and full marks stay full."""
    rubric = rubric_of({"points": 4, "award": "proportional", "misconceptions": SHARES})
    tests = [entry(f"test_c0_{n}", "passed" if n < passed else "failed") for n in range(4)]
    assert diagnosed(rubric, *tests, finding={"names": ["eps-missing"]}).score == points


def test_misconceptions_are_named_with_their_texts() -> None:
    """In the order of the diagnosis; one that the grader does not know any more is passed over."""
    finding = {"names": ["sign-reversed", "renamed-since", "eps-missing"]}
    card = diagnosed(rubric_of({"points": 4}), entry("test_c0_a", "failed"), finding=finding)
    named = card.milestones[0].misconceptions
    assert [found.id for found in named] == ["sign-reversed", "eps-missing"]
    text = known_texts()["eps-missing"]
    assert (named[1].title, named[1].message) == (text.title, text.message)


def test_alternatives_are_one_entry_and_keep_no_points() -> None:
    """Which of them it is nobody knows, so all are told and none has a share."""
    rubric = rubric_of({"points": 4, "misconceptions": SHARES})
    finding = {"names": [], "either": ["eps-missing", "renamed-since", "root-missing"]}
    card = diagnosed(rubric, entry("test_c0_a", "failed"), finding=finding)
    (named,) = card.milestones[0].misconceptions
    texts = [known_texts()[name] for name in ("eps-missing", "root-missing")]
    assert (card.score, named.id) == (0.0, "eps-missing/root-missing")
    assert all(text.title in named.title and text.message in named.message for text in texts)


def test_a_named_group_shows_its_text_to_each_of_its_students() -> None:
    """An instructor's words for a fingerprint; a fingerprint without a name shows nothing."""
    group = MisconceptionText(title="Our own", message="Look at line 3.")
    rubric = rubric_of({"points": 4}).model_copy(update={"groups": {FOUND_OUT: group}})
    prints = (FOUND_OUT, FOUND_OUT, "ba9876543210")
    lost = entry("test_c0_a", "failed")
    found = [diagnosed(rubric, lost, finding={"fingerprint": p}).milestones[0] for p in prints]
    assert [milestone.group for milestone in found] == list(prints)
    named = [[(m.id, m.title, m.message) for m in one.misconceptions] for one in found]
    assert named == [[(FOUND_OUT, "Our own", "Look at line 3.")]] * 2 + [[]]


def test_a_diagnosis_that_failed_changes_nothing() -> None:
    """Its traceback is for the instructor, who finds it in the report."""
    rubric = rubric_of({"points": 4, "misconceptions": SHARES})
    tests = [entry("test_c0_a", "failed", "No.")]
    found = diagnosed(rubric, *tests, finding={"fault": "Traceback: KeyError"})
    assert found == card_of(rubric, *tests)
    assert (found.status, found.score) == ("graded", 0.0)


def test_a_report_without_any_diagnosis_is_scored() -> None:
    """Older reports have none, and milestones that passed have none either."""
    report = report_of(entry("test_c0_a"))
    assert "findings" not in report["examination"]
    card = score(report, rubric_of({"points": 4, "misconceptions": SHARES}))
    (milestone,) = card.milestones
    assert (card.score, milestone.misconceptions, milestone.group) == (4.0, (), "")


RULES = LateRules.model_validate(
    {"due": datetime(2026, 10, 3, 23, 59, tzinfo=timezone.utc),
     "penalty": {"percent": 10, "per": "day"}}
)  # fmt: skip
TOMORROW = '{"submitted": "2026-10-04T23:59:00Z"}'


def late_rubric() -> Rubric:
    """Thirds of a point, and a tenth of them taken for each begun day."""
    plain = rubric_of({"points": 1, "award": "proportional"})
    return plain.model_copy(update={"late": RULES})


def thirds(**facts: str) -> dict[str, Any]:
    """A report with two of three tests passed."""
    tests = [entry("test_c0_a"), entry("test_c0_b"), entry("test_c0_c", "failed")]
    return report_of(*tests, **facts)


def test_the_penalty_is_one_of_the_rounded_score() -> None:
    """What a student sees is what the percentage is taken of: 10 % of 0.67."""
    card = score(thirds(timing=TOMORROW), late_rubric())
    assert card.late is not None
    assert (card.score, card.late.before, card.late.taken) == (0.6, 0.67, 0.07)
    assert card.milestones[0].score == 0.67


def test_an_extension_is_part_of_scoring() -> None:
    """Score is a function of report, rubric and extension."""
    card = score(thirds(timing=TOMORROW), late_rubric(), Extension(days=Decimal(1)))
    assert (card.score, card.late and card.late.extended) == (0.67, True)


def test_a_submission_that_needs_attention_has_no_penalty() -> None:
    """There is no score to take from, and nothing is reckoned with a wrong one."""
    card = score(thirds(timing=TOMORROW, problem="Two files."), late_rubric())
    assert (card.score, card.late) == (None, None)


def test_without_times_the_file_is_what_it_was() -> None:
    """No key is there for what nobody knows; with a section or a time there is one."""
    plain = rubric_of({"points": 1})
    known = {"late": False, "attempts": False}
    for report, rubric, late in (
        (thirds(), plain, False),
        (thirds(timing=TOMORROW), plain, True),
        (thirds(), late_rubric(), True),
    ):
        saved = json.loads(score(report, rubric).model_dump_json())
        assert {key: key in saved for key in known} == {**known, "late": late}
        assert Scorecard.model_validate_json(json.dumps(saved)) == score(report, rubric)
