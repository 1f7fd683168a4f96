"""Reports and rubrics for tests of scoring."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grader.model import Scorecard
from grader.rubric import Rubric
from grader.scoring import score

SUITE = "test_one.py"


def rubric_of(*criteria: dict[str, Any]) -> Rubric:
    """A rubric with one milestone; what a criterion leaves out is filled in."""
    filled = [
        {"id": f"c{n}", "title": f"C{n}", "tests": (f"test_c{n}_*",), **criterion}
        for n, criterion in enumerate(criteria)
    ]
    milestone = {"id": "one", "title": "One", "file": "one.py", "suite": SUITE}
    return Rubric.model_validate(
        {
            "format": 1,
            "assignment": "small",
            "title": "Small",
            "milestones": [{**milestone, "criteria": filled}],
        }
    )


def entry(name: str, verdict: str = "passed", message: str = "", details: str = "") -> Any:
    """One test of a report, as pytest-json-report writes it with our metadata."""
    outcome = "passed" if verdict == "passed" else "failed"
    return {
        "nodeid": f"{SUITE}::{name}",
        "outcome": outcome,
        "setup": {"outcome": "passed"},
        "call": {"outcome": outcome},
        "metadata": {"verdict": verdict, "message": message, "details": details},
    }


def report_of(*tests: Any, expected: Iterable[str] = (), **facts: str) -> dict[str, Any]:
    """A report of these tests; `expected` are further tests that the suite holds."""
    ids = [test["nodeid"] for test in tests] + [f"{SUITE}::{name}" for name in expected]
    return {
        "tests": list(tests),
        "examination": {
            "student": "ann",
            "expected": ids,
            "notes": {"one": ["a note"]},
            "facts": {"files": "1", "notes": "", "problem": "", **facts},
        },
    }


def card_of(rubric: Rubric, *tests: Any, **more: Any) -> Scorecard:
    return score(report_of(*tests, **more), rubric)
