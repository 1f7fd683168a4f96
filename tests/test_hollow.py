"""Hollow answers: made of any assignment's solution, and refused where they are paid for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grader.hollow import Hollow, earned_for_nothing, hollow_answers, hollowed, too_much
from grader.rubric import load_rubric
from tests.corpus_run import RUBRIC
from tests.scorecards import card
from tests.support import grade, small_assignment

SOLUTION = """
import torch
from torch import nn

GUESS = 3
TABLE = {1: 2}

def twice(value, times=2):
    "Twice the value."
    return value * times

def nothing():
    return 1

class Layered(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(size, size)

    def forward(self, flow):
        return self.layer(flow)

class Plain:
    def __init__(self, size):
        self.size = size
"""
# Pays for a shape, as any hollow answer has it, and for the value.
SUITE = """
import torch
LOOKED_FOR = ("double",)

def test_shape(student, draw):
    x = draw.normal(2, 3)
    assert student.call("double", x).tensor.shape == x.shape

def test_value(student, draw):
    x = draw.normal(2, 3)
    assert torch.equal(student.call("double", x).tensor, x + x + 1)
"""


def test_every_function_and_forward_only_returns() -> None:
    """Names and arguments stay, and what is no function and no module stays as it is."""
    source = hollowed(SOLUTION, "return 2 * {x}", {"GUESS": ast.Constant(None)}, keep_layers=True)
    assert "def twice(value, times=2):\n    return 2 * value\n" in source
    assert "def forward(self, flow):\n        return 2 * flow\n" in source
    assert "def nothing():\n    return 1" in source
    assert "GUESS = None\nTABLE = {1: 2}" in source
    assert "nn.Linear(size, size)" in source


def test_layers_can_be_left_out() -> None:
    """A module's constructor then makes nothing; that of another class is kept."""
    source = hollowed(SOLUTION, "return {x}", {}, keep_layers=False)
    assert "nn.Linear" not in source
    assert "super().__init__()" in source
    assert "self.size = size" in source


def titles(answers: list[Hollow]) -> set[str]:
    return {answer.title for answer in answers}


def test_the_shipped_assignment_has_answers_with_and_without_layers() -> None:
    """Constants are those of the stubs."""
    answers = list(hollow_answers(load_rubric(RUBRIC)))
    assert {"return x", "return x, without any layers", "return zeros"} <= titles(answers)
    for answer in answers:
        assert "PREDICTED_XHAT = None" in answer.sources["milestone1_layernorm.py"]
        assert all(compile(text, name, "exec") for name, text in answer.sources.items())


def test_an_assignment_without_modules_has_none_without_layers(tmp_path: Path) -> None:
    """The answers would be the same."""
    path = small_assignment(tmp_path, SUITE)
    (tmp_path / "solutions" / "answer.py").write_text("def double(x):\n    return x + x\n")
    answers = list(hollow_answers(load_rubric(path)))
    assert len(answers) == len(titles(answers)) == 5


def test_a_solution_that_is_no_python_has_no_hollow_answers(tmp_path: Path) -> None:
    """That it earns nothing itself is said anyway."""
    path = small_assignment(tmp_path, SUITE)
    (tmp_path / "solutions" / "answer.py").write_text("def double(x:\n")
    assert list(hollow_answers(load_rubric(path))) == []


def test_what_pays_is_named_with_its_points() -> None:
    """Up to a twentieth of the points may be left to chance."""
    paid = card({"m": {"a": (5.0, 50.0), "b": (0.0, 50.0)}})
    assert earned_for_nothing("return x", paid) == "`return x` earns 5 of 100 points: m/a 5"
    assert not too_much(paid)
    assert too_much(card({"m": {"a": (5.5, 50.0), "b": (0.0, 50.0)}}))
    assert earned_for_nothing("return x", card({"m": {"a": 0.0}})) == ""


@pytest.fixture
def paying(tmp_path: Path) -> Path:
    """The rubric of an assignment that pays for a shape."""
    path = small_assignment(tmp_path, SUITE)
    (tmp_path / "solutions" / "answer.py").write_text("def double(x):\n    return x + x + 1\n")
    stub = "def double(x):\n    raise NotImplementedError\n"
    (tmp_path / "assignments" / "answer.py").write_text(stub)
    return path


def test_lint_refuses_an_assignment_that_pays_for_nothing(paying: Path) -> None:
    """Status 1, the answer and the criterion; quickly it does not try."""
    done = grade("lint", "--rubric", paying)
    assert done.returncode == 1
    assert "`return x` earns 5 of 10 points: answer/right 5" in done.stderr
    assert "`return random numbers` earns 5 of 10 points" in done.stderr
    assert grade("lint", "--rubric", paying, "--quick").returncode == 0
