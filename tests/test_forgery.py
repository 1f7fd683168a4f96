"""Answers changed at random: never a fault of the grader, in no test and in no diagnosis."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.examiner.messages import SuiteMilestone
from grader.examiner.transport import InProcess
from grader.model import Verdict
from tests.forgery import CHANGES, MILESTONES, QUESTIONS, Forgery, Forging, examined
from tests.support import SOLUTIONS


def forgeries_of(milestone: SuiteMilestone) -> st.SearchStrategy[tuple[SuiteMilestone, Forgery]]:
    """Ways to change the answers to questions that a milestone puts."""
    forgeries = st.builds(
        Forgery,
        seed=st.integers(0, 1 << 30),
        question=st.sampled_from(QUESTIONS[milestone.id]),
        changes=st.lists(st.sampled_from(CHANGES), min_size=1, max_size=2).map(tuple),
        share=st.sampled_from([0.1, 0.5, 1.0]),
    )
    return st.tuples(st.just(milestone), forgeries)


forged = st.sampled_from(MILESTONES).flatmap(forgeries_of)


@pytest.mark.parametrize("milestone", MILESTONES, ids=lambda m: m.id)
def test_the_solution_passes_here(milestone: SuiteMilestone) -> None:
    """Without a change every test passes, so that a change is what others see."""
    said, _ = examined(InProcess(SOLUTIONS), milestone)
    assert {one["verdict"] for one in said} == {Verdict.PASSED.value}


def expect_no_fault(milestone: SuiteMilestone, forgery: Forgery) -> None:
    """Nothing that is said is a fault of ours."""
    said, diagnosis = examined(Forging(SOLUTIONS, forgery), milestone)
    faults = [one for one in said if one["verdict"] == Verdict.GRADER_FAULT.value]
    assert not faults
    assert "fault" not in diagnosis, diagnosis


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(forged)
def test_no_answer_is_a_fault_of_the_grader(forged: tuple[SuiteMilestone, Forgery]) -> None:
    """Whatever comes back, it is a finding about the student's code, or nothing."""
    expect_no_fault(*forged)


@pytest.mark.slow
@settings(max_examples=5_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(forged)
def test_no_answer_of_thousands_is_a_fault(forged: tuple[SuiteMilestone, Forgery]) -> None:
    """The same for many more."""
    expect_no_fault(*forged)
