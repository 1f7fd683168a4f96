"""From a scorecard to results.json: what students see, when, and what never stands there."""

from __future__ import annotations

import re
from typing import Any, Literal

import pytest
from markdown_it import MarkdownIt

from grader.gradescope.conversion import (
    LEAST_VISIBLE_FIRST,
    Circumstances,
    failed_run,
    graded_results,
    refused_results,
    visibility_warning,
)
from grader.gradescope.metadata import Metadata
from grader.gradescope.results_format import GradescopeResults, results_json
from grader.model import (
    CriterionScore,
    MilestoneScore,
    Misconception,
    Scorecard,
    TestCount,
    Verdict,
    Visibility,
)
from grader.rubric import GradescopeSettings, Rubric

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
POST_NORM = Misconception(id="post-norm", title="Post-norm", message="The sum is normalised.")
EVIL = "<script>alert(1)</script> **bold** [link](http://x) `code` | cell"


def criterion(identifier: str, lost: str = "", verdict: Verdict | None = None) -> CriterionScore:
    return CriterionScore(
        id=identifier,
        title=f"Title of {identifier}",
        score=0.5 if lost else 2.0,
        max_score=2.0,
        verdict=verdict or (Verdict.FAILED if lost else Verdict.PASSED),
        tests=TestCount(passed=1, total=1),
        message=lost,
    )


def card(
    rubric: Rubric, *, lost: str = "", misconceptions: tuple[Misconception, ...] = ()
) -> Scorecard:
    """A scorecard of the shipped assignment, whose last milestone loses points."""
    milestones = []
    for number, milestone in enumerate(rubric.milestones, 1):
        last = number == len(rubric.milestones)
        criteria = tuple(criterion(c.id) for c in milestone.criteria[:-1])
        mistake = lost if last else ""
        milestones.append(
            MilestoneScore(
                id=milestone.id,
                title=milestone.title,
                score=3.25,
                max_score=float(milestone.points),
                criteria=(criterion(milestone.criteria[0].id, mistake), *criteria[1:]),
                misconceptions=misconceptions if last else (),
                notes=("A note.",) if last else (),
            )
        )
    return Scorecard(
        student="ann", status="graded", score=9.75, max_score=100.0, milestones=tuple(milestones)
    )


def hiding(rubric: Rubric, visibility: Visibility, where: Literal["all", "one"]) -> Rubric:
    """The rubric with all criteria hidden, or only the first of the last milestone."""
    if where == "all":
        settings = GradescopeSettings(visibility=visibility)
        return rubric.model_copy(update={"gradescope": settings})
    *first, last = rubric.milestones
    hidden, *rest = last.criteria
    hidden = hidden.model_copy(update={"visibility": visibility})
    last = last.model_copy(update={"criteria": (hidden, *rest)})
    return rubric.model_copy(update={"milestones": (*first, last)})


def before(*submissions: dict[str, Any]) -> Circumstances:
    found = {"previous_submissions": list(submissions)}
    return Circumstances(metadata=Metadata.model_validate(found))


def output(results: GradescopeResults) -> str:
    assert results.output is not None
    return results.output


def test_every_criterion_is_one_test(rubric: Rubric) -> None:
    """Number, name, points, status and the milestone as tag, in the rubric's order."""
    results = graded_results(card(rubric, lost="Wrong."), rubric, Circumstances(seconds=3.5))
    assert results.tests is not None
    assert (results.score, results.execution_time) == (9.75, 3.5)
    assert [test.number for test in results.tests][:8] == [
        "1.1",
        *(f"1.{n}" for n in range(2, 8)),
        "2.1",
    ]
    assert {test.tags for test in results.tests} == {(m.id,) for m in rubric.milestones}
    lost = next(test for test in results.tests if test.number == "3.1")
    assert (lost.score, lost.max_score, lost.status) == (0.5, 2.0, "failed")
    assert lost.output == "Not right yet.\n\n- Wrong."
    assert all(test.status == "passed" for test in results.tests if test is not lost)
    assert {test.visibility for test in results.tests} == {"visible"}


def test_points_and_mistakes_stand_on_top(rubric: Rubric) -> None:
    """The total, and of each milestone points, notes and the name of the mistake."""
    scored = card(rubric, lost="Wrong.", misconceptions=(POST_NORM,))
    text = output(graded_results(scored, rubric, Circumstances()))
    assert text.startswith("**Score: 9.75 of 100**")
    assert "### Milestone 3 - the pre-norm EncoderBlock: 3.25 / 45" in text
    assert "> A note." in text
    assert "**Post-norm.** The sum is normalised." in text


@pytest.mark.parametrize("visibility", ["hidden", "after_due_date", "after_published"])
@pytest.mark.parametrize("where", ["one", "all"])
def test_what_is_hidden_does_not_stand_on_top(
    rubric: Rubric, visibility: Visibility, where: Literal["one", "all"]
) -> None:
    """Neither total nor progress, nor points and mistakes of the milestone; its test tells them."""
    changed = hiding(rubric, visibility, where)
    scored = card(rubric, lost="Wrong.", misconceptions=(POST_NORM,))
    results = graded_results(scored, changed, before({"score": 1.0}))
    text = output(results)
    assert "Score" not in text
    assert "Since" not in text
    assert "Post-norm" not in text
    assert "### Milestone 3 - the pre-norm EncoderBlock\n" in text
    assert ("30" in text) == (where == "one")
    assert results.tests is not None
    lost = next(test for test in results.tests if test.number == "3.1")
    assert lost.visibility == visibility
    assert lost.output is not None
    assert "**Post-norm.**" in lost.output


@pytest.mark.parametrize(
    ("settings", "lost", "told_by"),
    [
        (("visible", "hidden"), (0, 1), "3.2"),
        (("after_due_date", "after_published"), (0, 1), "3.2"),
        (("after_published", "after_due_date"), (0, 1), "3.1"),
        (("after_published", "hidden"), (0, 1), "3.2"),
        (("hidden", "hidden"), (1,), "3.2"),
        (("visible", "hidden"), (0,), "3.3"),
        (("visible", "hidden"), (), "3.3"),
        (("visible", "visible"), (0, 1), None),
    ],
)
def test_a_mistake_is_told_by_the_test_that_is_shown_last(
    rubric: Rubric, settings: tuple[Visibility, ...], lost: tuple[int, ...], told_by: str | None
) -> None:
    """What a hidden test found does not stand under one that is visible."""
    scored = card(rubric, misconceptions=(POST_NORM,))
    *others, milestone = rubric.milestones
    pairs = zip(milestone.criteria, settings, strict=False)
    criteria = tuple(c.model_copy(update={"visibility": setting}) for c, setting in pairs)
    milestone = milestone.model_copy(update={"criteria": criteria})
    scores = tuple(criterion(c.id, "Wrong." * (n in lost)) for n, c in enumerate(criteria))
    last = scored.milestones[-1].model_copy(update={"criteria": scores})
    results = graded_results(
        scored.model_copy(update={"milestones": (*scored.milestones[:-1], last)}),
        rubric.model_copy(update={"milestones": (*others, milestone)}),
        Circumstances(),
    )
    tests = [test for test in results.tests or () if test.output and "Post-norm" in test.output]
    assert [test.number for test in tests] == ([told_by] if told_by else [])
    assert ("Post-norm" in output(results)) == (told_by is None)
    for test in tests:
        assert test.visibility == min(settings, key=LEAST_VISIBLE_FIRST.index)
        assert (test.score is None) == (test.number == "3.3")


@pytest.mark.parametrize("visibility", ["visible", "hidden", "after_due_date"])
def test_a_hidden_criterion_does_not_tell_that_a_file_is_missing(
    rubric: Rubric, visibility: Visibility
) -> None:
    """The files are listed where a criterion says so that students may see."""
    changed = hiding(rubric, visibility, "one")
    scored = card(rubric, lost="Nothing there.")
    *others, last = scored.milestones
    missing = last.criteria[0].model_copy(update={"verdict": Verdict.MISSING})
    last = last.model_copy(update={"criteria": (missing, *last.criteria[1:])})
    scored = scored.model_copy(update={"milestones": (*others, last)})
    text = output(graded_results(scored, changed, Circumstances(files=("a.py",))))
    assert ("You handed in" in text) == (visibility == "visible")


def test_hidden_tests_are_warned_of(rubric: Rubric) -> None:
    """Nothing is said where all is visible; otherwise how many, and which."""
    assert visibility_warning(rubric) == ""
    one = visibility_warning(hiding(rubric, "after_due_date", "one"))
    assert "hides the total" in one
    assert "1 criteria are not always visible: encoder-block/prediction" in one
    assert "28 criteria" in visibility_warning(hiding(rubric, "hidden", "all"))


@pytest.mark.parametrize(
    ("previous", "told"),
    [
        ([], None),
        ([{"score": 4.0}], "+5.75"),
        ([{"score": 9.75}], "±0"),
        ([{"score": 12.0}], "-2.25"),
        ([{"score": 4.0, "autograder_error": True}], None),
        ([{"score": None}], None),
        ([{"score": 4.0, "results": {"extra_data": {"earned": 9.0}}}], "+0.75"),
        ([{"score": 4.0, "results": {"extra_data": {"earned": "9"}}}], "+5.75"),
        ([{"score": 4.0, "results": {"extra_data": []}}], "+5.75"),
        ([{"score": 4.0, "results": {"extra_data": {"earned": float("nan")}}}], "+5.75"),
        ([{"score": 4.0, "results": {"extra_data": {"earned": float("-inf")}}}], "+5.75"),
        ([{"score": 4.0, "results": {"extra_data": {"earned": 10**400}}}], "+5.75"),
        ([{"score": 4.0, "results": {"extra_data": {"earned": True}}}], "+5.75"),
        (
            [
                {"score": 8.0, "submission_time": "2026-10-02T00:00:00Z"},
                {"score": 1.0, "submission_time": "2026-10-01T00:00:00Z"},
            ],
            "+1.75",
        ),
    ],
)
def test_progress_since_the_last_submission(
    rubric: Rubric, previous: list[dict[str, Any]], told: str | None
) -> None:
    """Against what the work of the latest one earned that did not fail."""
    text = output(graded_results(card(rubric), rubric, before(*previous)))
    found = re.search(r"Since your last submission: (\S+)", text)
    assert (found.group(1) if found else None) == told


def test_a_group_is_named(rubric: Rubric) -> None:
    """Everybody in it, with or without a name; one student alone is not."""
    users = [{"name": "Ann"}, {"email": "bo@x.edu"}, {}]
    for count, told in ((3, "Handed in for Ann, bo@x.edu and somebody."), (1, None)):
        metadata = Metadata.model_validate({"users": users[:count]})
        text = output(graded_results(card(rubric), rubric, Circumstances(metadata=metadata)))
        assert ("Handed in for" in text) == (told is not None)
        assert told is None or told in text


def test_no_text_of_others_becomes_markup(rubric: Rubric) -> None:
    """Messages, notes, names of people and of files are shown as they are."""
    scored = card(rubric, lost=EVIL).model_copy(update={"notes": (EVIL,)})
    scored = scored.model_copy(update={"status": "no-submission"})
    people = Metadata.model_validate({"users": [{"name": EVIL}, {"name": EVIL}]})
    results = graded_results(scored, rubric, Circumstances(people, (EVIL,)))
    refused = refused_results(EVIL, (EVIL,))
    outputs = [t.output for t in (*(results.tests or ()), *(refused.tests or ())) if t.output]
    for text in (output(results), output(refused), *outputs, failed_run((EVIL,)).output):
        page = MARKDOWN.render(text.replace("**Score: 9.75 of 100**", ""))
        assert not re.search(r"<(script|a|code|strong|table)\b", page), page


def test_what_cannot_be_graded_has_no_score(rubric: Rubric) -> None:
    """Neither does the one test, which is for information; what was found is named."""
    results = refused_results("Two files tie.", ("a.py", "b.py"))
    assert results.score is None
    (test,) = results.tests or ()
    assert (test.score, test.max_score, test.status) == (None, None, "failed")
    assert "Two files tie." in output(results)
    assert "You handed in: a.py, b.py" in output(results)


@pytest.mark.parametrize(
    ("files", "told"),
    [(None, None), ((), "Nothing was found"), (("a.py",), "You handed in: a.py")],
)
def test_what_is_not_known_is_not_told(
    rubric: Rubric, files: tuple[str, ...] | None, told: str | None
) -> None:
    """No list of files is another thing than an empty one."""
    scored = card(rubric).model_copy(update={"status": "no-submission"})
    graded = output(graded_results(scored, rubric, Circumstances(files=files)))
    for text in (graded, output(refused_results("Odd.", files)), failed_run(files).output):
        assert ("Nothing was found" in text or "You handed in" in text) == bool(told)
        assert not told or told in text.replace("\\", "")


def test_many_files_are_not_all_named() -> None:
    """Twenty are enough to see what happened."""
    text = failed_run(tuple(f"f{number}.py" for number in range(30))).output
    assert "f19.py and 10 more" in text


def test_a_leaderboard_only_where_the_rubric_asks(rubric: Rubric) -> None:
    """Its columns are the score or milestones, in the rubric's order."""
    assert b"leaderboard" not in results_json(graded_results(card(rubric), rubric, Circumstances()))
    settings = GradescopeSettings(leaderboard=("ffn", "score"))
    asking = rubric.model_copy(update={"gradescope": settings})
    columns = graded_results(card(rubric), asking, Circumstances()).leaderboard or ()
    assert [(column.name, column.value, column.order) for column in columns] == [
        ("Milestone 2 - FFN with GELU", 3.25, "desc"),
        ("Score", 9.75, "desc"),
    ]
