"""The examiner's loop: one collected session, one forked child for each submission."""

from __future__ import annotations

import gc
import itertools
import json
import os
import select
import selectors
import signal
import socket
import sys
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
from grader.examiner.messages import UNWRITTEN, Job, Setup, SuiteVariant
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
        server: socket to the sandbox server, which never says anything: it only ends.
    """

    def __init__(
        self, setup: Setup, command: socket.socket, spawner: Spawner, server: socket.socket
    ) -> None:
        self.setup = setup
        self.command = command
        self.spawner = spawner
        self.server = server
        self.waiting: list[Job] = []
        self.broken: list[str] = []
        self.children: dict[int, Child] = {}
        self.tries: Counter[str] = Counter()
        self.partial = b""
        self.open = True
        self.abandoned = False
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
        self.selector.register(self.server, selectors.EVENT_READ)
        try:
            while self.open or self.waiting or self.children:
                self._serve(session)
        finally:  # a child left behind would keep the server, and so this process, for ever
            self._end_children()
        return True

    def _serve(self, session: pytest.Session) -> None:
        """Start what waits, then wait for something to happen and do what follows from it."""
        while self.waiting and len(self.children) < self.setup.jobs:
            self._fork(session, self.waiting.pop(0))
        for key, _ in self.selector.select(self._seconds_to_next_deadline()):
            if key.fileobj is self.server:
                self._lose_server()
            elif key.fileobj is self.command:
                self._receive()
            else:
                self._collect(key.fd)
        self._kill_overdue()

    def _seconds_to_next_deadline(self) -> float | None:
        deadlines = [child.deadline for child in self.children.values()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _kill_overdue(self) -> None:
        """End children that outlive every deadline of their own: a fault of the grader."""
        for child in self.children.values():
            if time.monotonic() > child.deadline:
                os.kill(child.pid, signal.SIGKILL)

    def _receive(self) -> None:
        if self.abandoned:
            return
        try:
            data = self.command.recv(1 << 16)
        except ConnectionError:  # it was killed before it had read all that it was told
            data = b""
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

    def _lose_server(self) -> None:
        """No worker can be started any more: the command starts a new nursery."""
        sys.stderr.write("The sandbox server, which starts the workers, has ended.\n")
        self._abandon()

    def _server_is_gone(self) -> bool:
        poll = select.poll()
        poll.register(self.server, select.POLLIN)
        return bool(poll.poll(0))

    def _abandon(self) -> None:
        """Command or server is gone: drop what waits, end what runs, leave the loop."""
        self.open = False
        self.abandoned = True
        self.waiting.clear()
        for end in (self.command, self.server):
            with suppress(KeyError):
                self.selector.unregister(end)
        self._end_children()

    def _end_children(self) -> None:
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
        if self.abandoned or self._server_is_gone():
            return  # what came of it may be the server's end
        if self._deserves_another_try(child, status):
            self.waiting.insert(0, child.job)
            return
        self._tell({"done": child.job.student, "status": status})

    def _deserves_another_try(self, child: Child, status: int) -> bool:
        """Whether somebody from outside has ended an examination or a worker of it."""
        killed = status < 0 and time.monotonic() <= child.deadline
        return (killed or status == CHILD_DISTURBED) and self.tries[child.job.student] < MAX_TRIES

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
    try:
        write_report(session, job, examination)
    except OSError as error:
        return UNWRITTEN + (error.errno or 0)
    return 0
