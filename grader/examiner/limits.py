"""What the trusted side may spend on one submission.

It computes with numbers, shapes and names that students choose.  The gate bounds those; this is
the wall behind it: whoever still makes the examiner take too much pays for it alone.  The limits
are set anew for each submission, since a child of the examiner serves several.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.errors import OutOfTimeError, StudentFaultError
from grader.model import Verdict

# Honest submissions take some 0.3 s and 50 MB of this process; the largest frames 300 MB.
MAX_CPU_SECONDS = 20.0
MAX_MEMORY_BYTES = 1 << 30
# How torch tells that it was refused memory.
NO_MEMORY = ("can't allocate memory", "not enough memory", "bad_alloc")
TOO_MUCH = (
    "What your code answers takes the examiner too much {what} to look at, so the rest of it is "
    "not examined. The likely cause: far more parameters or values than this task needs."
)


class Limits:
    """What is left for one submission, in this process.

    Args:
        cpu_seconds: processor time.
        memory_bytes: address space above what the process holds when this is made.
    """

    def __init__(
        self, cpu_seconds: float = MAX_CPU_SECONDS, memory_bytes: int = MAX_MEMORY_BYTES
    ) -> None:
        self._seconds = cpu_seconds
        self._spent = ""
        self._computing = False
        held = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = held + memory_bytes
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, self._out_of_time)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Compute for the submission.

        Raises:
            StudentFaultError: if that takes too much, or something before it did.
        """
        if self._spent:
            raise _finding(self._spent)
        try:
            with self._watched():
                yield
        except (OutOfTimeError, MemoryError, RuntimeError) as error:
            self._spent = _what_ran_out(error)
            if not self._spent:
                raise
            raise _finding(self._spent) from None

    @contextmanager
    def _watched(self) -> Iterator[None]:
        begun = time.process_time()
        self._computing = True
        signal.setitimer(signal.ITIMER_PROF, max(self._seconds, 0.001))
        try:
            yield
        finally:
            self._computing = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._seconds -= time.process_time() - begun

    def _out_of_time(self, number: int, frame: object) -> None:
        if self._computing:
            raise OutOfTimeError


def _what_ran_out(error: Exception) -> str:
    if isinstance(error, OutOfTimeError):
        return "time"
    refused = isinstance(error, MemoryError) or any(words in str(error) for words in NO_MEMORY)
    return "memory" if refused else ""


def _finding(what: str) -> StudentFaultError:
    return StudentFaultError(Verdict.FAILED.value, TOO_MUCH.format(what=what))
