"""Every case of the corpus, graded with the real command, gets what its expected.yaml says."""

from __future__ import annotations

import pytest

from tests.corpus_run import Case, Tally, case_names, differences, load_case
from tests.support import CorpusRun

CASES = {name: load_case(name) for name in case_names()}
RIGHT = ("ok-", "noisy-")
WRONG = ("bad-", "broken-")


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
