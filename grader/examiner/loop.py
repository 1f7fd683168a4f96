"""The examiner's loop: one collected session, one forked child for each submission."""

from __future__ import annotations

import gc
import itertools
import json
import os
import selectors
import signal
import socket
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.examiner.checks import Draw
from grader.examiner.examination import Examination
from grader.examiner.messages import Job, Setup, SuiteVariant
from grader.examiner.plugin import examination_key
from grader.examiner.reports import all_passed, begin_report, forget, write_report
from grader.sandbox.channel import Spawner
from grader.sandbox.confinement import die_with_parent

CHILD_FAILED = 71
CHILD_DISTURBED = 72
MAX_TRIES = 2
MAX_REASON = 1_500  # characters of pytest's own words
# The examination keeps to its own deadline; a child past this one is stuck.  The starts of
# workers come on top, and cold ones take seconds each.
GRACE_SECONDS = 60.0
GRACE_SECONDS_COLD = 900.0


@dataclass(frozen=True)
class Child:
    """A running examination; `deadline` is a time of the monotonic clock."""

    pid: int
    job: Job
    deadline: float


class ExaminerLoop:
    """Takes jobs from the command, forks a child for each, tells when it is done.

    Messages are lines of JSON: `{"job": {...}}` in; `{"ready": [test ids]}` or
    `{"broken": reason}`, then `{"done": student, "status": exit status}` out.

    Args:
        setup: the assignment.
        command: socket to the command.
        spawner: starts workers.
    """

    def __init__(self, setup: Setup, command: socket.socket, spawner: Spawner) -> None:
        self.setup = setup
        self.command = command
        self.spawner = spawner
        self.waiting: list[Job] = []
        self.broken: list[str] = []
        self.children: dict[int, Child] = {}
        self.tries: Counter[str] = Counter()
        self.partial = b""
        self.open = True
        self.selector = selectors.DefaultSelector()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember why a suite could not be collected."""
        if report.failed:
            self.broken.append(str(report.longrepr)[-MAX_REASON:])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve the command instead of running the collected tests once."""
        if self.broken:  # nobody is graded by half of the tests
            self._tell({"broken": "\n".join(self.broken)})
            return True
        for item in session.items:
            _ = item.location  # computed once here instead of in every child
        gc.collect()
        gc.freeze()
        ready: dict[str, object] = {"ready": [item.nodeid for item in session.items]}
        if self.setup.variants:
            ready["variants"] = [v.model_dump() for v in suite_variants(session)]
        self._tell(ready)
        self.selector.register(self.command, selectors.EVENT_READ)
        while self.open or self.waiting or self.children:
            while self.waiting and len(self.children) < self.setup.jobs:
                self._fork(session, self.waiting.pop(0))
            for key, _ in self.selector.select(self._seconds_to_next_deadline()):
                if key.fileobj is self.command:
                    self._receive()
                else:
                    self._collect(key.fd)
            self._kill_overdue()
        return True

    def _seconds_to_next_deadline(self) -> float | None:
        deadlines = [child.deadline for child in self.children.values()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _kill_overdue(self) -> None:
        """End children that outlive every deadline of their own: a fault of the grader."""
        for child in self.children.values():
            if time.monotonic() > child.deadline:
                os.kill(child.pid, signal.SIGKILL)

    def _receive(self) -> None:
        data = self.command.recv(1 << 16)
        if not data:
            self._abandon()
            return
        *lines, self.partial = (self.partial + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "job" in message:
                self.waiting.append(Job.model_validate(message["job"]))
            else:
                self.open = False

    def _abandon(self) -> None:
        """The command is gone: drop what waits, end what runs, leave the loop."""
        self.open = False
        self.waiting.clear()
        with suppress(KeyError):
            self.selector.unregister(self.command)
        for child in self.children.values():
            os.kill(child.pid, signal.SIGKILL)

    def _fork(self, session: pytest.Session, job: Job) -> None:
        self.tries[job.student] += 1
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._be_child(session, job, parent)
        descriptor = os.pidfd_open(pid)
        grace = GRACE_SECONDS_COLD if self.setup.cold else GRACE_SECONDS
        deadline = time.monotonic() + self.setup.submission_seconds + grace
        self.children[descriptor] = Child(pid, job, deadline)
        self.selector.register(descriptor, selectors.EVENT_READ)

    def _collect(self, descriptor: int) -> None:
        child = self.children.pop(descriptor)
        self.selector.unregister(descriptor)
        os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
        if status == CHILD_DISTURBED and self.open:
            self.waiting.insert(0, child.job)
            return
        del self.tries[child.job.student]  # a nursery that is kept may examine the student again
        self._tell({"done": child.job.student, "status": status})

    def _tell(self, message: dict[str, object]) -> None:
        try:
            self.command.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self._abandon()

    def _be_child(self, session: pytest.Session, job: Job, parent: int) -> None:
        """Examine one submission and end the process, whatever happens."""
        try:
            die_with_parent(parent)
            gc.disable()  # the child is gone before its garbage could matter
            self.selector.close()
            self.command.close()
            last_try = self.tries[job.student] >= MAX_TRIES
            os._exit(examine(session, self.setup, job, self.spawner, last_try))
        except BaseException:
            traceback.print_exc()
            os._exit(CHILD_FAILED)


def suite_variants(session: pytest.Session) -> Iterator[SuiteVariant]:
    """Variants of the solutions, as the suites list them under `VARIANTS`."""
    modules = {item.getparent(pytest.Module): None for item in session.items}
    for module in filter(None, modules):
        for variant in getattr(module.obj, "VARIANTS", ()):
            yield SuiteVariant(suite=module.path.name, names=variant.names, source=variant.source)


def run_items(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Run tests, one after the other."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def examine(
    session: pytest.Session, setup: Setup, job: Job, spawner: Spawner, last_try: bool
) -> int:
    """Run every collected test against one submission and write its report.

    The milestones share a worker, since another one costs a fifth more each.  Where a milestone
    does not pass in one that another milestone's code has run in, it is examined again in one of
    its own: what one file does to torch must not cost the other file its points.

    Args:
        session: with the collected tests.
        setup: the assignment.
        job: the submission.
        spawner: starts workers.
        last_try: write the report although a worker was killed from outside; before the last
            try that may have been anybody, and the submission deserves another one.

    Returns:
        Exit status of the child.

    Raises:
        OSError: if report or log cannot be written.
    """
    config = session.config
    Draw.seed = job.seed
    folder = Path(job.folder)
    examination = Examination(setup, job.candidates, folder, None if job.trusted else spawner)
    config.stash[examination_key] = examination
    begin_report(config)
    for suite, tests in itertools.groupby(session.items, key=lambda item: item.path.name):
        items = list(tests)
        run_items(config, items)
        if not all_passed(config, items) and examination.shared_a_worker(suite):
            forget(config, items)
            examination.start_over(suite)
            run_items(config, items)
        if not all_passed(config, items):
            examination.diagnose(suite, getattr(items[0].getparent(pytest.Module), "obj", None))
    examination.end()
    if examination.disturbed and not last_try:
        return CHILD_DISTURBED
    write_report(session, job, examination)
    return 0
