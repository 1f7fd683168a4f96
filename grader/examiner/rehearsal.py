"""The hidden tests run on the solutions, to learn what they will ask of a submission."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.examiner.checks import Draw
from grader.examiner.examination import Examination
from grader.examiner.foresight import Plan
from grader.examiner.messages import Setup
from grader.examiner.plugin import examination_key
from grader.examiner.reports import all_passed, begin_report
from grader.examiner.running import by_suite, run_items
from grader.examiner.transport import Rehearsed

MAX_SECONDS = 5.0  # for a question to the solutions


def rehearse(session: pytest.Session, setup: Setup, seed: int) -> dict[str, Plan]:
    """Run the hidden tests on the solutions in this process.

    Args:
        session: with the collected tests.
        setup: the assignment.
        seed: of the random numbers that the submissions will be given.

    Returns:
        A plan for each suite that the solutions pass; without one, every question is put when
        it comes up.
    """
    Draw.seed = seed
    candidates = {milestone.id: [milestone.file] for milestone in setup.milestones}
    folder = Path(setup.solutions)
    transport = Rehearsed(folder, min(setup.question_seconds, MAX_SECONDS))
    examination = Examination(setup, candidates, folder, None, transport=transport)
    session.config.stash[examination_key] = examination
    begin_report(session.config)
    plans = {}
    for suite, items in by_suite(session):
        run_items(session.config, items)
        if all_passed(session.config, items):
            plans[suite] = examination.plan_of(suite)
    examination.end()
    return plans
