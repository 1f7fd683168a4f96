"""The pytest plugin of the examiner: what hidden tests are given, and verdicts in the report."""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from typing import Any

import pytest
from _pytest.python import get_direct_param_fixture_func
from _pytest.runner import runtestprotocol  # as pytest-rerunfailures does

from grader.errors import StudentFaultError
from grader.examiner.examination import Examination
from grader.examiner.source import Telling, names_are_enough
from grader.model import Verdict
from grader.text import printable

MAX_TEXT = 2_000
# Parts of pytest that only cost time here: asserts stay as they are written, nothing is captured,
# and no terminal is watched.
IDLE_PLUGINS = ("assertion", "capturemanager", "terminalreporter")
OMITTED = ("collectors", "keywords", "log", "streams", "traceback", "warnings")
examination_key = pytest.StashKey[Examination]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Keep prints, logs and tracebacks out of the report, and nobody reads the terminal."""
    config.option.json_report_omit = list(OMITTED)
    for name in IDLE_PLUGINS:
        config.pluginmanager.unregister(name=name)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Turn to the milestone and the random numbers of this test, and hand them to it.

    Handed over here, `student` and `draw` cost nothing; looked up as fixtures they take a tenth
    of the examiner's time.
    """
    examination = _turned_to(item)
    if isinstance(item, pytest.Function):
        item.funcargs |= {"student": examination.student, "draw": examination.draw}


def _turned_to(item: pytest.Item) -> Examination:
    examination = item.config.stash[examination_key]
    examination.turn_to(*_looked_for_by(item))
    return examination


@functools.lru_cache(None)
def _looked_for_by(item: pytest.Item) -> tuple[str, Sequence[str], str, Telling]:
    """What `Examination.turn_to` has to know of a test, from the test and its suite."""
    suite = getattr(item, "module", None)
    telling = getattr(suite, "TELLING", names_are_enough)
    return item.path.name, getattr(suite, "LOOKED_FOR", ()), item.nodeid, telling


def pytest_json_runtest_stage(report: pytest.TestReport) -> dict[str, Any]:
    """What the report keeps of a stage: its outcome, and its duration in seconds."""
    return {"outcome": report.outcome, "duration": report.duration}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test as pytest does, and report its call, besides what went wrong before or after.

    That a setup or teardown has passed is said 98 times a submission otherwise; and where there
    is nothing to set up, both are left out, which takes a quarter off the examiner's time.
    """
    something_is_set_up = bool(item.session._setupstate.stack)
    if isinstance(item, pytest.Function) and not something_is_set_up and _needs_no_setup(item):
        _call(item)
        return True
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def _call(item: pytest.Function) -> None:
    """Call a test and report it: what of pytest's protocol is left without setup and capture."""
    examination = _turned_to(item)
    known = {"student": examination.student, "draw": examination.draw}
    if hasattr(item, "callspec"):
        known |= item.callspec.params
    arguments = {name: known[name] for name in item._fixtureinfo.argnames}

    def run() -> None:
        with examination.limited():
            item.obj(**arguments)

    call = pytest.CallInfo.from_call(
        run, "call", reraise=(pytest.exit.Exception, KeyboardInterrupt)
    )
    hook = item.config.hook  # no conftest has hooks of its own
    report = hook.pytest_runtest_makereport(item=item, call=call)
    hook.pytest_runtest_logreport(report=report)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Keep to the submission's limits in tests that are run as pytest does."""
    with item.config.stash[examination_key].limited():
        return (yield)


@functools.lru_cache(None)
def _needs_no_setup(item: pytest.Function) -> bool:
    """Whether a test uses nothing but `student`, `draw` and its own parameters."""
    given = {"student", "draw", *(item.callspec.params if hasattr(item, "callspec") else ())}
    used = item._fixtureinfo.name2fixturedefs.values()
    return given.issuperset(item._fixtureinfo.argnames) and all(
        known[-1].func is get_direct_param_fixture_func for known in used
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> pytest.TestReport | None:
    """Report a pass or a finding without a traceback, which nobody reads and which takes 1 ms."""
    error = call.excinfo.value if call.excinfo is not None else None
    if error is not None and not isinstance(error, StudentFaultError):
        return None
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="passed" if error is None else "failed",
        longrepr=None if error is None else str(error),
        when=call.when if call.when != "collect" else "call",
        duration=call.duration,
        start=call.start,
        stop=call.stop,
    )


def pytest_json_runtest_metadata(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> dict[str, str] | None:
    """Verdict and messages of a test, for the report.

    A stage that passed says nothing, except that a passed `call` is a passed test.
    """
    if call.excinfo is None:
        return {"verdict": Verdict.PASSED.value} if call.when == "call" else None
    error = call.excinfo.value
    if call.when != "call" and not isinstance(error, StudentFaultError):
        return _fault(error)  # a setup or teardown asserts nothing about the student
    return finding(error)


def finding(error: BaseException) -> dict[str, str]:
    """What an exception out of a hidden test means.

    A `StudentFaultError` and a failed assertion are the student's; everything else is ours.
    """
    if isinstance(error, StudentFaultError):
        return {
            "verdict": error.verdict,
            "message": _clean(error.message),
            "details": _clean(error.details),
        }
    if isinstance(error, AssertionError):
        first_line = str(error).partition("\n")[0]
        return {"verdict": Verdict.FAILED.value, "message": _clean(first_line)}
    return _fault(error)


def _fault(error: BaseException) -> dict[str, str]:
    message = _clean(f"{type(error).__name__}: {error}")
    return {"verdict": Verdict.GRADER_FAULT.value, "message": message}


def _clean(text: Any) -> str:
    """Cut a text and make sure that it can be shown."""
    return printable(str(text)[:MAX_TEXT])
