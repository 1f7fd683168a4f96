"""`grade diff`: what differs between two graded classes, and how it is shown."""

from __future__ import annotations

import csv
import io
import json
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from grader.commands.diff import diff as diff_command
from grader.diff import ClassDiff, diff_classes
from grader.errors import ResultsError
from grader.model import (
    CriterionScore,
    MilestoneScore,
    Scorecard,
    Status,
    TestCount,
    Verdict,
)
from grader.report.console import console
from grader.report.differences import (
    differences_csv,
    differences_json,
    differences_table,
    rubric_sentences,
    summary_sentence,
)
from grader.results import Results
from tests.support import grade

# Scores by milestone and criterion; each with the most that can be had where that is not 10.
Scores = Mapping[str, Mapping[str, float | tuple[float, float]]]


def card(scores: Scores, status: Status = "graded") -> Scorecard:
    """A scorecard with these criteria."""
    milestones = tuple(milestone(name, criteria) for name, criteria in scores.items())
    return Scorecard(
        student="ann",
        status=status,
        score=None if status == "needs-attention" else sum(m.score for m in milestones),
        max_score=sum(m.max_score for m in milestones),
        milestones=milestones,
    )


def milestone(name: str, criteria: Mapping[str, float | tuple[float, float]]) -> MilestoneScore:
    pairs = {c: (s if isinstance(s, tuple) else (s, 10.0)) for c, s in criteria.items()}
    scored = tuple(
        CriterionScore(
            id=criterion,
            title="A criterion",
            score=score,
            max_score=most,
            verdict=Verdict.PASSED,
            tests=TestCount(passed=1, total=1),
            message="",
        )
        for criterion, (score, most) in pairs.items()
    )
    return MilestoneScore(
        id=name,
        title=name,
        score=sum(c.score for c in scored),
        max_score=sum(c.max_score for c in scored),
        criteria=scored,
    )


FULL = card({"m": {"a": 10.0, "b": 10.0}, "n": {"c": 10.0}})
LESS = card({"m": {"a": 10.0, "b": 4.5}, "n": {"c": 10.0}})
MIXED = card({"m": {"a": 9.0, "b": 5.5}, "n": {"c": 10.0}})
ATTENTION = card({"m": {"a": 0.0, "b": 0.0}, "n": {"c": 0.0}}, "needs-attention")
OLD = {"ann": FULL, "bob": LESS, "cleo": FULL, "dan": FULL, "eve": LESS}
NEW = {"ann": FULL, "bob": FULL, "cleo": LESS, "eve": ATTENTION, "fay": FULL}


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


def write(folder: Path, cards: Mapping[str, Scorecard]) -> Path:
    """A results folder with these scorecards."""
    for student, saved in cards.items():
        named = saved.model_copy(update={"student": student})
        Results(folder).save_scorecard(named, "# Feedback\n")
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two results folders."""
    return write(tmp_path / "old", OLD), write(tmp_path / "new", NEW)


def test_the_command_tells_by_its_status_whether_something_differs(
    folders: tuple[Path, Path],
) -> None:
    """1 with the table, 0 with a sentence."""
    old, new = folders
    changed, same = grade("diff", old, new), grade("diff", old, old)
    assert (changed.returncode, same.returncode) == (1, 0)
    assert "5 of 6 students changed" in changed.stdout
    assert "cleo" in changed.stdout
    assert "\x1b" not in changed.stdout
    assert same.stdout == "No student's score or status has changed (5 in all).\n"
    assert changed.stderr == same.stderr == ""


def test_two_scorecards_are_in_memory_and_each_is_read_once(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The two of one student, however large the classes are."""
    read: list[weakref.ref[Scorecard]] = []
    alive = []
    really_read = Results._read_scorecard

    def watched(results: Results, student: str) -> Scorecard:
        card = really_read(results, student)
        read.append(weakref.ref(card))
        alive.append(sum(reference() is not None for reference in read))
        return card

    monkeypatch.setattr(Results, "_read_scorecard", watched)
    assert diff_command(*folders) == 1
    assert "5 of 6 students changed" in capsys.readouterr().out
    assert len(read) == len(OLD) + len(NEW)
    assert max(alive) == 2


def test_the_command_prints_json_or_csv(folders: tuple[Path, Path]) -> None:
    """Nothing else on stdout, and the same statuses; both at once are refused."""
    as_json, as_csv = (grade("diff", *folders, option) for option in ("--json", "--csv"))
    data: Any = json.loads(as_json.stdout)
    assert (data["old"], data["new"]) == tuple(map(str, folders))
    assert (as_json.returncode, as_csv.returncode) == (1, 1)
    assert len(list(csv.DictReader(io.StringIO(as_csv.stdout)))) == 9
    both = grade("diff", *folders, "--json", "--csv")
    assert (both.returncode, both.stdout) == (2, "")
    assert "--csv" in both.stderr


BROKEN = {
    "empty": (b"", "Invalid JSON"),
    "half": (b'{"format": 1, "student": "ann"', "Invalid JSON"),
    "other": (b"[]", "an object"),
    "another-format": (b'{"format": 2}', "format"),
    "not-utf8": (b"\xff\xfe{}", "Invalid JSON"),
    "nan": (FULL.model_dump_json().replace('"score":30.0', '"score":NaN').encode(), "score"),
    "extra": (FULL.model_dump_json().replace('"score":30.0', '"score":30.0,"x":1').encode(), "x"),
}


def test_broken_scorecards_are_all_named(tmp_path: Path) -> None:
    """Status 2, each with its reason; nothing is compared by half."""
    old, new = write(tmp_path / "old", OLD), write(tmp_path / "new", OLD)
    for name, (content, _) in BROKEN.items():
        path = new / "students" / name / "score.json"
        path.parent.mkdir()
        path.write_bytes(content)
    (new / "students" / "missing").mkdir()
    done = grade("diff", old, new)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    told = {line.split("/")[0].strip(): line for line in done.stderr.splitlines()}
    for name, (_, reason) in BROKEN.items():
        assert reason in told[name]
    assert "missing/score.json: No such file" in told["missing"]
    assert "Grade into that folder again" in done.stderr


@pytest.mark.parametrize(
    ("broken", "told"), [(["old"], "old"), (["new"], "new"), (["old", "new"], "old")]
)
def test_a_broken_scorecard_of_either_folder_is_told(
    tmp_path: Path, broken: list[str], told: str
) -> None:
    """With the folder that it lies in, the old one first; nobody is called added or removed."""
    folders = [write(tmp_path / name, OLD) for name in ("old", "new")]
    for name in broken:
        (tmp_path / name / "students" / "bob" / "score.json").write_bytes(b"")
    with pytest.raises(ResultsError, match=r"bob/score\.json") as raised:
        diff_command(*folders)
    assert f"{tmp_path / told}/students holds" in str(raised.value)


def test_many_broken_scorecards_are_counted(tmp_path: Path) -> None:
    """Ten are listed."""
    old = write(tmp_path / "old", OLD)
    for number in range(15):
        (old / "students" / f"s{number}").mkdir()
    done = grade("diff", old, old)
    assert done.stderr.count("/score.json") == 10
    assert "and 5 more" in done.stderr


@pytest.mark.parametrize("kind", ["absent", "file", "folder"])
def test_what_is_no_results_folder_is_wrong_usage(tmp_path: Path, kind: str) -> None:
    """A missing folder, a file, and a folder of something else."""
    other = tmp_path / kind
    if kind == "file":
        other.touch()
    elif kind == "folder":
        (other / "ann").mkdir(parents=True)
    done = grade("diff", write(tmp_path / "old", OLD), other)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{other} is no results folder" in done.stderr


def test_files_beside_the_students_are_nobody(tmp_path: Path) -> None:
    """A file that a file manager has left is no student."""
    old = write(tmp_path / "old", OLD)
    (old / "students" / ".DS_Store").touch()
    assert set(Results(old).scorecards()) == OLD.keys()
