"""What the terminal shows: never wider than 80 columns, and no control over it."""

from __future__ import annotations

import io

import pytest

from grader.model import (
    CriterionScore,
    Late,
    MilestoneScore,
    Misconception,
    Scorecard,
    Status,
    TestCount,
    Verdict,
)
from grader.report.console import ClassProgress, class_table, console, feedback_text
from grader.rubric import Rubric


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def card(
    rubric: Rubric,
    student: str = "ann",
    status: Status = "graded",
    message: str = "",
    notes: tuple[str, ...] = (),
    misconceptions: tuple[Misconception, ...] = (),
) -> Scorecard:
    """A scorecard of the shipped assignment with one lost criterion in each milestone."""
    criterion = CriterionScore(
        id="c",
        title="A criterion",
        score=0.0,
        max_score=5.0,
        verdict=Verdict.FAILED,
        tests=TestCount(passed=0, total=1),
        message=message,
    )
    milestones = tuple(
        MilestoneScore(
            id=m.id,
            title=m.title,
            score=1.5,
            max_score=30.0,
            criteria=(criterion,),
            misconceptions=misconceptions,
            notes=notes,
        )
        for m in rubric.milestones
    )
    attention = status == "needs-attention"
    return Scorecard(
        student=student,
        status=status,
        score=None if attention else 4.5,
        max_score=100.0,
        milestones=() if attention else milestones,
    )


def shown(what: object, stream: io.StringIO | None = None) -> list[str]:
    """The lines that a stream gets."""
    stream = stream or io.StringIO()
    console(stream).print(what)
    return stream.getvalue().splitlines()


def test_the_table_has_a_line_for_each_student(rubric: Rubric) -> None:
    """Points of the milestones, total and status; below them the most that can be had."""
    lines = shown(class_table([card(rubric), card(rubric, "bob")], rubric))
    assert lines[0].split() == [
        "student", "layernorm", "ffn", "encoder-block", "score", "status"
    ]  # fmt: skip
    assert lines[1].split() == ["ann", "1.5", "1.5", "1.5", "4.5", "graded"]
    assert lines[2].split()[0] == "bob"
    assert lines[-1].split() == ["of", "30", "25", "45", "100"]


def test_what_needs_attention_has_dashes(rubric: Rubric) -> None:
    """No number stands where none is known."""
    lines = shown(class_table([card(rubric, status="needs-attention")], rubric))
    assert lines[1].split() == ["ann", "-", "-", "-", "-", "needs-attention"]


def test_a_long_name_is_cut(rubric: Rubric) -> None:
    """80 columns hold, and the other columns are complete."""
    lines = shown(class_table([card(rubric, "x" * 200)], rubric))
    assert max(map(len, lines)) <= 80
    assert len(lines) == 3
    assert lines[1].split()[1:] == ["1.5", "1.5", "1.5", "4.5", "graded"]


def test_names_are_no_markup(rubric: Rubric) -> None:
    """Square brackets are rich's markup: a name with them is shown as it is."""
    lines = shown(class_table([card(rubric, "[red]ann[/]")], rubric))
    assert lines[1].startswith("[red]ann[/]")


def test_no_escapes_are_sent_to_a_file(rubric: Rubric) -> None:
    """Colour is for terminals."""
    table = class_table([card(rubric, status="needs-attention")], rubric)
    assert "\x1b" not in "".join(shown(table))
    assert "\x1b" in "".join(shown(table, Terminal()))


def test_feedback_shows_points_reasons_and_notes(rubric: Rubric) -> None:
    """Milestone by milestone, and the total at the end."""
    found = card(rubric, message="It is wrong.\nShape (2,).", notes=("line 3 was skipped",))
    lines = shown(feedback_text(found))
    text = "\n".join(lines)
    assert "Milestone 1 - LayerNorm from scratch  1.5 / 30" in lines
    assert "  ✗ A criterion: not right yet" in lines
    assert "      It is wrong." in lines
    assert text.count("note: line 3 was skipped") == 3
    assert lines[-1] == "Score: 4.5 of 100"


def test_long_messages_are_wrapped_with_their_margin(rubric: Rubric) -> None:
    """No line is wider than 80 columns, and no word gets lost."""
    message = " ".join(f"word{n}" for n in range(60))
    lines = shown(feedback_text(card(rubric, message=message)))
    assert max(map(len, lines)) <= 80
    assert all(f"word{n}" in " ".join(lines).split() for n in range(60))
    assert all(line.startswith(" ") for line in lines if "word" in line)


def test_messages_are_no_markup(rubric: Rubric) -> None:
    """What looks like rich's markup is shown as it is."""
    text = "\n".join(shown(feedback_text(card(rubric, message="x [bold]1[/bold] [0]"))))
    assert "x [bold]1[/bold] [0]" in text


def named(title: str, message: str) -> tuple[Misconception, ...]:
    return (Misconception(id="an-id", title=title, message=message),)


def test_feedback_names_misconceptions(rubric: Rubric) -> None:
    """Title and message above the criteria, wrapped with their margin."""
    message = " ".join(f"word{n}" for n in range(30))
    lines = shown(feedback_text(card(rubric, misconceptions=named("Eps missing", message))))
    assert lines[1].startswith("  Eps missing. word0 word1 ")
    assert max(map(len, lines)) <= 80
    above = lines[1 : lines.index("  ✗ A criterion: not right yet")]
    assert " ".join(" ".join(above).split()) == f"Eps missing. {message}"
    assert all(line.startswith("  ") for line in above)


def test_misconceptions_are_no_markup_and_control_nothing(rubric: Rubric) -> None:
    """An instructor's texts are shown as they are, without escapes."""
    found = card(rubric, misconceptions=named("[red]T[/red]", "a\x1b[2Jb \x9b31m [0]"))
    text = "\n".join(shown(feedback_text(found)))
    assert "[red]T[/red]. a" in text
    assert "[0]" in text
    assert "\x1b" not in text
    assert "\x9b" not in text


@pytest.mark.parametrize("text", ["\x1b[2Jgone", "\x1b]0;title\x07", "\x9b31m"])
def test_messages_do_not_control_the_terminal(rubric: Rubric, text: str) -> None:
    """An exception's text is the student's: its escapes are not passed on."""
    lines = "".join(shown(feedback_text(card(rubric, message=text, notes=(text,)))))
    assert "\x1b" not in lines
    assert "\x9b" not in lines


def test_a_stream_of_another_encoding_gets_what_it_can_show(rubric: Rubric) -> None:
    """A terminal without check marks is no reason to stop."""
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii")
    console(stream).print(feedback_text(card(rubric, message="grüße")))
    stream.flush()
    assert b"A criterion" in written.getvalue()


def test_without_a_terminal_progress_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every ten seconds: how many, how fast, how long still."""
    now = 100.0
    monkeypatch.setattr("grader.report.console.time.monotonic", lambda: now)
    stream = io.StringIO()
    with ClassProgress(40, stream) as progress:
        for _ in range(20):
            now += 1.0
            progress.advance()
    assert progress.done == 20
    assert stream.getvalue().splitlines() == [
        "graded 10 of 40, 1.0/s, 30 s left",
        "graded 20 of 40, 1.0/s, 20 s left",
    ]


def test_on_a_terminal_progress_is_a_bar_that_goes() -> None:
    """It shows how many of how many, and writes no plain lines."""
    stream = Terminal()
    with ClassProgress(3, stream) as progress:
        for _ in range(3):
            progress.advance()
    assert "3/3" in stream.getvalue()
    assert "graded" not in stream.getvalue()


TOLD = "Handed in 1 h late: 1 begun day x 10 % of 5 = 0.5 points taken: 4.5."
LATE = Late(
    submitted=None,
    due=None,
    late_due=None,
    extended=False,
    marked_late=False,
    seconds=3600,
    counted=1,
    before=5.0,
    taken=0.5,
    explanation=TOLD,
)


def test_the_table_tells_what_lateness_took(rubric: Rubric) -> None:
    """In a column of its own, so that the sum is right; without late work there is none."""
    late = card(rubric).model_copy(update={"late": LATE})
    others = [card(rubric, "bob"), card(rubric, "cy", "needs-attention")]
    lines = shown(class_table([late, *others], rubric))
    assert lines[0].split()[-3:] == ["late", "score", "status"]
    assert lines[1].split()[-3:] == ["-0.5", "4.5", "graded"]
    assert lines[2].split()[-2:] == ["4.5", "graded"]
    assert lines[4].split()[-1] == "100"
    assert "late" not in shown(class_table(others, rubric))[0]


def test_the_feedback_tells_the_arithmetic(rubric: Rubric) -> None:
    """Before the score, which is the one after it."""
    late = card(rubric).model_copy(update={"late": LATE})
    assert shown(feedback_text(late))[-2:] == [TOLD, "Score: 4.5 of 100"]
