"""The rubric: every fault at once, each with its place and the nearest valid word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.errors import RubricError
from grader.rubric import check_tests_counted, load_rubric
from grader.rubric import tests_of as counted_tests
from tests.corpus_run import RUBRIC
from tests.small_rubrics import VALID, folder_for_valid, only_problem, parse, problems


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that VALID fits to."""
    return folder_for_valid(tmp_path)


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
