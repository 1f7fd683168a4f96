"""The examiner's loop: one collected session, and forked children that examine submissions."""

from __future__ import annotations

import gc
import json
import os
import select
import selectors
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from grader.errors import BoundaryError
from grader.examiner.checks import Draw
from grader.examiner.child import ALTERED, DISTURBED, Child
from grader.examiner.examination import Examination
from grader.examiner.foresight import Plan
from grader.examiner.limits import MAX_CPU_SECONDS, Limits
from grader.examiner.messages import UNWRITTEN, Job, Setup, SuiteVariant
from grader.examiner.plugin import examination_key
from grader.examiner.rehearsal import rehearse
from grader.examiner.reports import all_passed, begin_report, forget, write_report
from grader.examiner.running import by_suite, run_items
from grader.examiner.secrecy import exposed
from grader.files import fingerprints
from grader.sandbox.channel import Spawner

MAX_TRIES = 2
# Runs at the same time for which a nursery that is kept knows what will be asked.
MAX_SEEDS = 4
MAX_REASON = 1_500  # characters of pytest's own words
# The examination keeps to its own deadline; a child past this one is stuck.  The starts of
# workers come on top, and cold ones take seconds each.
GRACE_SECONDS = 60.0
GRACE_SECONDS_COLD = 900.0


class ExaminerLoop:
    """Takes jobs from the command, gives them to children, tells when each is done.

    Messages are lines of JSON: `{"job": {...}}` in; `{"ready": [test ids]}` or
    `{"broken": reason}`, `{"exposed": [paths]}` or `{"unproved": reason}`, then
    `{"done": student, "status": exit status}` out.

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
        self.children: list[Child] = []
        self.tries: Counter[str] = Counter()
        self.partial = b""
        self.plans: dict[int, Mapping[str, Plan]] = {}
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
        self._rehearse(session, self.setup.seed)
        unwalled = self._exposed()
        if unwalled:
            self._tell(unwalled)
            return True
        ready: dict[str, object] = {"ready": [item.nodeid for item in session.items]}
        if self.setup.variants:
            ready["variants"] = [v.model_dump() for v in suite_variants(session)]
        self._tell(ready)
        self.selector.register(self.command, selectors.EVENT_READ, self._receive)
        self.selector.register(self.server, selectors.EVENT_READ, self._lose_server)
        try:
            while self.open or self.waiting or self._working():
                self._serve(session)
        finally:  # a child left behind would keep the server, and so this process, for ever
            self._kill_working()
            for child in list(self.children):
                self._dismiss(child)
        return True

    def _exposed(self) -> dict[str, object]:
        """What student code could read although it must not, as a message; empty if nothing."""
        if self.setup.trusted or self.setup.variants:  # solutions need no worker
            return {}
        try:
            found = exposed(self.setup, self.spawner)
        except BoundaryError as error:
            return {"unproved": str(error)}
        return {"exposed": found} if found else {}

    def _serve(self, session: pytest.Session) -> None:
        """Start what waits, then wait for something to happen and do what follows from it."""
        self._give_out(session)
        for key, _ in self.selector.select(self._seconds_to_next_deadline()):
            handle: Callable[[], None] = key.data
            handle()
        self._kill_overdue()

    def _working(self) -> list[Child]:
        return [child for child in self.children if child.job is not None]

    def _give_out(self, session: pytest.Session) -> None:
        """Give waiting jobs to children that are free, forking those that lack."""
        while self.waiting and len(self._working()) < self.setup.jobs:
            job = self.waiting.pop(0)
            child = self._free_child(job) or self._fork(session, job)
            self.tries[job.student] += 1
            grace = GRACE_SECONDS_COLD if self.setup.cold else GRACE_SECONDS
            # Looking ahead may fail twice for each milestone, and that time is not counted.
            grace += 2 * self.setup.question_seconds * len(self.setup.milestones)
            grace += 2 * MAX_CPU_SECONDS  # of ours, on a machine that others use too
            last_try = self.tries[job.student] >= MAX_TRIES
            child.give(job, last_try, self.setup.submission_seconds + grace)

    def _free_child(self, job: Job) -> Child | None:
        """A child that has nothing to do and knows what will be asked; others of them end."""
        for child in [child for child in self.children if child.job is None]:
            if job.trusted or seed_of(job, self.setup) in child.seeds:
                return child
            self._dismiss(child)
        return None

    def _rehearse(self, session: pytest.Session, seed: int) -> None:
        """Learn what will be asked with a seed, and forget the oldest of too many."""
        self.plans[seed] = rehearse(session, self.setup, seed)
        for oldest in list(self.plans)[:-MAX_SEEDS]:
            del self.plans[oldest]
        gc.freeze()

    def _seconds_to_next_deadline(self) -> float | None:
        deadlines = [child.deadline for child in self._working()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _kill_overdue(self) -> None:
        """End children that outlive every deadline of their own: a fault of the grader."""
        for child in self._working():
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
        self._kill_working()

    def _kill_working(self) -> None:
        for child in self._working():
            os.kill(child.pid, signal.SIGKILL)

    def _fork(self, session: pytest.Session, first: Job) -> Child:
        seed = seed_of(first, self.setup)
        if seed not in self.plans and not first.trusted:
            self._rehearse(session, seed)

        def examine_job(job: Job, last_try: bool) -> int:
            plans = self.plans.get(seed_of(job, self.setup), {})
            return examine(session, self.setup, job, self.spawner, plans, last_try)

        def close() -> None:
            self.selector.close()
            self.command.close()
            for other in self.children:
                other.channel.close()

        child = Child(examine_job, close, frozenset(self.plans))
        self.children.append(child)
        self.selector.register(child.channel, selectors.EVENT_READ, lambda: self._collect(child))
        return child

    def _collect(self, child: Child) -> None:
        """Take the status that a child has sent, or its end."""
        job, status = child.done()
        if status is None:
            status = self._dismiss(child)
        elif child.spent:
            self._dismiss(child)
        if job is None or self.abandoned or self._server_is_gone():
            return  # what came of it may be the server's end
        # Somebody from outside has ended the examination or a worker of it.
        killed = status < 0 and time.monotonic() <= child.deadline
        if (status == DISTURBED or killed) and self.tries[job.student] < MAX_TRIES:
            self.waiting.insert(0, job)
        else:
            del self.tries[job.student]  # a nursery that is kept may examine the student again
            self._tell({"done": job.student, "status": status})

    def _dismiss(self, child: Child) -> int:
        """End a child that has nothing to do, and return its exit status."""
        self.children.remove(child)
        self.selector.unregister(child.channel)
        return child.bury()

    def _tell(self, message: dict[str, object]) -> None:
        try:
            self.command.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self._abandon()


def seed_of(job: Job, setup: Setup) -> int:
    """The seed of a job's random numbers."""
    return setup.seed if job.seed is None else job.seed


def suite_variants(session: pytest.Session) -> Iterator[SuiteVariant]:
    """Variants of the solutions, as the suites list them under `VARIANTS`."""
    modules = {item.getparent(pytest.Module): None for item in session.items}
    for module in filter(None, modules):
        for variant in getattr(module.obj, "VARIANTS", ()):
            yield SuiteVariant(suite=module.path.name, names=variant.names, source=variant.source)


def examine(
    session: pytest.Session,
    setup: Setup,
    job: Job,
    spawner: Spawner,
    plans: Mapping[str, Plan],
    last_try: bool,
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
        plans: questions to ask ahead, by suite.
        last_try: write the report although a worker was killed from outside; before the last
            try that may have been anybody, and the submission deserves another one.

    Returns:
        0 if the report is written, `DISTURBED` if the submission deserves another try, `ALTERED`
        if it deserves one with its files staged anew,
        `UNWRITTEN` and an errno if the report cannot be written.
    """
    config = session.config
    Draw.seed = seed_of(job, setup)
    folder = Path(job.folder)
    if job.trusted:
        examination = Examination(setup, job.candidates, folder, None)
    else:
        examination = Examination(setup, job.candidates, folder, spawner, plans, limits=Limits())
    config.stash[examination_key] = examination
    begin_report(config)
    for suite, items in by_suite(session):
        run_items(config, items)
        if not all_passed(config, items) and examination.shared_a_worker(suite):
            forget(config, items)
            examination.start_over(suite)
            run_items(config, items)
        if not all_passed(config, items):
            examination.diagnose(suite, getattr(items[0].getparent(pytest.Module), "obj", None))
    examination.end()
    if job.fingerprints and fingerprints(folder, job.fingerprints) != job.fingerprints:
        return ALTERED
    if examination.disturbed and not last_try:
        return DISTURBED
    try:
        write_report(session, job, examination)
    except OSError as error:
        return UNWRITTEN + (error.errno or 0)
    return 0
