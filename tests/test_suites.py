"""The hidden tests themselves: each passes on the solution, and each can fail."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from grader.rubric import Rubric, check_tests_counted
from tests.corpus_run import RUBRIC, case_names
from tests.support import CorpusRun, Examined, read_json

# A submission that cannot be loaded fails every test: that proves nothing about a test.
DIAGNOSTIC = ("failed",)


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {test["nodeid"]: test["metadata"]["verdict"] for test in report["tests"]}


@pytest.fixture(scope="module")
def failures(corpus: CorpusRun) -> Counter[str]:
    """In how many cases each hidden test has found something wrong in what was computed."""
    found: Counter[str] = Counter()
    for name in case_names():
        path = corpus.folder / "results" / "students" / name / "report.json"
        found.update(t for t, v in verdicts(read_json(path)).items() if v in DIAGNOSTIC)
    return found


def test_every_hidden_test_passes_on_the_solution(solution: Examined) -> None:
    """No test asks for more than the assignment's own solution does."""
    found = verdicts(solution.report)
    assert [test for test in solution.tests if found.get(test) != "passed"] == []


def test_every_hidden_test_fails_on_some_case(failures: Counter[str], solution: Examined) -> None:
    """A test that nothing can fail would be no test."""
    assert [test for test in solution.tests if not failures[test]] == []


def test_every_hidden_test_counts_once(rubric: Rubric, solution: Examined) -> None:
    """The shipped rubric and the shipped suites fit together."""
    check_tests_counted(rubric, RUBRIC, solution.tests)
    assert len(solution.tests) > 40


def test_a_message_never_gives_the_answer_away(corpus: CorpusRun) -> None:
    """What students read holds no line of the solution and no traceback of ours."""
    for name, card in corpus.cards.items():
        said = " ".join(c["message"] for m in card["milestones"] for c in m["criteria"])
        assert "Traceback" not in said, name
        assert "/grader/" not in said, name
        assert "unbiased=False" not in said, name


def test_every_lost_criterion_says_why(corpus: CorpusRun) -> None:
    """Points are never lost without a sentence, and never explained where none are lost."""
    for name, card in corpus.cards.items():
        for criterion in (c for m in card["milestones"] for c in m["criteria"]):
            lost = criterion["verdict"] != "passed"
            assert bool(criterion["message"]) == lost, (name, criterion)
