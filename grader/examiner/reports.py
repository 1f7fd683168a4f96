"""report.json: what pytest-json-report writes, with the facts of the examination."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from grader.examiner.checks import Draw
from grader.examiner.examination import Examination
from grader.examiner.messages import Job
from grader.files import write_atomically
from grader.model import Verdict
from grader.text import visible


def begin_report(config: pytest.Config) -> None:
    """Have the plugin start anew, with nothing of the submission before."""
    plugin = _plugin(config)
    plugin._start_time = time.time()
    plugin._json_tests.clear()
    plugin._json_warnings.clear()
    config.option.json_report_file = None


def all_passed(config: pytest.Config, items: Sequence[pytest.Item]) -> bool:
    """Tell whether each of some tests has passed, as far as they have run."""
    tests = _plugin(config)._json_tests
    return all(_verdict(tests.get(item.nodeid, {})) == Verdict.PASSED.value for item in items)


def _verdict(test: Mapping[str, Any]) -> str:
    return str(test.get("metadata", {}).get("verdict", ""))


def forget(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Take what was found out by some tests out of the report: they run again."""
    for item in items:
        _plugin(config)._json_tests.pop(item.nodeid, None)


def write_report(session: pytest.Session, job: Job, examination: Examination) -> None:
    """Let the plugin build its report, add the facts, write it whole.

    The report comes last: where it is, the examination is complete.

    Raises:
        OSError: if report or log cannot be written.
    """
    plugin = _plugin(session.config)
    plugin.pytest_sessionfinish(session)
    report: dict[str, Any] = plugin.report
    report["root"] = ""
    report["examination"] = {
        "format": 1,
        "student": job.student,
        "expected": [item.nodeid for item in session.items],
        "notes": examination.notes(),
        "findings": examination.findings,
        "seed": str(Draw.seed),  # a text, as many readers of JSON would round such a number
        "facts": job.facts,
        "provenance": job.provenance,
    }
    write_atomically(Path(job.log), visible(examination.log()))
    write_atomically(Path(job.report), json.dumps(report, allow_nan=False) + "\n")


def _plugin(config: pytest.Config) -> Any:
    # pytest-json-report is untyped and keeps itself in a private attribute of the config.
    return cast(Any, config)._json_report
