"""The gradebook: a CSV that no spreadsheet misreads."""

from __future__ import annotations

import csv
import io
import unicodedata
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from grader.model import (
    Late,
    MilestoneScore,
    Misconception,
    Person,
    Scorecard,
    Status,
    Submission,
)
from grader.report.cells import spreadsheet_safe
from grader.report.gradebook import gradebook_csv
from grader.rubric import Rubric

# After normalisation; the mark that stands for a minus stays one.
SIGNS = ("=", "+", "-", "@", "\u2212")


def submission(name: str = "ann", origin: str = "class/ann") -> Submission:
    return Submission(student="ann", name=name, origin=origin, files=())


def card(rubric: Rubric, status: Status = "graded", problem: str = "") -> Scorecard:
    """A scorecard of the shipped assignment, with points in its first milestone only."""
    scores = (12.5, 0.0, 0.0)
    return Scorecard(
        student="ann",
        status=status,
        score=None if status == "needs-attention" else 12.5,
        max_score=100.0,
        milestones=tuple(
            MilestoneScore(
                id=m.id, title=m.title, score=s, max_score=float(m.points), criteria=(), notes=()
            )
            for m, s in zip(rubric.milestones, scores, strict=True)
        ),
        notes=("a note",),
        problem=problem,
    )


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def only_row(rubric: Rubric, who: Submission, scored: Scorecard) -> dict[str, str]:
    (row,) = rows(gradebook_csv([(who, scored)], rubric))
    return row


def test_the_columns_are_those_of_the_design(rubric: Rubric) -> None:
    """In this order, whoever reads them by position."""
    header = gradebook_csv([], rubric)
    assert header == (
        "student,name,email,status,score,max_score,layernorm,ffn,encoder-block,late,"
        "misconceptions,submission,notes\n"
    )


def test_a_graded_submission_has_its_points(rubric: Rubric) -> None:
    """Total and milestones without needless zeros, and the notes."""
    row = only_row(rubric, submission(), card(rubric))
    assert (row["score"], row["max_score"]) == ("12.5", "100")
    assert (row["layernorm"], row["ffn"], row["encoder-block"]) == ("12.5", "0", "0")
    assert (row["status"], row["submission"], row["notes"]) == ("graded", "class/ann", "a note")


def test_a_submission_that_needs_attention_has_no_points(rubric: Rubric) -> None:
    """Neither a total nor those of a milestone; the reason stands in the notes."""
    row = only_row(rubric, submission(), card(rubric, "needs-attention", "Two files."))
    assert (row["score"], row["layernorm"], row["ffn"], row["encoder-block"]) == ("", "", "", "")
    assert row["notes"].startswith("Two files.")


def named(rubric: Rubric, *found: tuple[list[str], str]) -> Scorecard:
    """A scorecard with the ids of misconceptions and the group of each milestone."""
    plain = card(rubric)
    milestones = [
        milestone.model_copy(
            update={
                "misconceptions": tuple(Misconception(id=i, title="T", message="M") for i in ids),
                "group": group,
            }
        )
        for milestone, (ids, group) in zip(plain.milestones, found, strict=True)
    ]
    return plain.model_copy(update={"milestones": tuple(milestones)})


@pytest.mark.parametrize(
    ("found", "cell"),
    [
        ([([], ""), ([], ""), ([], "")], ""),
        ([(["eps-missing", "no-grad"], ""), (["a/b"], ""), ([], "")],
         "layernorm:eps-missing layernorm:no-grad ffn:a/b"),
        ([([], ""), ([], "0123456789ab"), (["post-norm"], "")],
         "ffn:0123456789ab encoder-block:post-norm"),
        ([(["0123456789ab"], "0123456789ab"), ([], ""), ([], "")], "layernorm:0123456789ab"),
    ],
    ids=["nothing", "names", "unexplained-group", "named-group"],
)  # fmt: skip
def test_misconceptions_stand_with_their_milestones(
    rubric: Rubric, found: list[tuple[list[str], str]], cell: str
) -> None:
    """Ids separated by spaces, alternatives as one; a group by its fingerprint, once."""
    assert only_row(rubric, submission(), named(rubric, *found))["misconceptions"] == cell


@pytest.mark.parametrize("start", [*"=+-@\uff1d\uff0b\uff0d\uff20\u2212", '"='])
def test_what_a_spreadsheet_would_compute_is_text(rubric: Rubric, start: str) -> None:
    """A cell of a student's making begins with an apostrophe then."""
    row = only_row(rubric, submission(name=f"{start}cmd|' /C calc'!A0"), card(rubric))
    assert row["name"] == f"'{start}cmd|' /C calc'!A0"


HARMLESS = [
    "-5", "+3.5", "-0.25", "12", "", "ann", "a=b", "1-2", "O'Neil-Smith", "José", "王伟",
    "'t Hooft", "Mary O'Neil, PhD", "a+b@x.edu", "../class/a-b; /tmp/x", "1 day 3 h (-2.5)",
]  # fmt: skip


@pytest.mark.parametrize("cell", HARMLESS)
def test_numbers_and_words_stay_as_they_are(cell: str) -> None:
    """A negative number is no formula, nor is a sign inside a word, a name or a path."""
    assert spreadsheet_safe(cell) == cell


@pytest.mark.parametrize("cell", ["-5+2", "-A1", "+1 ", "-", "=5", "--1"])
def test_what_only_resembles_a_number_is_text(cell: str) -> None:
    """A sum is a formula, even one of numbers."""
    assert spreadsheet_safe(cell) == "'" + cell


def test_commas_and_quotes_stay_in_their_cell(rubric: Rubric) -> None:
    """The file has as many lines as students, whatever their names hold."""
    row = only_row(rubric, submission(name='O"Neil, Mary\nsecond line'), card(rubric))
    assert row["name"] == 'O"Neil, Mary second line'
    assert row["submission"] == "class/ann"


FORMULAS = [
    "=1+1",
    "\uff1d1+1",
    "+1+1",
    "\uff0d1-1",
    "@SUM(A1)",
    " =1+1",
    '"=1+1"',
    '""=1+1',
    "\u2212A1",
    "=-5",
]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("before", ["", ";", ",", "\t", "\r\n", "x;", 'x";', "a, b;", "\u202e"])
def test_no_cell_is_a_formula_whichever_the_separator(
    rubric: Rubric, before: str, formula: str, separator: str
) -> None:
    """A spreadsheet may split at other characters than those between our cells."""
    hostile = replace(submission(f"{before}{formula};x", f"{before}{formula}"), people=())
    text = gradebook_csv([(hostile, card(rubric))], rubric)
    assert len(text.splitlines()) == 2
    for cells in csv.reader(io.StringIO(text), delimiter=separator):
        for cell in cells:
            assert not unicodedata.normalize("NFKC", cell.strip(' "')).startswith(SIGNS), cell


@pytest.mark.parametrize("character", ["\x1b", "\u202e", "\u2066", "\x00", "\u200b"])
def test_no_cell_controls_how_it_is_shown(character: str) -> None:
    """Escapes, and marks that turn the direction of writing, are seen instead of obeyed."""
    assert spreadsheet_safe(f"a{character}b") == "a\N{REPLACEMENT CHARACTER}b"


def late(submitted: datetime | None, seconds: int, taken: float, marked: bool = False) -> Late:
    return Late(
        submitted=submitted,
        due=None,
        late_due=None,
        extended=False,
        marked_late=marked,
        seconds=seconds,
        counted=0,
        before=12.5,
        taken=taken,
        explanation="",
    )


NOW = datetime(2026, 10, 4, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("found", "cell", "notes"),
    [
        (None, "", "a note"),
        (late(NOW, 0, 0.0), "", "a note"),
        (late(NOW, 97_200, 2.5), "1 day 3 h (-2.5)", "a note"),
        (late(NOW, 60, 0.0), "1 min", "a note"),
        (late(None, 0, 0.0), "unknown", "a note"),
        (late(None, 0, 0.0, marked=True), "late, time unknown",
         "a note Marked late by the platform, which does not say when it was handed in: nothing "
         "was taken."),
    ],
    ids=["nothing", "in-time", "late", "grace", "unknown", "marked"],
)  # fmt: skip
def test_lateness_has_a_column(rubric: Rubric, found: Late | None, cell: str, notes: str) -> None:
    """How late and what it took; a mark without a time is noted for the instructor."""
    row = only_row(rubric, submission(), card(rubric).model_copy(update={"late": found}))
    assert (row["late"], row["notes"]) == (cell, notes)


def test_a_submission_without_a_score_is_not_called_late(rubric: Rubric) -> None:
    """Nothing was handed in, or somebody has to look first."""
    scored = card(rubric, "no-submission").model_copy(update={"late": late(None, 0, 0.0)})
    assert only_row(rubric, submission(), scored)["late"] == ""


def test_each_of_a_group_has_a_line(rubric: Rubric) -> None:
    """With the same score, an own e-mail, and the others in the notes."""
    people = (
        Person(student="ann", name="Ann", email="ann@x.edu"),
        Person(student="bo", name="Bo"),
    )
    group = replace(submission(), people=people)
    found = rows(gradebook_csv([(group, card(rubric))], rubric))
    assert [(row["student"], row["name"], row["email"], row["score"]) for row in found] == [
        ("ann", "Ann", "ann@x.edu", "12.5"),
        ("bo", "Bo", "", "12.5"),
    ]
    assert found[1]["notes"] == "a note Handed in together with Ann; see ann."
