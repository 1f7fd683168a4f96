"""A forked child of the examiner: examines one submission after the other.

A child costs a sixth of an examination to fork, and nothing of a submission stays in it, so it
serves several.  It is no wall: the walls stand around the workers.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NoReturn

from grader.examiner.messages import Job
from grader.sandbox.confinement import die_with_parent

FAILED = 71
DISTURBED = 72
# Somebody has touched the staged files meanwhile, so what was found out is not the student's.
ALTERED = 73
# Cycles of dead objects are not looked for in a child: so many submissions leave some 20 MB.
MAX_JOBS = 32

# Examines a submission, knowing whether it is the last try; returns 0 or `DISTURBED`.
Examine = Callable[[Job, bool], int]


class Child:
    """A child as its parent knows it.

    Attributes:
        pid: its process.
        channel: jobs go in and statuses come out.
        job: what it works on, if anything.
        deadline: when that must be done, on the monotonic clock.
        seeds: those whose questions are known to it.

    Args:
        examine: what it does with a job.
        close: closes, in the child, what belongs to the parent only.
        seeds: see above.
    """

    def __init__(
        self, examine: Examine, close: Callable[[], None], seeds: frozenset[int] = frozenset()
    ) -> None:
        self.seeds = seeds
        self.channel, there = socket.socketpair()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            self.channel.close()
            _serve(there, examine, close, parent)
        there.close()
        self.job: Job | None = None
        self.deadline = 0.0
        self._taken = 0

    def give(self, job: Job, last_try: bool, seconds: float) -> None:
        """Have a job done within some seconds of wall time."""
        self.job = job
        self.deadline = time.monotonic() + seconds
        # Trusted code runs in the child itself, which nobody else can use after it.
        self._taken += MAX_JOBS if job.trusted else 1
        message = {"job": job.model_dump(), "last_try": last_try}
        with suppress(OSError):  # it has ended, which `done` tells
            self.channel.sendall(json.dumps(message).encode() + b"\n")

    @property
    def spent(self) -> bool:
        """Whether it takes no more jobs."""
        return self._taken >= MAX_JOBS

    def done(self) -> tuple[Job | None, int | None]:
        """The job that it has just done and how that ended; `None` if the child itself ended."""
        try:
            status = self.channel.recv(1)
        except ConnectionError:  # it was killed before it had read its job
            status = b""
        job, self.job = self.job, None
        return job, status[0] if status else None

    def bury(self) -> int:
        """Wait for the end of the process; return its exit status, negative for a signal."""
        self.channel.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _serve(
    channel: socket.socket, examine: Examine, close: Callable[[], None], parent: int
) -> NoReturn:
    """Do jobs until the parent closes the channel, and end the process, whatever happens."""
    try:
        die_with_parent(parent)
        gc.disable()
        close()
        for line in _lines(channel):
            message = json.loads(line)
            status = examine(Job.model_validate(message["job"]), message["last_try"])
            with suppress(ConnectionError):
                channel.sendall(bytes([status]))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(FAILED)


def _lines(channel: socket.socket) -> Iterator[bytes]:
    """What the parent sends until it closes the channel, or is killed."""
    with suppress(ConnectionError):
        yield from channel.makefile("rb")
