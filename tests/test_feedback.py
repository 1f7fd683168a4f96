"""The feedback page: everything a student reads, and no markup of anybody's making."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.model import (
    CriterionScore,
    MilestoneScore,
    Misconception,
    Scorecard,
    Status,
    TestCount,
    Verdict,
)
from grader.report.feedback import escape, feedback_markdown, points, shared_lines
from grader.rubric import Rubric

# What GitHub, Moodle and others understand: HTML, tables and strikethrough besides.
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def criterion(
    number: int, verdict: Verdict = Verdict.PASSED, message: str = "", title: str = ""
) -> CriterionScore:
    return CriterionScore(
        id=f"c{number}",
        title=title or f"Criterion {number}",
        score=2.0 if verdict is Verdict.PASSED else 0.5,
        max_score=2.0,
        verdict=verdict,
        tests=TestCount(passed=1, total=1),
        message=message,
    )


def card(
    *criteria: CriterionScore,
    status: Status = "graded",
    notes: tuple[str, ...] = (),
    milestone_notes: tuple[str, ...] = (),
    misconceptions: tuple[Misconception, ...] = (),
) -> Scorecard:
    milestone = MilestoneScore(
        id="one",
        title="One",
        score=2.5,
        max_score=4.0,
        criteria=criteria,
        misconceptions=misconceptions,
        notes=milestone_notes,
    )
    return Scorecard(
        student="ann",
        status=status,
        score=None if status == "needs-attention" else 2.5,
        max_score=4.0,
        milestones=(milestone,),
        notes=notes,
        problem="Ours." if status == "needs-attention" else "",
    )


def misconception(title: str = "Title", message: str = "Message.") -> Misconception:
    return Misconception(id="an-id", title=title, message=message)


def seen(markdown: str) -> str:
    """The text that a reader sees, without any markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", MARKDOWN.render(markdown)))


def tags(markdown: str) -> set[str]:
    """Names of all elements on the rendered page."""
    return set(re.findall(r"<(\w+)", MARKDOWN.render(markdown)))


def test_the_page_shows_score_milestones_and_criteria(rubric: Rubric) -> None:
    """Points of all three, a mark for each criterion, and what stands behind a lost one."""
    page = feedback_markdown(
        card(criterion(1), criterion(2, Verdict.TIMEOUT, "It never ends.")), rubric
    )
    text = seen(page)
    assert rubric.title in text
    assert "Score: 2.5 of 4" in text
    assert "2.5 / 4" in text
    assert "✓ Criterion 1 (2 / 2)" in text
    assert "✗ Criterion 2 (0.5 / 2): did not finish in time" in text
    assert "It never ends." in text


def test_a_passed_criterion_says_no_more(rubric: Rubric) -> None:
    """The words for verdicts are for lost points."""
    assert "right" not in seen(feedback_markdown(card(criterion(1)), rubric))


@pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.PASSED])
def test_every_verdict_has_words(rubric: Rubric, verdict: Verdict) -> None:
    """A student reads a sentence, not an identifier."""
    line = next(
        line
        for line in seen(feedback_markdown(card(criterion(1, verdict)), rubric)).splitlines()
        if line.startswith("✗")
    )
    assert line.startswith("✗ Criterion 1 (0.5 / 2): ")
    assert len(line) > len("✗ Criterion 1 (0.5 / 2): ")


def test_what_needs_attention_has_no_number(rubric: Rubric) -> None:
    """Neither a score nor our fault is told; the student learns that nothing is lost."""
    page = feedback_markdown(card(criterion(1), status="needs-attention"), rubric)
    assert "could not be graded yet" in page
    assert "Score" not in page
    assert "Ours." not in page


def test_no_submission_says_so(rubric: Rubric) -> None:
    """The page of an empty folder is not a list of missing things."""
    page = feedback_markdown(card(criterion(1), status="no-submission"), rubric)
    assert "No Python file was found" in page
    assert "Criterion" not in page


def test_a_message_of_several_criteria_is_said_once(rubric: Rubric) -> None:
    """What explains more than one lost criterion stands above them all."""
    said = [criterion(n, Verdict.FAILED, "The file is missing.\nMore.") for n in range(3)]
    found = card(*said, criterion(4, Verdict.FAILED, "Another reason."))
    text = seen(feedback_markdown(found, rubric))
    assert text.count("The file is missing.") == 1
    assert text.count("More.") == 3
    assert text.count("Another reason.") == 1
    assert text.index("The file is missing.") < text.index("Criterion 0")


def test_a_message_of_one_criterion_is_not_shared() -> None:
    """It stays below its criterion, and an empty message is none."""
    found = card(criterion(1, Verdict.FAILED, "Only here."), criterion(2, Verdict.FAILED))
    assert shared_lines(found.milestones[0]) == ()


def test_a_message_of_two_criteria_stays_with_each() -> None:
    """Only what explains most of a milestone is worth a line of its own."""
    said = [criterion(n, Verdict.FAILED, "The same.") for n in range(2)]
    assert shared_lines(card(*said, criterion(3)).milestones[0]) == ()
    again = [*said, criterion(4, Verdict.FAILED, "The same.")]
    assert shared_lines(card(*again).milestones[0]) == ("The same.",)


def test_notes_are_on_the_page(rubric: Rubric) -> None:
    """Those of the submission and those of a milestone."""
    found = card(criterion(1), notes=("left out",), milestone_notes=("line 3 was skipped",))
    text = seen(feedback_markdown(found, rubric))
    assert "left out" in text
    assert "line 3 was skipped" in text


def test_misconceptions_are_on_the_page(rubric: Rubric) -> None:
    """Title and message of each, once, between the milestone's title and its criteria."""
    named = (misconception("First", "One."), misconception("Second", "Two."))
    found = card(criterion(1, Verdict.FAILED, "It is wrong."), misconceptions=named)
    text = seen(feedback_markdown(found, rubric))
    pieces = ("2.5 / 4", "First. One.", "Second. Two.", "✗ Criterion 1")
    places = [text.index(piece) for piece in pieces]
    assert places == sorted(places)
    assert text.count("First. One.") == text.count("Second. Two.") == 1
    assert "an-id" not in text


def test_misconceptions_are_not_told_before_the_work_is_graded(rubric: Rubric) -> None:
    """What needs attention may be another thing altogether."""
    found = card(criterion(1), status="needs-attention", misconceptions=(misconception(),))
    assert "Message." not in feedback_markdown(found, rubric)


HOSTILE = (
    "<script>alert(1)</script>",
    "[click](http://evil.example)",
    "![x](http://evil.example/x.png)",
    "<http://evil.example>",
    "| cell | cell |",
    "# heading",
    "**bold** _it_ ~~gone~~",
    "`code` ```fence```",
    "~~~ fence",
    "- item",
    "1. item",
    "> quote",
    "---",
    "&lt;b&gt; &copy;",
    "back\\slash",
    "a  two spaces",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_message_is_shown_as_it_is(rubric: Rubric, text: str) -> None:
    """Nothing in a student's message becomes markup: the page has the same elements without it."""
    plain = feedback_markdown(card(criterion(1, Verdict.FAILED, "word")), rubric)
    page = feedback_markdown(card(criterion(1, Verdict.FAILED, text)), rubric)
    assert tags(page) == tags(plain)
    assert text in seen(page)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_note_is_shown_as_it_is(rubric: Rubric, text: str) -> None:
    """File names in notes are of the student's making too."""
    plain = feedback_markdown(card(criterion(1), notes=("word",)), rubric)
    page = feedback_markdown(card(criterion(1), notes=(text,)), rubric)
    assert tags(page) == tags(plain)
    assert text in seen(page)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_misconception_is_shown_as_it_is(rubric: Rubric, text: str) -> None:
    """Title and message may be an instructor's own, who writes no Markdown."""
    plain = feedback_markdown(card(criterion(1), misconceptions=(misconception(),)), rubric)
    named = misconception(text, text)
    page = feedback_markdown(card(criterion(1), misconceptions=(named,)), rubric)
    assert tags(page) == tags(plain)
    assert f"{text}. {text}" in seen(page)


def test_line_ends_and_control_characters_do_not_leave_their_line(rubric: Rubric) -> None:
    """A note with line ends is one line, and no escape reaches a terminal."""
    page = feedback_markdown(card(criterion(1), notes=("a\n\n# b\r\x1b[31mc\u2028d",)), rubric)
    assert "\x1b" not in page
    assert "h1" in tags(page)
    assert MARKDOWN.render(page).count("<h1>") == 1


@given(st.text(max_size=40))
def test_an_escaped_text_is_one_line_without_html(text: str) -> None:
    """For any text: no element, no line end."""
    escaped = escape(text)
    assert len(escaped.splitlines()) <= 1
    assert tags("x " + escaped) <= {"p"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [(12.0, "12"), (2.5, "2.5"), (0.33, "0.33"), (0.0, "0"), (100.0, "100"), (10.1, "10.1")],
)
def test_points_have_no_needless_zeros(value: float, shown: str) -> None:
    """Whole numbers without a point, others as short as they are."""
    assert points(value) == shown
