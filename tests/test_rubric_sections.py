"""What a rubric may say besides: misconceptions, groups, late work, Gradescope."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import RubricError
from grader.misconceptions import known_texts
from tests.small_rubrics import VALID, folder_for_valid, only_problem, parse, problems


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that VALID fits to."""
    return folder_for_valid(tmp_path)


def with_shares(text: str) -> tuple[str, str]:
    """A replacement that gives the first criterion a map of misconceptions, on line 16."""
    return "award: all", f"award: all\n        misconceptions: {text}"


def test_a_criterion_keeps_shares_for_misconceptions(folder: Path) -> None:
    """From nothing to everything, as the decimals that were written."""
    shares = "{eps-missing: 0, root-missing: 0.35, post-norm: 1}"
    first, second = parse(folder, VALID.replace(*with_shares(shares))).milestones[0].criteria
    assert {name: str(share) for name, share in first.misconceptions.items()} == {
        "eps-missing": "0",
        "root-missing": "0.35",
        "post-norm": "1",
    }
    assert second.misconceptions == {}


def test_a_misconception_that_there_is_not_comes_with_the_nearest(folder: Path) -> None:
    """A mistyped id would leave nobody any points."""
    assert only_problem(folder, with_shares("{eps-missing: 1, root-mising: 0.5}")) == (
        "line 16, column 42: milestones[0].criteria[0].misconceptions.root-mising: no such "
        "misconception; perhaps you meant 'root-missing'"
    )


@pytest.mark.parametrize("share", ["1.5", "-0.1", ".nan", "true", "half", "~"])
def test_a_share_is_a_number_from_0_to_1(folder: Path, share: str) -> None:
    """Whatever else it is comes with its place."""
    place = "line 16, column 26: milestones[0].criteria[0].misconceptions.eps-missing: "
    assert only_problem(folder, with_shares(f"{{eps-missing: {share}}}")).startswith(place)


def test_another_file_has_texts_in_place_of_the_grader_s_own(folder: Path) -> None:
    """Those that it holds; the others stay, and so do the grader's for the next rubric."""
    (folder / "de.yaml").write_text("eps-missing: {title: Kein Epsilon, message: Siehe Folie 5.}")
    text = parse(folder, VALID + "messages: de.yaml\n").texts
    own = known_texts()
    assert (text["eps-missing"].title, text["eps-missing"].message) == (
        "Kein Epsilon",
        "Siehe Folie 5.",
    )
    assert {name for name in own if text[name] != own[name]} == {"eps-missing"}
    assert parse(folder, VALID).texts == own


def test_a_fault_in_the_file_of_texts_is_a_fault_of_that_file(folder: Path) -> None:
    """The message names it, and not the rubric, where nothing is wrong."""
    (folder / "de.yaml").write_text("eps-mising: {title: T, message: M}")
    with pytest.raises(RubricError, match="no such misconception: eps-mising") as caught:
        parse(folder, VALID + "messages: de.yaml\n")
    assert str(caught.value).startswith(f"{folder / 'de.yaml'}: 1 problem")


@pytest.mark.parametrize("name", ["0123456789ab", "123456789012"], ids=["hexadecimal", "decimal"])
def test_a_group_of_wrong_answers_gets_a_name(folder: Path, name: str) -> None:
    """Twelve digits without a letter are no number either."""
    groups = parse(folder, VALID + f"groups: {{{name}: {{title: Ours, message: See it.}}}}").groups
    assert [(key, text.title, text.message) for key, text in groups.items()] == [
        (name, "Ours", "See it.")
    ]


@pytest.mark.parametrize(
    "name", ["0123456789a", "0123456789abc", "0123456789AB", "0123456789ag", "eps-missing", "''"]
)
def test_a_group_has_a_fingerprint(folder: Path, name: str) -> None:
    """A name that no answer can have is a fault of the file, with its line."""
    problem = only_problem(
        folder, ("suites: suites", f"suites: suites\ngroups: {{{name}: {{title: T, message: M}}}}")
    )
    assert problem.startswith("line 5, ")
    assert "groups." in problem


LATE = """\
late:
  due: 2026-10-03T23:59:00+02:00
  late_due: 2026-10-10 23:59 +02:00
  grace: 15 minutes
  penalty: {percent: 12.5, per: day, cap: 50}
  zone: Europe/Zurich
attempts: best
"""


def test_a_late_section_gives_what_it_says(folder: Path) -> None:
    """Times with their zones, spans with their units, exact decimals."""
    rubric = parse(folder, VALID + LATE)
    assert rubric.late is not None
    assert rubric.late.penalty is not None
    assert str(rubric.late.due) == "2026-10-03 23:59:00+02:00"
    assert str(rubric.late.late_due) == "2026-10-10 23:59:00+02:00"
    assert str(rubric.late.grace) == "0:15:00"
    assert (str(rubric.late.penalty.percent), rubric.late.penalty.per) == ("12.5", "day")
    assert rubric.attempts == "best"
    assert parse(folder, VALID).late is None
    assert parse(folder, VALID).attempts == "newest"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("due: 2026-10-03T23:59:00+02:00", "due: 2026-10-03T23:59:00",
         "line 21, column 3: late.due: must be a time with its zone, such as "
         "2026-10-03T23:59:00+02:00, not 2026-10-03 23:59:00"),
        ("due: 2026-10-03T23:59:00+02:00", "due: tonight", "line 21, column 3: late.due: must be a "
         "time with its zone, such as 2026-10-03T23:59:00+02:00, not 'tonight'"),
        ("due: 2026-10-03T23:59:00+02:00", "dew: 2026-10-03T23:59:00+02:00",
         "line 21, column 3: late.due: is missing|line 21, column 3: late.dew: is not a key of the "
         "rubric; perhaps you meant 'due'"),
        ("2026-10-10 23:59", "2026-10-01 23:59",
         "line 22, column 3: late.late_due: must not be before due"),
        ("15 minutes", "15:00", "line 23, column 3: late.grace: must be a span with its unit, such "
         "as 15 minutes or 2 hours, not 900"),
        ("percent: 12.5", "points: 3, percent: 12.5",
         "line 24, column 13: late.penalty.points: give either percent or points, and not both"),
        ("percent: 12.5, ", "",
         "line 24, column 12: late.penalty.points: give either percent or points, and not both"),
        ("percent: 12.5", "percent: 101", "line 24, column 13: late.penalty.percent: input should "
         "be less than or equal to 100, not 101"),
        ("cap: 50", "cap: 150",
         "line 24, column 38: late.penalty.cap: cannot be more than 100 percent, not 150"),
        ("per: day", "per: dya", "line 24, column 28: late.penalty.per: must be one of day, hour, "
         "not 'dya'; perhaps you meant 'day'"),
        ("Europe/Zurich", "Europe/Zurch", "line 25, column 3: late.zone: this machine knows no "
         "time zone 'Europe/Zurch'; perhaps you meant 'Europe/Zurich'"),
        ("Europe/Zurich", "../../etc/passwd", "line 25, column 3: late.zone: this machine knows "
         "no time zone '../../etc/passwd'"),
        ("attempts: best", "attempts: bst", "line 26, column 1: attempts: must be one of newest, "
         "best, not 'bst'; perhaps you meant 'best'"),
    ],
)  # fmt: skip
def test_faults_of_the_late_section_have_places(
    folder: Path, old: str, new: str, expected: str
) -> None:
    """Like those of the rest of the rubric."""
    text = VALID + LATE
    assert old in text
    with pytest.raises(RubricError) as caught:
        parse(folder, text.replace(old, new, 1))
    assert "|".join(caught.value.problems) == expected


def test_faults_of_the_late_section_come_at_once(folder: Path) -> None:
    """Also those that are about two values, beside those that are about one."""
    text = (VALID + LATE).replace("2026-10-10", "2026-10-01").replace("per: day", "per: week")
    with pytest.raises(RubricError) as caught:
        parse(folder, text.replace("15 minutes", "soon").replace("points: 3", "points: -3"))
    assert [problem.split(": ")[1] for problem in caught.value.problems] == [
        "milestones[0].criteria[1].points",
        "late.late_due",
        "late.grace",
        "late.penalty.per",
    ]


def test_gradescope_s_section_gives_what_it_says(folder: Path) -> None:
    """Visibility of all and of one criterion, and the columns of the leaderboard."""
    section = "gradescope: {visibility: after_published, leaderboard: [one, score]}\n"
    text = VALID.replace("milestones:", section + "milestones:")
    rubric = parse(folder, text.replace("award: all", "award: all\n        visibility: hidden"))
    assert rubric.gradescope.visibility == "after_published"
    assert rubric.gradescope.leaderboard == ("one", "score")
    assert [c.visibility for c in rubric.milestones[0].criteria] == ["hidden", None]
    assert parse(folder, VALID).gradescope.leaderboard == ()


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (
            "gradescope: {visibility: visibel}",
            "line 5, column 14: gradescope.visibility: must be one of hidden, after_due_date, "
            "after_published, visible, not 'visibel'; perhaps you meant 'visible'",
        ),
        (
            "gradescope: {leaderboards: [score]}",
            "line 5, column 14: gradescope.leaderboards: is not a key of the rubric; perhaps you "
            "meant 'leaderboard'",
        ),
        (
            "gradescope: {leaderboard: [scores]}",
            "line 5, column 28: gradescope.leaderboard[0]: must be one of score, one; perhaps you "
            "meant 'score'",
        ),
    ],
)
def test_a_fault_in_gradescope_s_section_has_its_place(
    folder: Path, section: str, expected: str
) -> None:
    """With the nearest valid word, as everywhere."""
    assert problems(folder, ("milestones:", f"{section}\nmilestones:")) == (expected,)


def test_a_criterion_s_visibility_is_one_of_gradescope_s_words(folder: Path) -> None:
    """The words are those that Gradescope documents."""
    (problem,) = problems(folder, ("award: all", "award: all\n        visibility: hiden"))
    assert "must be one of hidden, after_due_date, after_published, visible, not 'hiden'" in problem
    assert problem.endswith("perhaps you meant 'hidden'")


def test_packages_are_those_of_the_lesson_if_nothing_is_said(folder: Path) -> None:
    """Torch and numpy may be imported; a rubric that lists others means exactly these."""
    assert parse(folder, VALID).packages == ("torch", "numpy")
    assert parse(folder, VALID + "packages: [torch, PyYAML]\n").packages == ("torch", "PyYAML")


def test_a_package_that_is_not_installed_is_named_with_its_place(folder: Path) -> None:
    """Student code that needs it would fail, for no fault of the student's."""
    (problem,) = problems(
        folder, ("title: Small", "title: Small\npackages: [torch, no-such-package]")
    )
    assert "packages[1]: no-such-package is not installed beside the grader" in problem
    assert problem.startswith("line ")


def test_a_package_is_a_name_and_nothing_else(folder: Path) -> None:
    """Paths and version limits are refused with their place."""
    (problem, *_) = problems(folder, ("title: Small", "title: Small\npackages: [../secrets]"))
    assert "packages[0]" in problem
