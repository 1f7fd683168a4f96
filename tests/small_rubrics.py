"""A small rubric for tests, and what is wrong with it after changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import RubricError
from grader.rubric import Rubric, parse_rubric

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


def folder_for_valid(folder: Path) -> Path:
    """A folder that VALID fits to."""
    for name in ("assignments", "solutions", "suites"):
        (folder / name).mkdir()
    (folder / "suites" / "test_one.py").touch()
    return folder


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
