"""`grade diff`: what differs between two graded classes, and how it is shown."""

from __future__ import annotations

import csv
import io

from grader.diff import ClassDiff, diff_classes
from grader.report.console import console
from grader.report.differences import (
    differences_csv,
    differences_json,
    differences_table,
    rubric_sentences,
    summary_sentence,
)
from tests.scorecards import FULL, LESS, NEW, OLD, card


def table(diff: ClassDiff) -> list[str]:
    stream = io.StringIO()
    console(stream).print(differences_table(diff))
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def cells(diff: ClassDiff) -> list[list[str]]:
    return [line.split() for line in table(diff)[1:]]


def test_nothing_differs_between_a_class_and_itself() -> None:
    """No student, no rubric, and that is what is said."""
    diff = diff_classes(OLD, OLD)
    assert not diff
    assert summary_sentence(diff) == "No student's score or status has changed (5 in all)."
    assert differences_json(diff)["changed"] is False


def test_every_change_has_a_line() -> None:
    """Totals, then milestones and criteria whose score differs; others are left out."""
    assert cells(diff_classes(OLD, NEW)) == [
        ["bob", "score", "24.5", "30", "+5.5"],
        ["m", "14.5", "20", "+5.5"],
        ["b", "4.5", "10", "+5.5"],
        ["cleo", "score", "30", "24.5", "-5.5", "dropped"],
        ["m", "20", "14.5", "-5.5", "dropped"],
        ["b", "10", "4.5", "-5.5", "dropped"],
        ["dan", "removed", "30", "-"],
        ["eve", "graded", "->", "needs-attention", "24.5", "-"],
        ["fay", "added", "-", "30"],
    ]


def test_students_are_counted_by_what_happened() -> None:
    """One that dropped counts once."""
    told = summary_sentence(diff_classes(OLD, NEW))
    assert told == "5 of 6 students changed: 1 added, 1 removed, 1 with something that dropped."


def test_a_criterion_that_drops_is_marked_though_the_total_stays() -> None:
    """A loss and a gain of the same size are both shown."""
    even = card({"m": {"a": 10.0, "b": 10.0}, "n": {"c": 4.5}})
    diff = diff_classes({"ann": LESS}, {"ann": even})
    assert cells(diff)[0] == ["ann", "score", "24.5", "24.5", "+0"]
    assert ["c", "10", "4.5", "-5.5", "dropped"] in cells(diff)
    assert diff.students[0].dropped


def test_points_are_compared_as_decimals() -> None:
    """No digits of binary fractions, and no change where there is none."""
    before, after = ({"ann": card({"m": {"a": score}})} for score in (0.3, 0.1))
    assert cells(diff_classes(before, after))[0][-2:] == ["-0.2", "dropped"]


def test_another_rubric_is_said_and_shares_are_compared() -> None:
    """12 of 12 before and 10 of 10 now is no drop; 6 of 12 and 4 of 10 is one."""
    twelve = {"ann": (12.0, 12.0), "bob": (6.0, 12.0)}
    before = {name: card({"m": {"a": had, "gone": 1.0}}) for name, had in twelve.items()}
    ten = {"ann": 10.0, "bob": 4.0}
    after = {name: card({"m": {"a": has}, "new": {"x": 0.0}}) for name, has in ten.items()}
    diff = diff_classes(before, after)
    assert rubric_sentences(diff.rubric) == [
        "The most points differ: score 22 -> 20, m 22 -> 10, m/a 12 -> 10.",
        "Only the new rubric has: new, new/x.",
        "Only the old rubric has: m/gone.",
    ]
    lines = cells(diff)
    assert ["a", "12/12", "10/10", "-2"] in lines
    assert ["a", "6/12", "4/10", "-2", "dropped"] in lines
    assert ["gone", "1", "-"] in lines
    assert ["new", "-", "0"] in lines


def test_a_rubric_that_costs_nobody_points_is_a_change_too() -> None:
    """Its most points differ, nobody's score does."""
    before, after = ({"ann": card({"m": {"a": (0, most)}})} for most in (10.0, 12.0))
    diff = diff_classes(before, after)
    assert diff
    assert not diff.students


def test_one_stale_scorecard_is_not_the_rubric() -> None:
    """Somebody who has left the class keeps a scorecard of an earlier rubric."""
    stale = {"aaa": card({"m": {"a": 1.0}})}
    assert not diff_classes(stale | OLD, stale | OLD).rubric
    assert not diff_classes(stale | OLD, OLD).rubric


def test_parts_in_another_order_are_the_same_rubric() -> None:
    """Four scorecards of one rubric, in two orders, outvote three of another."""
    new = [{"m": {"a": 1.0, "b": 1.0}}, {"m": {"b": 1.0, "a": 1.0}}] * 2
    cards = {
        str(number): card(scores) for number, scores in enumerate([{"m": {"a": 1.0}}] * 3 + new)
    }
    assert not diff_classes(cards, {"0": card(new[0])}).rubric


def test_of_two_rubrics_as_frequent_the_first_student_s_counts() -> None:
    """So that the order of reading does not decide."""
    short, long = card({"m": {"a": 1.0}}), card({"m": {"a": 1.0, "b": 1.0}})
    assert not diff_classes({"bob": long, "ann": short}, {"ann": short}).rubric
    assert diff_classes({"bob": short, "ann": long}, {"ann": short}).rubric.removed == ("m/b",)


class Compared(float):
    """Points that count how often they are compared."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return float(self) == other

    def __hash__(self) -> int:
        return hash(float(self))


def comparisons(students: int) -> int:
    """How often the most points are compared in a class with two rubrics."""
    Compared.times = 0
    cards = {
        str(number): (FULL if number % 2 else card({"m": {"a": 10.0}})).model_copy(
            update={"max_score": Compared(30.0)}
        )
        for number in range(students)
    }
    assert not diff_classes(cards, cards)
    return Compared.times


def test_comparisons_grow_with_the_class_and_not_with_its_square() -> None:
    """Each scorecard is compared with its kind, not with every other: twice as many, not four."""
    assert 0 < comparisons(80) < 3 * comparisons(40)


def test_csv_has_a_line_for_each_change() -> None:
    """Numbers as numbers, empty where none is known."""
    lines = list(csv.DictReader(io.StringIO(differences_csv(diff_classes(OLD, NEW)))))
    assert len(lines) == 9
    cleo = next(line for line in lines if line["student"] == "cleo" and line["criterion"] == "b")
    assert (cleo["old"], cleo["new"], cleo["difference"]) == ("10", "4.5", "-5.5")
    assert (cleo["milestone"], cleo["dropped"], cleo["old_max"]) == ("m", "yes", "10")
    eve = next(line for line in lines if line["student"] == "eve")
    assert (eve["old"], eve["new"], eve["difference"]) == ("24.5", "", "")
    assert (eve["old_status"], eve["new_status"]) == ("graded", "needs-attention")


def test_json_holds_every_change() -> None:
    """Counts, and students with their milestones and criteria."""
    data = differences_json(diff_classes(OLD, NEW))
    assert data["counts"] == {
        "students": 6, "changed": 3, "added": 1, "removed": 1, "dropped": 1
    }  # fmt: skip
    cleo = data["students"][1]
    assert cleo["score"]["difference"] == -5.5
    assert cleo["milestones"][0]["criteria"][0]["score"]["dropped"] is True


HOSTILE = "=cmd()\x1b[2J\x9b31m" + "x" * 90


def test_names_are_text_and_no_more() -> None:
    """80 columns, no control of the terminal, no markup, and no formula in a spreadsheet."""
    old = {HOSTILE: FULL, "[red]b[/]": FULL}
    diff = diff_classes(old, {name: card({"m": {HOSTILE: 1.0}}) for name in old})
    lines = table(diff)
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)
    assert any(line.startswith("[red]b[/]") for line in lines)
    rows = list(csv.DictReader(io.StringIO(differences_csv(diff))))
    assert {row["student"][0] for row in rows} == {"'", "["}
    assert not any("\x1b" in cell or "\x9b" in cell for row in rows for cell in row.values())


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_what_dropped_has_colour_on_a_terminal_only() -> None:
    """And the word in both."""
    stream = Terminal()
    console(stream).print(differences_table(diff_classes({"ann": FULL}, {"ann": LESS})))
    assert "\x1b[31m" in stream.getvalue()
    assert "dropped" in stream.getvalue()
