"""The choices themselves: names, changes, pairs."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import typing

import pytest

from grader.lesson.choices import (
    AttentionChoices,
    BlockChoices,
    Change,
    Choices,
    FeedForwardChoices,
    NormChoices,
    WiringChoices,
    changed,
    changes_of,
    pairs_of,
)
from tests.formulas import LESSONS, PARTS, Option, options_of
from tests.test_lesson_attention import ATTENTIONS
from tests.test_lesson_ffn import NETWORKS
from tests.test_lesson_norm import AXES, ELSEWHERE, ROWS
from tests.test_lesson_wiring import WIRINGS


@pytest.mark.parametrize("kind", PARTS)
def test_every_option_other_than_the_lessons_has_a_name(kind: type) -> None:
    """What can be set and what has a name are the same."""
    hints = typing.get_type_hints(kind)
    defaults = dataclasses.asdict(kind())
    assert options_of(kind) == {
        (choice, option)
        for choice, hint in hints.items()
        for option in typing.get_args(hint)
        if option != defaults[choice]
    }


@pytest.mark.parametrize(
    ("kind", "tested"),
    [
        (NormChoices, {*ROWS, *AXES, *ELSEWHERE}),
        (FeedForwardChoices, {*NETWORKS}),
        (AttentionChoices, {*ATTENTIONS}),
        (WiringChoices, {options[0] for options in WIRINGS if len(options) == 1}),
    ],
)
def test_every_option_is_compared_with_a_formula(kind: type, tested: set[Option]) -> None:
    """A new option needs a formula in this file."""
    assert options_of(kind) == tested


def test_every_misconception_has_a_kebab_case_id() -> None:
    names = [c.misconception for kind in PARTS for c in changes_of(kind)]
    assert names
    assert [n for n in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", n)] == []


def test_the_changes_of_a_block_are_those_of_its_parts() -> None:
    """Each knows the part that it is in, and nothing else is different."""
    parts = {"wiring": 3, "norm": 0, "attention": 2, "ffn": 1}
    expected = {
        dataclasses.replace(change, part=part)
        for part, number in parts.items()
        for change in changes_of(PARTS[number])
    }
    changes = changes_of(BlockChoices)
    assert set(changes) == expected
    assert len(changes) == len(expected)


@pytest.mark.parametrize("kind", [*PARTS, BlockChoices])
def test_a_pair_changes_two_places(kind: type) -> None:
    """Every two changes are paired once, except two of one place."""
    changes = changes_of(kind)
    pairs = list(pairs_of(changes))
    places = [(c.part, c.choice) for c in changes]
    excluded = sum(math.comb(places.count(place), 2) for place in set(places))
    assert [pair for pair in pairs if pair[0].place == pair[1].place] == []
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)
    assert len(pairs) == math.comb(len(changes), 2) - excluded


def some_of(changes: list[Change]) -> list[tuple[Change, ...]]:
    """No change, every single one, and some pairs."""
    pairs = itertools.islice(pairs_of(changes), 0, None, 37)
    return [(), *((change,) for change in changes), *pairs]


def settings_of(choices: object) -> dict[tuple[str, ...], str]:
    """Every setting of choices, by part and choice."""
    assert dataclasses.is_dataclass(choices)
    found: dict[tuple[str, ...], str] = {}
    for field in dataclasses.fields(choices):
        value = getattr(choices, field.name)
        if isinstance(value, str):
            found["", field.name] = value
        else:
            inner = settings_of(value)
            found |= {(field.name, choice): option for (_, choice), option in inner.items()}
    return found


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: type(lesson).__name__)
def test_a_change_sets_its_own_choice_and_no_other(lesson: Choices) -> None:
    """Alone and in pairs; the choices that are changed stay as they were."""
    changes = changes_of(type(lesson))
    before = settings_of(lesson)
    for made in some_of(changes):
        expected = before | {change.place: change.option for change in made}
        assert settings_of(changed(lesson, made)) == expected
        assert settings_of(lesson) == before
