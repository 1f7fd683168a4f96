"""A sandbox server that something has ended: never the student's fault."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.errors import WorkerCrashedError, WorkerStartError
from grader.examiner.transport import Question, Sandboxed
from grader.intake.staging import StagingArea
from grader.sandbox.spawn import WarmSpawner
from tests.workers import FILE, Server, policy_for, sandbox_server

LOAD: Question = {"question": "load", "file": FILE, "definitions_only": False}
NAME: Question = {"question": "constant", "file": FILE, "name": "X", "earlier": False}


@pytest.fixture
def server() -> Iterator[Server]:
    """A sandbox server."""
    with sandbox_server() as found:
        yield found


def transport(server: Server, folder: Path) -> Sandboxed:
    return Sandboxed(WarmSpawner(server.requests, 1_000), policy_for(folder), lambda: 30.0)


def ask_until_it_ends(asked: Sandboxed) -> None:
    """A worker may answer until the kernel has ended it after its server."""
    while True:
        asked.ask(NAME, {})


def test_its_end_is_a_fault_of_the_grader_and_deserves_another_try(server: Server) -> None:
    """Its workers die with it: that looks like a crash, which would cost points."""
    with StagingArea() as staging:
        asked = transport(server, staging.stage([(FILE, b"X = 1\n")]))
        asked.ask(LOAD, {})
        os.kill(server.pid, signal.SIGKILL)
        with pytest.raises(WorkerStartError, match="does not tell how a worker ended"):
            ask_until_it_ends(asked)
        assert asked.killed
        again = transport(server, staging.root)
        with pytest.raises(WorkerStartError):
            again.ask(LOAD, {})
        assert again.killed


def test_a_worker_that_ends_itself_is_the_students_fault(server: Server) -> None:
    """The server tells how it ended."""
    with StagingArea() as staging:
        asked = transport(server, staging.stage([(FILE, b"import os\nos._exit(3)\n")]))
        with pytest.raises(WorkerCrashedError):
            asked.ask(LOAD, {})
        assert (asked.status, asked.killed) == (3, False)
