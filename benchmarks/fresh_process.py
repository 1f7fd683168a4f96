"""The yardstick: one fresh `pytest --json-report` process that runs the same checks in-process.

Usage: python -m benchmarks.fresh_process SUBMISSION REPORT
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader.batch import setup_of
from grader.commands.options import default_rubric
from grader.examiner import plugin
from grader.examiner.examination import Examination
from grader.examiner.session import run_pytest
from grader.intake.layouts import single_submission
from grader.rubric import load_rubric


class InProcessSubmission:
    """Gives the hidden tests a submission whose code runs in this very process."""

    def __init__(self, examination: Examination) -> None:
        self.examination = examination

    def pytest_configure(self, config: pytest.Config) -> None:
        """Hand the submission to the `student` fixture."""
        config.stash[plugin.examination_key] = self.examination


def main() -> int:
    """Examine one submission and leave a JSON report."""
    folder, report = Path(sys.argv[1]).resolve(), sys.argv[2]
    rubric = load_rubric(default_rubric())
    setup = setup_of(rubric, jobs=1, walls=())
    candidates = single_submission(folder, rubric).candidates
    examination = Examination(setup, candidates, folder, spawner=None)
    plugins = [plugin, InProcessSubmission(examination)]
    return run_pytest(setup, plugins, (f"--json-report-file={report}",))


if __name__ == "__main__":
    sys.exit(main())
