"""`grade lint` proves the suites by variants of the solutions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.proof import Proof, prove
from grader.rubric import Rubric, load_rubric
from tests.support import small_assignment

# A suite with three variants: one that is right, one that is noticed and one that is not.
SUITE = """
from grader.lesson.variants import Variant

LOOKED_FOR = ("double",)
VARIANTS = [
    Variant((), "def double(x): return x + x"),
    Variant(("tripled",), "def double(x): return 3 * x"),
    Variant(("doubled-twice-for-large",), "def double(x): return x + x + (x > 100) * x"),
]


def test_doubles(student, draw):
    x = draw.normal(2, 3)
    assert (student.call("double", x).tensor == x + x).all()
"""


def proved(rubric: Rubric, seeds: tuple[int, ...]) -> tuple[Proof, list[int]]:
    """What came of a proof, and how its progress was told."""
    told: list[int] = []

    def on_start(count: int) -> Callable[[], None]:
        told.append(count)
        return lambda: told.append(1)

    return prove(rubric, 2, seeds, on_start), told


def test_every_change_of_the_lesson_is_noticed_and_named(rubric: Rubric) -> None:
    """Each misconception alone fails a test of its milestone and is named, and nothing else is."""
    proof, told = proved(rubric, (0,))
    assert proof.problems == ()
    assert proof.variants == proof.examined > 100
    assert told == [proof.examined, *[1] * proof.examined]


@pytest.fixture(scope="module")
def doubtful(tmp_path_factory: pytest.TempPathFactory) -> Proof:
    """The proof of a suite that misses a variant and names none."""
    path = small_assignment(tmp_path_factory.mktemp("small"), SUITE)
    return proved(load_rubric(path), (0, 1))[0]


def test_a_variant_that_no_test_notices_is_a_problem(doubtful: Proof) -> None:
    """A hole in the suite shows."""
    problem = "answer: doubled-twice-for-large, seed 1: no hidden test notices it"
    assert problem in doubtful.problems


def test_a_variant_without_its_name_is_a_problem(doubtful: Proof) -> None:
    """A suite that notices a mistake and does not name it is not proved."""
    assert "answer: tripled, seed 0: named nothing" in doubtful.problems


def test_a_right_variant_is_no_problem(doubtful: Proof) -> None:
    """The lesson's own choices pass, and are given no name."""
    assert not any("own choices" in problem for problem in doubtful.problems)
    assert (doubtful.variants, doubtful.examined) == (3, 6)


def test_a_suite_without_variants_is_proved_by_stubs_and_solutions(tmp_path: Path) -> None:
    """Another lesson's suite need not have any."""
    path = small_assignment(tmp_path, "def test_nothing(): pass\n")
    assert proved(load_rubric(path), (0,))[0] == Proof(0, 0, ())
