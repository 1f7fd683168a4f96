"""Examines every variant of the solutions with many seeds, in this process.

`python -m tests.variants_run [--seeds N] [--first SEED]` prints each test whose verdict or message,
and each diagnosis, that is not the same with every seed.  It is faster than `grade lint`, which
also asks whether the verdicts are right.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.batch import setup_of
from grader.examiner import plugin
from grader.examiner.checks import Draw
from grader.examiner.examination import Examination
from grader.examiner.loop import suite_variants
from grader.examiner.messages import Setup, SuiteVariant
from grader.examiner.plugin import examination_key
from grader.examiner.reports import _plugin, begin_report
from grader.examiner.running import by_suite, run_items
from grader.examiner.session import run_pytest
from grader.rubric import load_rubric
from tests.corpus_run import RUBRIC

FIRST_SEED = 1


class VariantsLoop:
    """Runs in place of the collected tests.

    Attributes:
        differences: what has hung on the seed, a line each.
        variants: how many there were.

    Args:
        setup: the assignment.
        seeds: for each variant.
    """

    def __init__(self, setup: Setup, seeds: Sequence[int]) -> None:
        self.setup = setup
        self.seeds = seeds
        self.differences: list[str] = []
        self.variants = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Examine each variant with each seed."""
        items = dict(by_suite(session))
        for variant in suite_variants(session):
            found = [self._examined(session, items[variant.suite], variant, n) for n in self.seeds]
            self.variants += 1
            self.differences += _differences(variant, found)
        return True

    def _examined(
        self, session: pytest.Session, items: list[pytest.Item], variant: SuiteVariant, seed: int
    ) -> dict[str, Any]:
        """Verdict and message of each test, and the diagnosis."""
        milestone = next(m for m in self.setup.milestones if m.suite == variant.suite)
        Draw.seed = seed
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / milestone.file).write_text(variant.source, encoding="utf-8")
            candidates = {milestone.id: (milestone.file,)}
            examination = Examination(self.setup, candidates, Path(name), None)
            session.config.stash[examination_key] = examination
            begin_report(session.config)
            run_items(session.config, items)
            module = items[0].getparent(pytest.Module)
            examination.diagnose(variant.suite, module.obj if module else None)
        tests = _plugin(session.config)._json_tests
        found = {test.partition("::")[2]: told["metadata"] for test, told in tests.items()}
        return {**found, "diagnosis": examination.findings.get(milestone.id)}


def _differences(variant: SuiteVariant, found: Sequence[dict[str, Any]]) -> Iterator[str]:
    title = f"{variant.suite}: {', '.join(variant.names) or 'the solution'}"
    for name in found[0]:
        different = sorted({json.dumps(one.get(name), sort_keys=True) for one in found})
        if len(different) > 1:
            yield f"{title}: {name}: " + " or ".join(different)


def main() -> int:
    """Print what hangs on the seed; 1 if anything does."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=FIRST_SEED)
    given = parser.parse_args()
    torch.set_num_threads(1)  # as in the examiner; two of them spin on tensors this small
    setup = setup_of(load_rubric(RUBRIC), walls=())
    loop = VariantsLoop(setup, range(given.first, given.first + given.seeds))
    run_pytest(setup, [plugin, loop], ("--json-report-file=none",))
    for line in loop.differences:
        print(line)
    print(f"{loop.variants} variants, {given.seeds} seeds, {len(loop.differences)} differences")
    return int(bool(loop.differences) or not loop.variants)


if __name__ == "__main__":
    sys.exit(main())
