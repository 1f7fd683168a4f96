"""Scoring: a pure function of a report and a rubric."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model import Scorecard, Verdict
from grader.rubric import parse_rubric
from grader.scoring import score, unscored
from grader.scoring import test_results as results_of
from tests.reports import SUITE, card_of, entry, report_of, rubric_of


def test_all_passed_earns_all_points() -> None:
    """A submission that passes everything has the maximum."""
    rubric = rubric_of({"points": 2.5}, {"points": 4, "award": "proportional"})
    card = card_of(rubric, entry("test_c0_a"), entry("test_c1_a"), entry("test_c1_b"))
    assert (card.score, card.max_score, card.status) == (6.5, 6.5, "graded")


def test_proportional_points_go_by_the_share_of_passed_tests() -> None:
    """Three of four tests give three quarters of the points."""
    rubric = rubric_of({"points": 8, "award": "proportional"})
    tests = [entry(f"test_c0_{n}") for n in range(3)]
    card = card_of(rubric, *tests, entry("test_c0_3", "failed"))
    (criterion,) = card.milestones[0].criteria
    assert (card.score, criterion.verdict) == (6.0, Verdict.FAILED)
    assert (criterion.tests.passed, criterion.tests.total) == (3, 4)


def test_all_or_nothing_gives_nothing_for_most() -> None:
    """With `award: all` one lost test loses the points."""
    card = card_of(rubric_of({"points": 8}), entry("test_c0_a"), entry("test_c0_b", "error"))
    assert card.score == 0.0
    assert card.milestones[0].criteria[0].verdict is Verdict.ERROR


def test_rounding_happens_once_at_the_end() -> None:
    """Three thirds of three criteria are one point, not 0.99."""
    rubric = rubric_of(*[{"points": 1, "award": "proportional"}] * 3)
    tests = [
        entry(f"test_c{c}_{t}", "passed" if t == 0 else "failed")
        for c in range(3)
        for t in range(3)
    ]
    card = card_of(rubric, *tests)
    assert card.score == card.milestones[0].score == 1.0
    assert [c.score for c in card.milestones[0].criteria] == [0.33, 0.33, 0.33]


@pytest.mark.parametrize(("points", "expected"), [(0.25, 0.13), (0.01, 0.01), (0.29, 0.15)])
def test_half_a_cent_is_rounded_up(points: float, expected: float) -> None:
    """0.125 becomes 0.13: neither to the even digit, nor down for want of binary digits."""
    rubric = rubric_of({"points": points, "award": "proportional"})
    card = card_of(rubric, entry("test_c0_a"), entry("test_c0_b", "failed"))
    assert card.score == expected


def test_a_test_without_a_call_stage_has_not_passed() -> None:
    """`outcome: passed` with a setup only is what pytest.exit leaves behind."""
    cut = entry("test_c0_a")
    del cut["call"]
    card = card_of(rubric_of({"points": 1}), cut)
    assert card.score == 0.0
    assert card.milestones[0].criteria[0].verdict is Verdict.NOT_RUN


@pytest.mark.parametrize("stage", ["call", "outcome"])
def test_a_verdict_passed_needs_stages_that_passed(stage: str) -> None:
    """Metadata alone earns nothing: call and outcome must say the same."""
    test = entry("test_c0_a")
    test[stage] = {"outcome": "failed"} if stage == "call" else "failed"
    assert card_of(rubric_of({"points": 1}), test).score == 0.0


def test_passed_stages_need_a_verdict() -> None:
    """A test whose metadata got lost has not passed."""
    test = entry("test_c0_a")
    del test["metadata"]
    assert card_of(rubric_of({"points": 1}), test).score == 0.0


def test_a_test_that_the_report_lacks_costs_its_points() -> None:
    """A collected test that is not in the report is not-run, and counts as lost."""
    rubric = rubric_of({"points": 2, "award": "proportional"})
    report = report_of(entry("test_c0_a"), expected=["test_c0_b"])
    card = score(report, rubric)
    assert card.score == 1.0
    assert card.milestones[0].criteria[0].verdict is Verdict.NOT_RUN
    assert results_of(report)[f"{SUITE}::test_c0_b"].verdict is Verdict.NOT_RUN


def test_a_criterion_without_any_test_earns_nothing() -> None:
    """No test at all is not the same as all tests passed."""
    card = card_of(rubric_of({"points": 2}), entry("test_else"))
    assert card.score == 0.0
    assert card.milestones[0].criteria[0].verdict is Verdict.NOT_RUN


def test_a_fault_of_the_grader_leaves_no_score() -> None:
    """One test that failed for our reasons makes any number misleading."""
    rubric = rubric_of({"points": 1}, {"points": 9})
    card = card_of(
        rubric, entry("test_c0_a"), entry("test_c1_a", "grader-fault", "KeyError: 'boo'")
    )
    assert (card.status, card.score) == ("needs-attention", None)
    assert "test_c1_a" in card.problem
    assert "KeyError: 'boo'" in card.problem


def test_a_fault_in_a_test_that_no_criterion_counts_needs_attention_too() -> None:
    """A fault is a fault wherever it happened."""
    card = card_of(rubric_of({"points": 1}), entry("test_c0_a"), entry("test_x", "grader-fault"))
    assert (card.status, card.score) == ("needs-attention", None)


def test_a_fault_of_the_grader_is_not_told_to_the_student() -> None:
    """The student reads nothing of our traceback."""
    fault = entry("test_c0_a", "grader-fault", "KeyError: 'boo'")
    card = card_of(rubric_of({"points": 1}), fault)
    assert card.milestones[0].criteria[0].message == ""


def test_a_problem_of_intake_needs_attention() -> None:
    """A submission that intake could not sort out has no score, and says why."""
    card = card_of(rubric_of({"points": 1}), entry("test_c0_a"), problem="Two files. Leave one.")
    assert (card.status, card.score) == ("needs-attention", None)
    assert card.problem == "Two files. Leave one."


def test_no_files_is_no_submission() -> None:
    """Nothing handed in is a status of its own, with zero points."""
    card = card_of(rubric_of({"points": 1}), entry("test_c0_a", "missing"), files="0")
    assert (card.status, card.score) == ("no-submission", 0.0)


def test_notes_come_from_intake_and_from_the_examination() -> None:
    """Notes of the submission and of its milestones stand where they belong."""
    card = card_of(rubric_of({"points": 1}), entry("test_c0_a"), notes="left out\ntoo large")
    assert card.notes == ("left out", "too large")
    assert card.milestones[0].notes == ("a note",)


@pytest.mark.parametrize(
    ("show", "expected"),
    [("name", ""), ("message", "It is wrong."), ("details", "It is wrong.\nDetails: Shape (2,).")],
)
def test_a_criterion_shows_what_its_rubric_allows(show: str, expected: str) -> None:
    """`name` shows nothing more, `message` the sentence, `details` the numbers besides."""
    rubric = rubric_of({"points": 1, "show": show})
    card = card_of(rubric, entry("test_c0_a", "failed", "It is wrong.", "Shape (2,)."))
    assert card.milestones[0].criteria[0].message == expected


def test_equal_messages_are_said_once_with_the_details_of_the_first() -> None:
    """Six tests that fail for one reason give one message."""
    rubric = rubric_of({"points": 1, "show": "details"})
    tests = [entry(f"test_c0_{n}", "failed", "Wrong.", f"Shape {n}.") for n in range(6)]
    card = card_of(rubric, *tests)
    assert card.milestones[0].criteria[0].message == "Wrong.\nDetails: Shape 0."


def test_at_most_three_messages_are_shown() -> None:
    """A student reads three reasons, in the order of the tests, and not twenty."""
    tests = [entry(f"test_c0_{n}", "failed", f"Reason {n}.") for n in range(20)]
    card = card_of(rubric_of({"points": 1}), *tests)
    assert card.milestones[0].criteria[0].message == "Reason 0.\nReason 1.\nReason 2."


def test_passed_tests_have_no_message() -> None:
    """Only lost points are explained."""
    test = entry("test_c0_a", "passed", "never shown")
    assert card_of(rubric_of({"points": 1}), test).milestones[0].criteria[0].message == ""


def test_scoring_changes_nothing() -> None:
    """The report is the same afterwards, and the same report gives the same card."""
    rubric = rubric_of({"points": 3, "award": "proportional"})
    report = report_of(entry("test_c0_a"), entry("test_c0_b", "failed", "No."))
    before = copy.deepcopy(report)
    assert score(report, rubric) == score(report, rubric)
    assert report == before


def test_a_submission_that_was_not_examined_has_no_score() -> None:
    """`unscored` keeps the maximum and the reason, and no number."""
    card = unscored("ann", rubric_of({"points": 3}), "The examiner died.")
    assert (card.status, card.score, card.max_score) == ("needs-attention", None, 3.0)
    assert (card.milestones, card.problem) == ((), "The examiner died.")


points = st.decimals(min_value=0, max_value=50, places=2).map(float)
criteria = st.lists(
    st.tuples(points, st.sampled_from(["all", "proportional"]), st.integers(1, 4)),
    min_size=1,
    max_size=4,
)


def hand_made(drawn: list[tuple[float, str, int]], passed: set[str]) -> Scorecard:
    """Score a report where exactly the tests in `passed` have passed."""
    rubric = rubric_of(*({"points": p, "award": award} for p, award, _ in drawn))
    return card_of(
        rubric, *(entry(name, "passed" if name in passed else "failed") for name in names_of(drawn))
    )


def names_of(drawn: list[tuple[float, str, int]]) -> list[str]:
    return [f"test_c{c}_{t}" for c, (_, _, count) in enumerate(drawn) for t in range(count)]


@given(drawn=criteria, data=st.data())
def test_a_score_keeps_its_bounds_and_grows_with_passed_tests(
    drawn: list[tuple[float, str, int]], data: st.DataObject
) -> None:
    """For any rubric: 0 <= score <= maximum, and a further passed test never costs points."""
    names = names_of(drawn)
    passed = data.draw(st.sets(st.sampled_from(names)))
    further = data.draw(st.sampled_from(names))
    fewer, more = hand_made(drawn, passed), hand_made(drawn, passed | {further})
    assert fewer.score is not None
    assert more.score is not None
    assert 0 <= fewer.score <= more.score <= more.max_score
    assert hand_made(drawn, set(names)).score == more.max_score


def test_points_of_the_rubric_are_decimals(tmp_path: Path) -> None:
    """Ten criteria of 0.1 points are exactly one point."""
    for name in ("assignments", "solutions", "suites"):
        (tmp_path / name).mkdir()
    (tmp_path / "suites" / SUITE).touch()
    head = "format: 1\nassignment: a\ntitle: A\nsuites: suites\nmilestones:\n"
    head += f"  - {{id: one, title: One, file: one.py, suite: {SUITE}, criteria: ["
    lines = [f"{{id: c{n}, title: C, points: 0.1, tests: [test_c{n}_a]}}" for n in range(10)]
    rubric = parse_rubric(head + ", ".join(lines) + "]}\n", tmp_path / "rubric.yaml")
    assert rubric.points == 1
    assert card_of(rubric, *(entry(f"test_c{n}_a") for n in range(10))).score == 1.0
