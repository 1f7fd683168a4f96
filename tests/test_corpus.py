"""Every case of the corpus, graded with the real command, gets what its expected.yaml says.

And each hidden test passes on the solution and fails on some case.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from grader.rubric import Rubric, check_tests_counted
from tests.corpus_run import RUBRIC, Case, Tally, case_names, differences, load_case
from tests.support import CorpusRun, Examined, read_json

CASES = {name: load_case(name) for name in case_names()}
RIGHT = ("ok-", "noisy-")
WRONG = ("bad-", "broken-")
# A submission that cannot be loaded fails every test: that proves nothing about a test.
DIAGNOSTIC = ("failed",)


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_graded_as_expected(corpus: CorpusRun, name: str) -> None:
    """Each criterion has the verdict, the points and the words that the case asks for."""
    assert differences(CASES[name], corpus.cards[name]) == []


def test_there_are_enough_cases_of_both_kinds() -> None:
    """At least 25 correct submissions in various styles, and 50 others."""
    right = sum(name.startswith("ok-") for name in CASES)
    assert right >= 25
    assert len(CASES) - right >= 50
    assert all(name.startswith(RIGHT + WRONG) for name in CASES)


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(RIGHT)])
def test_correct_work_loses_nothing(name: str) -> None:
    """A case that is right, however noisy, expects no lost point."""
    assert CASES[name].lost == {}


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(WRONG)])
def test_faulty_work_loses_something(name: str) -> None:
    """A case that shows a mistake expects a lost criterion, and says what the mistake is."""
    assert CASES[name].lost
    assert CASES[name].about


def test_mistakes_are_named_and_never_wrongly(corpus: CorpusRun) -> None:
    """Nothing correct is given a name, nothing a wrong one, and 95 % of the known ones theirs."""
    tally = Tally()
    for name, case in CASES.items():
        if corpus.cards[name]["status"] == "graded":
            tally.add(case, corpus.cards[name])
    assert (tally.right_named, tally.misnamed) == (0, 0)
    assert tally.known >= 120
    assert tally.named >= 0.95 * tally.known


def test_a_difference_would_be_seen(corpus: CorpusRun) -> None:
    """A wrong verdict, wrong points, a missing word and a fault of ours are all differences."""
    wrong, right = corpus.cards["bad-ffn-relu"], corpus.cards["ok-ffn-einsum"]
    nothing_lost = Case("x", "x", True, {}, {})
    assert any("ffn/exact-gelu: failed, not passed" in d for d in differences(nothing_lost, wrong))
    lost = {"ffn/exact-gelu": "failed"}
    assert len(differences(Case("x", "x", True, lost, {}), right)) == 2
    says = {"ffn/exact-gelu": "never said"}
    assert len(differences(Case("x", "x", True, {}, says), right)) == 1
    unnamed = Case("x", "x", True, {}, {}, {"ffn": ["no-activation"]})
    assert any(d.startswith("ffn: named []") for d in differences(unnamed, right))
    attention = {"status": "needs-attention", "problem": "ours"}
    assert differences(nothing_lost, attention) == ["needs attention: ours"]


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
            lost = criterion["verdict"] != "passed" or "waits_for" in criterion
            assert bool(criterion["message"]) == lost, (name, criterion)
