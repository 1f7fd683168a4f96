"""Scoring: a pure function of a report and a rubric."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.lateness import Extension, LateRules
from grader.misconceptions import MisconceptionText, known_texts
from grader.model import Scorecard, Verdict
from grader.rubric import Rubric, parse_rubric
from grader.scoring import score, unscored
from grader.scoring import test_results as results_of

SUITE = "test_one.py"


def rubric_of(*criteria: dict[str, Any]) -> Rubric:
    """A rubric with one milestone; what a criterion leaves out is filled in."""
    filled = [
        {"id": f"c{n}", "title": f"C{n}", "tests": (f"test_c{n}_*",), **criterion}
        for n, criterion in enumerate(criteria)
    ]
    milestone = {"id": "one", "title": "One", "file": "one.py", "suite": SUITE}
    return Rubric.model_validate(
        {
            "format": 1,
            "assignment": "small",
            "title": "Small",
            "milestones": [{**milestone, "criteria": filled}],
        }
    )


def entry(name: str, verdict: str = "passed", message: str = "", details: str = "") -> Any:
    """One test of a report, as pytest-json-report writes it with our metadata."""
    outcome = "passed" if verdict == "passed" else "failed"
    return {
        "nodeid": f"{SUITE}::{name}",
        "outcome": outcome,
        "setup": {"outcome": "passed"},
        "call": {"outcome": outcome},
        "metadata": {"verdict": verdict, "message": message, "details": details},
    }


def report_of(*tests: Any, expected: Iterable[str] = (), **facts: str) -> dict[str, Any]:
    """A report of these tests; `expected` are further tests that the suite holds."""
    ids = [test["nodeid"] for test in tests] + [f"{SUITE}::{name}" for name in expected]
    return {
        "tests": list(tests),
        "examination": {
            "student": "ann",
            "expected": ids,
            "notes": {"one": ["a note"]},
            "facts": {"files": "1", "notes": "", "problem": "", **facts},
        },
    }


def card_of(rubric: Rubric, *tests: Any, **more: Any) -> Scorecard:
    return score(report_of(*tests, **more), rubric)


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
