"""The search for changed choices, on invented functions: no student code, no mathematics."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import pytest
import torch
from torch import Tensor

from grader.lesson.choices import Change
from grader.lesson.search import (
    GLANCE_VALUES,
    Answer,
    Changes,
    Explanation,
    Search,
    glance,
    names_of,
)

# What three questions of a pool are answered by the lesson's choices, ...
LESSON = (10.0, 20.0, 30.0)
# ... and what a change adds to each answer.  `twin-a` and `twin-b` compute the same everywhere,
# `silent` the same as the lesson; `late` shows only in the last question; `sum` is what `up` and
# `over` are together.
EFFECTS = {
    "up": (1.0, 1.0, 1.0),
    "over": (0.0, 2.0, 0.0),
    "sum": (1.0, 3.0, 1.0),
    "twin-a": (5.0, 5.0, 5.0),
    "twin-b": (5.0, 5.0, 5.0),
    "late": (0.0, 0.0, 7.0),
    "silent": (0.0, 0.0, 0.0),
}
CHANGE = {name: Change("", f"choice-{name}", "other", name) for name in EFFECTS}
PLAIN = Explanation(())


def explained(*names: str, reading: int = 0) -> Explanation:
    return Explanation(tuple(CHANGE[name] for name in names), reading)


def predict(explanation: Explanation, question: int) -> Tensor:
    """The sum of the effects; the second reading of the parameters takes the answer by two."""
    effects = [EFFECTS[change.misconception][question] for change in explanation.changes]
    return torch.tensor([LESSON[question] + sum(effects)]) * (explanation.reading + 1)


class Student:
    """Computes what an explanation predicts, and remembers what it was asked."""

    def __init__(
        self,
        secret: Explanation,
        raises_at: Iterable[int] = (),
        predict: Callable[[Explanation, int], Tensor] = predict,
    ) -> None:
        self.secret = secret
        self.raises_at = frozenset(raises_at)
        self.predict = predict
        self.asked: list[int] = []

    def ask(self, question: int) -> Answer:
        """The answer to a question of the pool."""
        self.asked.append(question)
        if question in self.raises_at:
            return None
        return self.predict(self.secret, question)


def search_for(
    student: Student,
    changes: Sequence[str] = tuple(EFFECTS),
    readings: int = 1,
    predict: Callable[[Explanation, int], Tensor] = predict,
    allowed: Callable[[], bool] = lambda: True,
) -> Search:
    return Search(
        [CHANGE[name] for name in changes],
        readings,
        len(LESSON),
        student.ask,
        predict,
        torch.equal,
        allowed,
    )


def pairs_after_single(search: Search) -> list[Explanation]:
    assert search.single() == []
    return search.pairs(search.changes)


@pytest.mark.parametrize("name", ["up", "over", "sum", "late"])
def test_the_single_change_is_found(name: str) -> None:
    """Whether it shows in all questions or in one."""
    assert search_for(Student(explained(name))).single() == [explained(name)]


@pytest.mark.parametrize("names", [("up", "late"), ("over", "twin-a")])
def test_a_pair_is_found_where_no_single_change_holds(names: tuple[str, str]) -> None:
    student = Student(explained(*names))
    search = search_for(student, ["up", "over", "late", "twin-a"])
    assert pairs_after_single(search) == [explained(*names)]


def test_two_changes_of_one_place_are_no_pair() -> None:
    """They exclude each other, so nothing holds."""
    one, other = (Change("", "choice", name, name) for name in ("up", "late"))
    student = Student(explained("up", "late"))
    search = search_for(student, [])
    search.changes = [one, other]
    assert pairs_after_single(search) == []


def test_one_change_is_preferred_to_two() -> None:
    """What one change computes is not explained by two that come to the same."""
    search = search_for(Student(explained("up", "over")))
    assert search.single() == [explained("sum")]


@pytest.mark.parametrize("changes", [(), ("silent",), tuple(EFFECTS)])
def test_the_lessons_choices_are_preferred_to_any_change(changes: Sequence[str]) -> None:
    """A change that computes the same as the lesson is not named."""
    assert search_for(Student(PLAIN), changes).single() == [PLAIN]


def test_nothing_is_found_where_nothing_holds() -> None:
    """Neither one change nor two; the questions end as soon as no explanation is left."""
    student = Student(explained("up"), predict=lambda e, question: torch.tensor([-1.0]))
    search = search_for(student)
    assert pairs_after_single(search) == []
    assert student.asked == [0]


def test_an_explanation_has_to_hold_for_every_question() -> None:
    """The lesson's answers to two questions do not make the third one right."""
    student = Student(explained("late"))
    search = search_for(student, ["up", "over"])
    assert search.single() == []
    assert sorted(student.asked) == [0, 1, 2]


@pytest.mark.parametrize("error", [IndexError, RuntimeError, ZeroDivisionError])
def test_nothing_is_found_where_no_question_has_an_answer(error: type[Exception]) -> None:
    """Code that always raises is not explained by choices that always raise."""

    def raising(explanation: Explanation, question: int) -> Tensor:
        raise error

    student = Student(PLAIN, raises_at=range(3))
    assert pairs_after_single(search_for(student, predict=raising)) == []


@pytest.mark.parametrize("error", [IndexError, RuntimeError, ZeroDivisionError])
def test_no_answer_is_what_an_explanation_that_raises_predicts(error: type[Exception]) -> None:
    """It holds then, and none that predicts a value does, though all other answers agree."""

    def raising_at_1(explanation: Explanation, question: int) -> Tensor:
        if question == 1 and explanation == explained("twin-a"):
            raise error
        return predict(explanation, question)

    student = Student(explained("twin-a"), raises_at=[1])
    search = search_for(student, predict=raising_at_1)
    assert search.single() == [explained("twin-a")]


def test_an_answer_is_not_what_an_explanation_that_raises_predicts() -> None:
    def raising(explanation: Explanation, question: int) -> Tensor:
        if question == 2:
            raise IndexError
        return predict(explanation, question)

    assert search_for(Student(explained("up")), predict=raising).single() == []


def test_a_fault_of_the_prediction_is_no_answer_of_the_students() -> None:
    """Only what a wrong shape or axis raises counts as raising."""

    def faulty(explanation: Explanation, question: int) -> Tensor:
        raise KeyError("grader")

    with pytest.raises(KeyError, match="grader"):
        search_for(Student(PLAIN, raises_at=[0]), predict=faulty).single()


def test_nothing_is_asked_or_found_when_the_time_is_over() -> None:
    student = Student(PLAIN)
    search = search_for(student, allowed=lambda: False)
    assert search.single() == []
    assert search.pairs(search.changes) == []
    assert student.asked == []


def times_allowed(secret: Explanation) -> int:
    """How often a search that finds something asks whether there is time."""
    counter = itertools.count()
    search_for(Student(secret), allowed=lambda: next(counter) >= 0).single()
    return next(counter)


@pytest.mark.parametrize("secret", [PLAIN, explained("late"), explained("twin-a")])
def test_nothing_is_found_when_the_time_ends_on_the_way(secret: Explanation) -> None:
    """At whatever point it ends: what is left then has not been compared with everything."""
    for limit in range(times_allowed(secret)):
        left = iter([True] * limit)
        search = search_for(Student(secret), allowed=partial(next, left, False))
        assert search.single() == [], limit


def test_all_explanations_that_no_question_tells_apart_are_kept() -> None:
    """Those that some question tells apart are not among them."""
    search = search_for(Student(explained("twin-b")))
    assert search.single() == [explained("twin-a"), explained("twin-b")]


def test_all_pairs_that_no_question_tells_apart_are_kept() -> None:
    search = search_for(Student(explained("late", "twin-a")))
    found = pairs_after_single(search)
    assert {frozenset(e.names) for e in found} == {
        frozenset({"late", "twin-a"}),
        frozenset({"late", "twin-b"}),
    }


@pytest.mark.parametrize("secret", [PLAIN, explained("up"), explained("late", "up")])
def test_each_question_is_asked_at_most_once(secret: Explanation) -> None:
    """In both searches, and when they are repeated; the answers are remembered."""
    student = Student(secret)
    search = search_for(student)
    searches: list[Callable[[], object]] = [search.single, lambda: search.pairs(search.changes)]
    for look in searches * 2:
        look()
    assert sorted(student.asked) == [0, 1, 2]
    assert {q: a.item() for q, a in search.answers.items() if a is not None} == {
        q: predict(secret, q).item() for q in range(3)
    }


def test_each_prediction_is_computed_at_most_once() -> None:
    counted: list[tuple[Explanation, int]] = []

    def counting(explanation: Explanation, question: int) -> Tensor:
        counted.append((explanation, question))
        return predict(explanation, question)

    search = search_for(Student(explained("late", "up")), predict=counting)
    assert len(pairs_after_single(search)) == 1
    assert len(set(counted)) == len(counted)


def test_the_next_question_is_the_one_that_tells_most_explanations_apart() -> None:
    """After the first, in which they are alike, the second has two groups and the third three."""
    answers: dict[Changes, tuple[float, float, float]] = {
        (): (0.0, 1.0, 1.0),
        (CHANGE["up"],): (0.0, 1.0, 2.0),
        (CHANGE["over"],): (0.0, 4.0, 3.0),
    }

    def predict(explanation: Explanation, question: int) -> Tensor:
        return torch.tensor([answers[explanation.changes][question]])

    student = Student(explained("over"), predict=predict)
    assert search_for(student, ["up", "over"], predict=predict).single() == [explained("over")]
    assert student.asked == [0, 2, 1]


def test_the_reading_of_the_parameters_is_found_with_the_change() -> None:
    """The same change in another reading computes something else."""
    student = Student(explained("over", reading=1))
    assert search_for(student, readings=2).single() == [explained("over", reading=1)]


def test_readings_that_come_to_the_same_are_all_kept() -> None:
    def deaf(explanation: Explanation, question: int) -> Tensor:
        return predict(Explanation(explanation.changes), question)

    found = search_for(Student(explained("up")), readings=3, predict=deaf).single()
    assert found == [explained("up", reading=reading) for reading in range(3)]


def test_without_a_reading_nothing_is_asked() -> None:
    student = Student(PLAIN)
    assert search_for(student, readings=0).single() == []
    assert student.asked == []


def test_the_callers_comparison_decides_what_agrees() -> None:
    """Here all answers within 1.5 agree, so the change of 1 is taken for the lesson's."""
    search = search_for(Student(explained("up")))
    search.same = lambda actual, predicted: bool((actual - predicted).abs() < 1.5)
    assert search.single() == [PLAIN]


def test_the_names_of_an_explanation_are_sorted_and_different() -> None:
    changes = [Change("", choice, "o", name) for choice, name in ("av", "bu", "cv")]
    assert Explanation(tuple(changes)).names == ("u", "v")
    assert PLAIN.names == ()


def test_explanations_with_the_same_names_count_once() -> None:
    """Whatever their readings and the order of their changes."""
    found = [explained("up"), explained("up", reading=1), explained("up", "late")]
    found += [explained("late", "up"), PLAIN]
    assert names_of(found) == [(), ("late", "up"), ("up",)]
    assert names_of([]) == []


VALUES = (1.234, -5.678, 0.0, 100.0, -0.001)


@pytest.mark.parametrize("noise", [1e-6, -1e-6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_glance_ignores_noise(noise: float, dtype: torch.dtype) -> None:
    """Equal results that were summed in another order look the same."""
    values = torch.tensor(VALUES, dtype=torch.float64)
    assert glance((values + noise).to(dtype)) == glance(values)


def test_a_glance_ignores_the_sign_of_zero() -> None:
    """In the text of a fingerprint too."""
    zeros = torch.tensor([0.0, -0.0, 1e-6, -1e-6])
    assert repr(glance(zeros)) == repr(glance(zeros.abs())) == "(0.0, 0.0, 0.0, 0.0)"


@pytest.mark.parametrize("place", range(len(VALUES)))
def test_a_glance_sees_a_difference_of_two_hundredths(place: int) -> None:
    values = torch.tensor(VALUES)
    other = values.clone()
    other[place] += 0.02
    assert glance(other) != glance(values)


@pytest.mark.parametrize("size", [GLANCE_VALUES, 24, 100, 4096])
def test_a_glance_looks_at_a_few_values_of_any_shape(size: int) -> None:
    """In all parts of the tensor: a difference in its first or its second half is seen."""
    values = torch.arange(float(size))
    first_half = values < size / 2
    assert GLANCE_VALUES <= len(glance(values)) < 2 * GLANCE_VALUES
    assert glance(values.reshape(2, -1, 2)) == glance(values)
    assert glance(values + first_half) != glance(values)
    assert glance(values + ~first_half) != glance(values)


@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_glance_at_a_small_tensor_sees_all_of_it(size: int) -> None:
    """One that is waiting for gradients too."""
    assert glance(torch.arange(float(size), requires_grad=True)) == tuple(range(size))
    assert glance(torch.tensor(2.5)) == (2.5,)


def test_a_glance_tells_apart_what_is_not_finite() -> None:
    """NaN, which equals nothing, equals itself here, and nothing else."""
    strange = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0])
    assert glance(strange) == glance(strange.clone())
    assert len(set(glance(strange))) == 4
