"""report.json: what pytest-json-report writes, with the facts of the examination."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, cast

import pytest

from grader.examiner.examination import Examination
from grader.examiner.messages import Job
from grader.results import write_atomically


def begin_report(config: pytest.Config) -> None:
    """Start the plugin's clock anew in a forked child."""
    _plugin(config)._start_time = time.time()
    config.option.json_report_file = None


def write_report(session: pytest.Session, job: Job, examination: Examination) -> None:
    """Let the plugin build its report, add the facts, write it whole.

    Raises:
        OSError: if the file cannot be written.
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
        "facts": job.facts,
    }
    write_atomically(Path(job.report), json.dumps(report, allow_nan=False) + "\n")
    write_atomically(Path(job.log), examination.log())


def _plugin(config: pytest.Config) -> Any:
    # pytest-json-report is untyped and keeps itself in a private attribute of the config.
    return cast(Any, config)._json_report
