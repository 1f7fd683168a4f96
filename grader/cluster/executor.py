"""The command's end of a cluster: hands submissions to Dask workers, one for each thread.

Which worker examines what is decided here and not by Dask's scheduler: a worker that does not fit
must get nothing, one that comes later must be looked at first, and a submission that its worker
was lost with must not go round for ever.  Dask carries and runs what it is given.
"""

from __future__ import annotations

import itertools
import os
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from grader.cluster import remote
from grader.cluster.client import (
    CONNECT_SECONDS,
    Outcome,
    connect,
    tell_outcome,
    without,
    workers_of,
)
from grader.errors import ClusterError, ClusterLostError, SuiteError
from grader.examiner.child import ALTERED
from grader.examiner.messages import UNWRITTEN, Setup
from grader.executor import Work, failure
from grader.files import write_atomically
from grader.sandbox.policy import FILE_WALLS, SECCOMP
from grader.versions import versions

# How long to wait while there is no worker at all: one that was lost is replaced in seconds.
PATIENCE_SECONDS = 60.0
# The same while one is warming up: torch may come from a slow disk.
MEETING_SECONDS = 600.0
LOOK_SECONDS = 1.0
MAX_TRIES = 3
MIN_CAPACITY = 8


@dataclass
class Machine:
    """A Dask worker process.

    Attributes:
        address: where it listens, and its name for people.
        threads: submissions that it examines at the same time.
        walls: around student code there; `None` until it is known and may be used.
        tasks: what it is doing now.
        open: whether it takes work; not when it is paused, or about to end.
        alone: whether what it is doing must have no company.
    """

    address: str
    threads: int
    walls: tuple[str, ...] | None = None
    tasks: set[int] = field(default_factory=set)
    open: bool = True
    alone: bool = False

    def free(self, alone: bool = False) -> bool:
        """Whether it can examine one more submission now.

        Args:
            alone: without any other beside it.
        """
        if self.walls is None or not self.open or (self.tasks and (alone or self.alone)):
            return False
        return len(self.tasks) < self.threads


@dataclass
class Attempt:
    """A submission on its way.

    Attributes:
        tried: ids of the workers that were tried.
        failures: how each try ended.
    """

    work: Work
    tried: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)

    @property
    def last(self) -> bool:
        """Whether there will be no other try: whatever kills a worker then was this one."""
        return len(self.failures) == MAX_TRIES - 1


@dataclass(frozen=True)
class Task:
    """What a machine was given: a submission, or the first meeting."""

    machine: str
    future: Any  # distributed is untyped
    attempt: Attempt | None = None


class Cluster:
    """Examines on the workers of a Dask cluster.

    Use it as a context manager; it connects when the work begins.

    Args:
        address: of the scheduler.
        trusted: take workers also where nothing keeps student code in.
        say: tells whoever runs the command.
        patience: seconds to wait while there is no worker at all.
    """

    def __init__(
        self,
        address: str,
        trusted: bool,
        say: Callable[[str], None],
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._address = address
        self._trusted = trusted
        self._say = say
        self._patience = patience
        self._client: Any = None
        self._machines: dict[str, Machine] = {}
        self._refused: dict[str, str] = {}
        self._numbers = itertools.count()
        self._tasks: dict[int, Task] = {}
        self._waiting: deque[Attempt] = deque()
        self._given_up: deque[tuple[str, str]] = deque()
        self._news: queue.SimpleQueue[tuple[int, Outcome]] = queue.SimpleQueue()
        self._tests: list[str] = []
        self._walls: set[tuple[str, ...]] = set()
        self._looked = self._last_met = 0.0

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            with suppress(OSError):
                self._client.close(timeout=CONNECT_SECONDS)

    @property
    def capacity(self) -> float:
        """See `Executor`; enough that no thread waits for the next submission."""
        threads = sum(machine.threads for machine in self._machines.values())
        return 2 * threads + MIN_CAPACITY

    def begin(self, setup: Setup) -> None:
        """Connect, and meet the workers that are there; see `Executor`.

        Raises:
            ClusterError: if distributed is not installed or no scheduler answers.
        """
        self._packed = remote.pack(setup.model_copy(update={"trusted": self._trusted}))
        self._seed = setup.seed
        self._client = connect(self._address)
        self._last_met = time.monotonic()
        self._look()

    def wait_until_ready(self) -> list[str]:
        """Wait for the first worker that may be used; see `Executor`.

        Raises:
            SuiteError: if a suite cannot be imported.
            ClusterError: if there is no worker, or none that may be used.
        """
        while not any(machine.walls is not None for machine in self._machines.values()):
            self._turn(ClusterError)
        return self._tests

    def submit(self, work: Work) -> None:
        """See `Executor`."""
        self._waiting.append(Attempt(work))

    def next_done(self) -> tuple[str, str]:
        """Wait for an examination to end, and write its report; see `Executor`.

        Raises:
            ClusterLostError: if the scheduler or the last worker is gone.
        """
        while True:
            if self._given_up:
                return self._given_up.popleft()
            self._hand_out()
            done = self._turn(ClusterLostError)
            if done is not None:
                return done

    def walls(self) -> list[tuple[str, ...]]:
        """See `Executor`."""
        return sorted(self._walls)

    def _turn(self, error: type[ClusterError]) -> tuple[str, str] | None:
        """Wait for news, a second at most; the student whose examination is done, if one is."""
        if time.monotonic() - self._looked > LOOK_SECONDS:
            self._look()
        self._check_workers(error)
        try:
            number, outcome = self._news.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            return None
        if outcome.failed:  # perhaps since its worker or the scheduler is gone
            self._look()
        task = self._tasks.pop(number, None)
        if task is None:  # its worker is gone
            return None
        machine = self._machines[task.machine]
        machine.tasks.remove(number)
        if task.attempt is None:
            self._met(machine, outcome)
            return None
        return self._ended(machine, outcome, task.attempt)

    def _check_workers(self, error: type[ClusterError]) -> None:
        """Stop where no worker can be used, nor may soon be.

        Raises:
            ClusterError: of the given class.
        """
        meeting = any(machine.tasks for machine in self._machines.values())
        if any(machine.walls is not None for machine in self._machines.values()):
            self._last_met = time.monotonic()
        elif self._machines and not meeting and error is ClusterError:
            reasons = "\n".join(f"  {where}: {why}" for where, why in self._refused.items())
            raise error(
                f"No worker of {self._address} can be used:\n{reasons}",
                "Install the same versions on all machines; `grade doctor` on one shows its walls.",
            )
        elif time.monotonic() - self._last_met > (MEETING_SECONDS if meeting else self._patience):
            raise error(
                f"{self._address} has had no worker that can be used for "
                f"{time.monotonic() - self._last_met:.0f} seconds.",
                "Start workers and run the same command again; what is graded already is kept.",
            )

    def _look(self) -> None:
        """See which workers have come and gone."""
        self._looked = time.monotonic()
        present = workers_of(self._client)
        if present is None:
            raise ClusterLostError(
                f"The scheduler at {self._address} does not answer any more.",
                "What is graded already is kept: run the same command again to go on.",
            )
        # A nanny's new worker may have its forerunner's name and even its address; the folder
        # tells the two processes apart.
        found = {
            f"{where} {facts['local_directory']}": (where, facts)
            for where, facts in present.items()
        }
        for name in self._machines.keys() - found.keys():
            self._lose(name)
        new = {name: found[name] for name in found.keys() - self._machines.keys()}
        unable = without(self._client, [where for where, _ in new.values()], remote.__name__)
        for name, (address, facts) in new.items():
            self._machines[name] = Machine(address, int(facts["nthreads"]))
            if address in unable:
                self._refuse(self._machines[name], unable[address])
            else:
                self._meet(name)
        for name, (_, facts) in found.items():
            self._machines[name].open = facts["status"] == "running"

    def _lose(self, name: str) -> None:
        """Give what a lost worker was doing to others."""
        machine = self._machines.pop(name)
        self._refused.pop(machine.address, None)
        for number in machine.tasks:
            task = self._tasks.pop(number)
            with suppress(OSError):
                task.future.cancel()
            if task.attempt is not None:
                self._again(task.attempt, f"its worker {machine.address} was lost")

    def _again(self, attempt: Attempt, failed: str) -> None:
        """Try a submission again, in front of the others; never for ever, and never as a zero."""
        attempt.failures.append(failed)
        if len(attempt.failures) < MAX_TRIES:
            self._waiting.appendleft(attempt)
        else:
            reasons = "; ".join(attempt.failures)
            problem = f"It could not be examined on the cluster in {MAX_TRIES} tries: {reasons}."
            self._given_up.append((attempt.work.student, problem))

    def _hand_out(self) -> None:
        """Give work to every free thread.

        A further try goes to another worker if there is one, and the last try has it for itself.
        """
        for _ in range(len(self._waiting)):
            if not any(machine.free() for machine in self._machines.values()):
                return
            attempt = self._waiting.popleft()
            usable = {name for name, m in self._machines.items() if m.walls is not None}
            wanted = usable - attempt.tried or usable
            free = [name for name in wanted if self._machines[name].free(attempt.last)]
            if free:
                self._examine(min(free, key=lambda n: len(self._machines[n].tasks)), attempt)
            else:
                self._waiting.append(attempt)

    def _meet(self, name: str) -> None:
        machine = self._machines[name]
        self._start(name, None, remote.meet, versions(), self._packed, machine.threads)

    def _examine(self, name: str, attempt: Attempt) -> None:
        attempt.tried.add(name)
        self._machines[name].alone = attempt.last
        work, threads = attempt.work, self._machines[name].threads
        facts = (work.facts, work.provenance)
        submission = (work.student, tuple(work.sources), work.candidates, *facts, self._seed)
        self._start(name, attempt, remote.examine, self._packed, threads, *submission)

    def _start(
        self, name: str, attempt: Attempt | None, function: Callable[..., Any], *arguments: Any
    ) -> None:
        """Have a worker, and no other one, do something."""
        machine, number = self._machines[name], next(self._numbers)
        future = self._client.submit(
            function,
            *arguments,
            key=f"grade-{uuid.uuid4().hex}",
            pure=False,
            workers=[machine.address],
            allow_other_workers=False,
        )
        machine.tasks.add(number)
        self._tasks[number] = Task(name, future, attempt)
        tell_outcome(self._client, future, lambda outcome: self._news.put((number, outcome)))

    def _met(self, machine: Machine, outcome: Outcome) -> None:
        """Take a worker on, or leave it out.

        Raises:
            SuiteError: if a suite cannot be imported there.
        """
        answer = outcome.value
        if not outcome.failed and "suites" in answer:
            raise SuiteError(*answer["suites"])
        reason = outcome.failed or reason_to_refuse(answer, self._trusted)
        if reason:
            self._refuse(machine, reason)
        else:
            machine.walls = tuple(answer["walls"])
            self._tests = list(answer["tests"])

    def _refuse(self, machine: Machine, reason: str) -> None:
        self._refused[machine.address] = reason
        self._say(f"grade: the worker {machine.address} is left out: {reason}")

    def _ended(
        self, machine: Machine, outcome: Outcome, attempt: Attempt
    ) -> tuple[str, str] | None:
        """Write the report of an examination, or see to it that there is another try."""
        if outcome.failed:
            self._again(attempt, f"on {machine.address}: {outcome.failed}")
            return None
        status, report, log = outcome.value
        if status >= UNWRITTEN:
            reason = os.strerror(status - UNWRITTEN)
            self._again(attempt, f"on {machine.address}, whose disk cannot be written: {reason}")
            return None
        if status == ALTERED and not attempt.last:
            self._again(attempt, f"on {machine.address}: {failure(status)}")
            return None
        if report:
            write_atomically(attempt.work.log, log)
            write_atomically(attempt.work.report, report)
        assert machine.walls is not None
        self._walls.add(machine.walls)
        return attempt.work.student, failure(status)


def reason_to_refuse(answer: Mapping[str, list[str]], trusted: bool) -> str:
    """Why a worker may not be used; nothing if it may."""
    if "refused" in answer:
        return "; ".join(answer["refused"])
    walls = set(answer["walls"])
    if trusted or (walls & set(FILE_WALLS) and SECCOMP in walls):
        return ""
    missing = "the file system" if not walls & set(FILE_WALLS) else "the network"
    return (
        f"nothing there keeps student code from {missing}; see `grade doctor` on that machine, or "
        "accept it with --trust-submissions"
    )
