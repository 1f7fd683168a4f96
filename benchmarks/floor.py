"""What cannot be saved: a fork, loading three files, and computing the answers to the questions.

No test runs, nothing crosses a boundary, and no wall is put up.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from benchmarks.measuring import single_threaded
from grader.batch import setup_of
from grader.commands.options import default_rubric
from grader.examiner import plugin
from grader.examiner.exchange import Exchange
from grader.examiner.foresight import Plan
from grader.examiner.messages import Setup
from grader.examiner.rehearsal import rehearse
from grader.examiner.session import run_pytest
from grader.examiner.transport import InProcess
from grader.examiner.warmth import warm
from grader.rubric import load_rubric
from grader.sandbox.computing import compute_simply

SUBMISSIONS = 32


def floor_cpu() -> float:
    """CPU seconds for each submission, measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.floor"]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=single_threaded()
    )
    return float(json.loads(done.stdout.splitlines()[-1]))


class Floor:
    """Measures in place of running the tests.

    Args:
        setup: the assignment.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer the questions of every suite in forked processes, and print the cost of one."""
        plans = rehearse(session, self._setup, self._setup.seed)
        before, begun = _children_cpu(), time.process_time()
        for _ in range(SUBMISSIONS):
            pid = os.fork()
            if pid == 0:
                _answer_and_end(self._setup, plans)
            if os.waitpid(pid, 0)[1] != 0:
                raise RuntimeError("the solutions do not answer")
        cost = _children_cpu() - before + time.process_time() - begun
        print(json.dumps(cost / SUBMISSIONS))
        return True


def _answer_and_end(setup: Setup, plans: Mapping[str, Plan]) -> NoReturn:
    status = 1
    try:
        answer_all(setup, plans)
        status = 0
    finally:
        os._exit(status)


def answer_all(setup: Setup, plans: Mapping[str, Plan]) -> None:
    """Load the solutions, and answer what the tests would ask."""
    for milestone in setup.milestones:
        transport = InProcess(Path(setup.solutions))
        load = {"question": "load", "file": milestone.file, "definitions_only": False}
        transport.ask(load, {})
        Exchange(transport, milestone.file).ask(plans[milestone.suite].asked)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Become a warm session, as a nursery does, and measure."""
    compute_simply()  # with more threads a fork of it would hang
    warm()
    setup = setup_of(load_rubric(default_rubric()), walls=())
    return run_pytest(setup, [plugin, Floor(setup)], ("--json-report-file=none",))


if __name__ == "__main__":
    sys.exit(main())
