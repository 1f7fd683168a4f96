"""Criteria that count only where others of their milestone have earned something."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.gradescope.conversion import Circumstances, graded_results
from grader.model import CriterionScore, Scorecard, Verdict
from grader.report.console import feedback_text
from grader.report.feedback import feedback_markdown
from grader.rubric import Rubric
from grader.scoring import score
from tests.reports import card_of, entry, report_of, rubric_of
from tests.small_rubrics import VALID, folder_for_valid, only_problem, parse, problems

VALUES = {"id": "values", "title": "Right values", "points": 6, "award": "proportional",
          "tests": ("test_values_*",)}  # fmt: skip
SHAPES = {"id": "shapes", "title": "Right shapes", "points": 3, "tests": ("test_shapes",),
          "needs": ("values",)}  # fmt: skip
REPEATED = {"id": "repeated", "title": "The same twice", "points": 1, "tests": ("test_repeated",),
            "needs": ("shapes",)}  # fmt: skip
CHAIN = rubric_of(REPEATED, SHAPES, VALUES)


def scored(rubric: Rubric, **verdicts: str) -> tuple[Scorecard, dict[str, CriterionScore]]:
    """A scorecard for verdicts of tests, and its criteria by id."""
    card = card_of(rubric, *(entry(f"test_{name}", verdict) for name, verdict in verdicts.items()))
    return card, {criterion.id: criterion for criterion in card.milestones[0].criteria}


def test_a_criterion_counts_where_what_it_needs_has_earned_something() -> None:
    """Part of the points is enough."""
    card, criteria = scored(
        CHAIN, values_1="passed", values_2="failed", shapes="passed", repeated="passed"
    )
    assert card.score == 3 + 3 + 1
    assert all(criteria[name].full for name in ("shapes", "repeated"))


def test_a_criterion_without_what_it_needs_earns_nothing_and_says_why() -> None:
    """Its verdict stays what its own tests say, and chains are followed in any order."""
    card, criteria = scored(CHAIN, values_1="failed", shapes="passed", repeated="passed")
    assert card.score == 0
    assert criteria["shapes"].verdict is criteria["repeated"].verdict is Verdict.PASSED
    assert criteria["shapes"].waits_for == ("values",)
    assert criteria["shapes"].message == 'This counts once "Right values" is at least partly right.'
    assert criteria["repeated"].waits_for == ("shapes",)
    assert not criteria["shapes"].full


def test_what_earned_nothing_by_itself_waits_for_nobody() -> None:
    """The reason that a student reads is the criterion's own."""
    _, criteria = scored(CHAIN, values_1="failed", shapes="failed", repeated="passed")
    assert criteria["shapes"].waits_for == ()
    assert criteria["repeated"].waits_for == ("shapes",)


def test_a_criterion_without_points_can_be_needed() -> None:
    """It is a mere condition: passing it is what counts."""
    rubric = rubric_of(SHAPES, {**VALUES, "points": 0})
    assert scored(rubric, values_1="passed", shapes="passed")[0].score == 3
    assert scored(rubric, values_1="failed", shapes="passed")[0].score == 0


def test_what_a_known_mistake_leaves_is_something_earned() -> None:
    """A criterion that keeps a share is enough for those that need it."""
    rubric = rubric_of({**VALUES, "misconceptions": {"unbiased-variance": 0.5}}, SHAPES)
    report = report_of(entry("test_values_1", "failed"), entry("test_shapes"))
    report["examination"]["findings"] = {"one": {"names": ["unbiased-variance"]}}
    assert score(report, rubric).score == 3 + 3


def test_several_needs_are_told_together() -> None:
    """Each of them has to earn something."""
    both = {**REPEATED, "needs": ("values", "shapes")}
    rubric = rubric_of(VALUES, {**SHAPES, "needs": ()}, both)
    _, criteria = scored(rubric, values_1="failed", shapes="failed", repeated="passed")
    assert criteria["repeated"].message == (
        'This counts once "Right values" and "Right shapes" are at least partly right.'
    )


def test_everybody_who_reads_a_scorecard_sees_what_does_not_count_yet() -> None:
    """The page, the terminal and Gradescope mark it as lost and say why."""
    card, _ = scored(CHAIN, values_1="failed", shapes="passed", repeated="passed")
    page = feedback_markdown(card, CHAIN)
    assert "- ✗ Right shapes (0 / 3): does not count yet" in page
    assert "✗ Right shapes: does not count yet" in feedback_text(card).plain
    tests = {test.name: test for test in graded_results(card, CHAIN, Circumstances()).tests or ()}
    assert (tests["Right shapes"].status, tests["Right shapes"].score) == ("failed", 0)
    assert str(tests["Right shapes"].output).startswith("Does not count yet.")
    assert "Right values" in str(tests["Right shapes"].output)


def test_only_a_criterion_that_waits_says_so_in_its_file() -> None:
    """score.json has the key where it says something, and reads back as it was."""
    card, _ = scored(CHAIN, values_1="failed", shapes="passed", repeated="passed")
    repeated, shapes, values = card.model_dump(mode="json")["milestones"][0]["criteria"]
    assert (repeated["waits_for"], shapes["waits_for"]) == (["shapes"], ["values"])
    assert "waits_for" not in values
    assert Scorecard.model_validate_json(card.model_dump_json()) == card


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that VALID fits to."""
    return folder_for_valid(tmp_path)


def test_needs_are_read(folder: Path) -> None:
    """They are ids of other criteria of the milestone."""
    text = VALID.replace("points: 3", "points: 3\n        needs: [first]")
    assert parse(folder, text).milestones[0].criteria[1].needs == ("first",)


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ("[frist]", "no such criterion in this milestone: frist; perhaps you meant 'first'"),
        ("[second]", "a criterion cannot need itself"),
    ],
    ids=["unknown", "itself"],
)
def test_a_wrong_need_has_its_place(folder: Path, needs: str, expected: str) -> None:
    """Line and column are those of the id."""
    problem = only_problem(folder, ("points: 3", f"points: 3\n        needs: {needs}"))
    assert problem == f"line 19, column 17: milestones[0].criteria[1].needs[0]: {expected}"


def test_criteria_that_need_each_other_are_refused(folder: Path) -> None:
    """Neither would ever count; both places are told."""
    found = problems(
        folder,
        ("points: 2.5", "points: 2.5\n        needs: [second]"),
        ("points: 3", "points: 3\n        needs: [first, thrid]"),
    )
    assert [problem.partition(":")[2].strip() for problem in found] == [
        "milestones[0].criteria[0].needs[0]: first and second need each other, so neither would "
        "ever count",
        "milestones[0].criteria[1].needs[0]: second and first need each other, so neither would "
        "ever count",
        "milestones[0].criteria[1].needs[1]: no such criterion in this milestone: thrid",
    ]


def test_needs_of_another_form_are_faults_like_others(folder: Path) -> None:
    """A bare word or a number is no list of ids."""
    assert "needs" in only_problem(folder, ("points: 3", "points: 3\n        needs: first"))
    assert "needs" in only_problem(folder, ("points: 3", "points: 3\n        needs: [1]"))
