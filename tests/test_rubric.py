"""The rubric: every fault at once, each with its place and the nearest valid word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.errors import RubricError
from grader.misconceptions import known_texts
from grader.rubric import Rubric, check_tests_counted, load_rubric, parse_rubric
from grader.rubric import tests_of as counted_tests
from tests.corpus_run import RUBRIC

VALID = """\
format: 1
assignment: small
title: Small
suites: suites
milestones:
  - id: one
    title: One
    file: one.py
    suite: test_one.py
    criteria:
      - id: first
        title: First
        points: 2.5
        tests: ["test_a*"]
        award: all
      - id: second
        title: Second
        points: 3
        tests: ["test_b*"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that VALID fits to."""
    for name in ("assignments", "solutions", "suites"):
        (tmp_path / name).mkdir()
    (tmp_path / "suites" / "test_one.py").touch()
    return tmp_path


def parse(folder: Path, text: str) -> Rubric:
    return parse_rubric(text, folder / "rubric.yaml")


def problems(folder: Path, *replacements: tuple[str, str]) -> tuple[str, ...]:
    """The faults of VALID after some replacements, each of which must change it."""
    text = VALID
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(RubricError) as caught:
        parse(folder, text)
    return caught.value.problems


def only_problem(folder: Path, *replacements: tuple[str, str]) -> str:
    (problem,) = problems(folder, *replacements)
    return problem


def test_a_valid_rubric_gives_what_it_says(folder: Path) -> None:
    """Points are the decimals that were written, and what is left out has its default."""
    rubric = parse(folder, VALID)
    (milestone,) = rubric.milestones
    assert str(rubric.points) == "5.5"
    assert [c.award for c in milestone.criteria] == ["all", "all"]
    assert [c.show for c in milestone.criteria] == ["message", "message"]
    assert rubric.suite_paths == (folder / "suites" / "test_one.py",)


def test_the_shipped_rubric_is_valid_and_sums_to_100_points() -> None:
    """The assignment that comes with the grader has 100 points in three milestones."""
    rubric = load_rubric(RUBRIC)
    assert rubric.points == 100
    assert [m.id for m in rubric.milestones] == ["layernorm", "ffn", "encoder-block"]


def test_all_faults_come_at_once_with_line_and_column(folder: Path) -> None:
    """One run names every fault of the file, so that one edit mends it."""
    found = problems(
        folder,
        ("format: 1", "format: 2"),
        ("title: Small", "titel: Small"),
        ("points: 2.5", "points: -1"),
        ("award: all", "award: al"),
        ('tests: ["test_b*"]', "tests: []"),
    )
    places = {problem.partition(":")[0] for problem in found}
    assert places >= {
        "line 1, column 1",
        "line 3, column 1",
        "line 13, column 9",
        "line 15, column 9",
        "line 19, column 9",
    }
    assert any("title: is missing" in problem for problem in found)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "points: 2.5",
            "point: 2.5",
            "line 13, column 9: milestones[0].criteria[0].point: is not a key of the rubric; "
            "perhaps you meant 'points'",
        ),
        ("suites: suites", "suite: suites", "line 4, column 1: suite: is not a key of the rubric; "
         "perhaps you meant 'suites'"),
        ("award: all", "award: proportionel", "line 15, column 9: "
         "milestones[0].criteria[0].award: must be one of all, proportional, not "
         "'proportionel'; perhaps you meant 'proportional'"),
        ("suite: test_one.py", "suite: test_onne.py", "line 9, column 12: milestones[0].suite: no "
         "such suite: test_onne.py; perhaps you meant 'test_one.py'"),
    ],
    ids=["criterion-key", "top-level-key", "award-word", "suite-name"],
)  # fmt: skip
def test_a_mistyped_word_comes_with_the_nearest_valid_one(
    folder: Path, old: str, new: str, expected: str
) -> None:
    """Key, award word and suite name: the message names what was probably meant."""
    assert expected in problems(folder, (old, new))


def test_a_key_of_the_limits_is_corrected_too(folder: Path) -> None:
    """The keys that are offered are those of the section at hand."""
    problem = only_problem(folder, ("milestones:", "limits: {memory_gb: 2}\nmilestones:"))
    assert problem == (
        "line 5, column 10: limits.memory_gb: is not a key of the rubric; perhaps you meant "
        "'memory_mb'"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("title: First", "title: First\n        title: Again",
         "line 13, column 9: milestones[0].criteria[0].title: stands twice"),
        ("id: second", "id: first",
         "line 16, column 13: milestones[0].criteria[1].id: 'first' stands twice"),
    ],
    ids=["key", "criterion-id"],
)  # fmt: skip
def test_what_stands_twice_is_an_error(folder: Path, old: str, new: str, expected: str) -> None:
    """Of two equal keys or ids neither wins silently."""
    assert only_problem(folder, (old, new)) == expected


def test_a_milestone_id_that_stands_twice_is_an_error(folder: Path) -> None:
    """Two milestones with one id would share a column of the gradebook."""
    second = VALID.partition("milestones:\n")[2]
    with pytest.raises(RubricError) as caught:
        parse(folder, VALID + second)
    assert caught.value.problems == ("line 20, column 9: milestones[1].id: 'one' stands twice",)


@pytest.mark.parametrize("value", ["yes", "true", ".nan", ".inf", "-3", "-0.5", "ten", "[1]", "~"])
def test_points_are_numbers_of_zero_or_more(folder: Path, value: str) -> None:
    """A truth value, NaN, an infinity, a negative number and text are no points."""
    found = problems(folder, ("points: 2.5", f"points: {value}"))
    place = "line 13, column 9: milestones[0].criteria[0].points: "
    assert any(problem.startswith(place) for problem in found)


def test_one_fault_is_one_problem(folder: Path) -> None:
    """A wrong value in a criterion does not make the list around it look wrong too."""
    assert len(problems(folder, ("points: 2.5", "points: ten"))) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [("format: 1", "format: 7"), ("format: 1", "format: '1'"), ("format: 1\n", "")],
    ids=["other-number", "text", "absent"],
)
def test_only_format_1_is_known(folder: Path, old: str, new: str) -> None:
    """A file of another format is refused instead of half understood."""
    assert "format" in only_problem(folder, (old, new))


@pytest.mark.parametrize("key", ["stubs", "solutions", "suites"])
def test_a_folder_that_is_not_there_is_an_error(folder: Path, key: str) -> None:
    """A wrong path is found before anything is graded."""
    found = problems(folder, ("suites: suites", f"{key}: nowhere"))
    column = len(key) + 3
    assert f"line 4, column {column}: {key}: no such folder: nowhere" in found


def test_a_file_that_is_not_yaml_gets_its_place(folder: Path) -> None:
    """A syntax error comes as a message with line and column, not as a traceback."""
    problem = only_problem(folder, ("title: Small", "title: [Small"))
    assert problem.startswith("line 4, column 7: is not valid YAML: ")


@pytest.mark.parametrize("text", ["", "- 1\n- 2\n", "just words\n", "5\n"])
def test_a_file_that_is_no_mapping_is_refused(folder: Path, text: str) -> None:
    """An empty file, a list and a plain value are faults like any other."""
    with pytest.raises(RubricError):
        parse(folder, text)


@pytest.mark.parametrize(
    "value",
    ["2024-13-45", "!!int x", "!!python/name:os.system ''", "&loop [*loop]"],
    ids=["no-such-date", "no-such-number", "python-object", "endless"],
)
def test_a_value_that_yaml_cannot_build_is_a_fault_of_the_file(folder: Path, value: str) -> None:
    """Whatever YAML has in store becomes a RubricError, never another exception."""
    assert problems(folder, ("title: Small", f"title: {value}"))


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """Bytes of another encoding are named as what they are."""
    path = tmp_path / "rubric.yaml"
    path.write_bytes(VALID.replace("Small", "Pr\xfcfung").encode("latin-1"))
    with pytest.raises(RubricError, match="is not UTF-8 text"):
        load_rubric(path)


def test_a_byte_order_mark_is_accepted(folder: Path) -> None:
    """What Windows editors put in front of a file is not part of its first key."""
    path = folder / "rubric.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + VALID.encode())
    assert load_rubric(path).assignment == "small"


@pytest.mark.parametrize("name", ["absent.yaml", "."], ids=["missing", "folder"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    """The message names the path as the user gave it."""
    path = tmp_path / name
    with pytest.raises(RubricError, match="cannot be read") as caught:
        load_rubric(path)
    assert str(path) in str(caught.value)


def counting_problems(folder: Path, tests: Sequence[str], text: str = VALID) -> Sequence[str]:
    """What `check_tests_counted` finds."""
    rubric = parse(folder, text)
    try:
        check_tests_counted(rubric, Path("rubric.yaml"), [f"test_one.py::{name}" for name in tests])
    except RubricError as error:
        return error.problems
    return ()


def test_each_test_that_counts_once_is_fine(folder: Path) -> None:
    """A rubric that counts every test exactly once has no problem."""
    assert counting_problems(folder, ["test_a", "test_b1", "test_b2[x]"]) == ()


def test_a_pattern_that_matches_no_test_is_an_error(folder: Path) -> None:
    """Points that nothing can earn are a mistake, with the likely name."""
    (problem,) = counting_problems(
        folder, ["test_ax", "test_c"], VALID.replace("test_b*", "test_d")
    )[:1]
    assert "milestone one, criterion second: the pattern 'test_d' matches no test" in problem
    assert "perhaps you meant 'test_c'" in problem


def test_a_test_that_no_criterion_counts_is_an_error(folder: Path) -> None:
    """A hidden test without points is a mistake."""
    found = counting_problems(folder, ["test_a", "test_b", "test_c"])
    assert found == ("no criterion counts the test test_one.py::test_c",)


def test_a_test_of_another_suite_is_not_counted(folder: Path) -> None:
    """A name matches only in the milestone's own suite."""
    rubric = parse(folder, VALID)
    tests = ["test_one.py::test_a", "test_one.py::test_b", "test_two.py::test_a"]
    with pytest.raises(RubricError) as caught:
        check_tests_counted(rubric, Path("rubric.yaml"), tests)
    assert caught.value.problems == ("no criterion counts the test test_two.py::test_a",)


def test_a_test_that_counts_twice_is_an_error(folder: Path) -> None:
    """No test earns points in two criteria."""
    (problem,) = counting_problems(folder, ["test_a", "test_ab"], VALID.replace("test_b*", "*b"))
    assert problem == "the test test_one.py::test_ab counts twice: one/first, one/second"


def test_brackets_of_parameters_stand_for_themselves(folder: Path) -> None:
    """`test_a[x]` is that one test and not, as in a shell, `test_ax`."""
    text = VALID.replace("test_a*", "test_a[x*]").replace("test_b*", "test_ax")
    rubric = parse(folder, text)
    (milestone,) = rubric.milestones
    tests = ("test_one.py::test_a[xy]", "test_one.py::test_ax")
    counted = [
        counted_tests(milestone.suite, criterion.tests, tests) for criterion in milestone.criteria
    ]
    assert counted == [("test_one.py::test_a[xy]",), ("test_one.py::test_ax",)]


def test_the_error_counts_its_problems_and_says_what_to_do(folder: Path) -> None:
    """The message has the file's path, how many problems, all of them, and the next step."""
    with pytest.raises(RubricError) as caught:
        parse(folder, VALID.replace("format: 1", "format: 2").replace("small", "Small!"))
    text = str(caught.value)
    assert f"{folder / 'rubric.yaml'}: 2 problems in the rubric:" in text
    assert all(problem in text for problem in caught.value.problems)
    assert "Mend these lines" in text


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
