"""The command's end of a nursery, while it waits."""

from __future__ import annotations

import os
import platform
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from grader.examiner.client import Nursery
from tests.workers import PATIENCE

# Numbers of poll (or ppoll) and recvfrom.
RECEIVING = {"x86_64": ("7", "45"), "aarch64": ("73", "207")}


class SignalledError(Exception):
    """Raised by the handler of the test's signal."""


@contextmanager
def interrupts() -> Iterator[None]:
    """Have SIGUSR1 do what SIGINT does, so that pytest is left alone."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise SignalledError

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def waits(thread: int) -> bool:
    """Whether a thread of this process waits to receive something."""
    call = Path(f"/proc/self/task/{thread}/syscall").read_text().split()[0]
    return call in RECEIVING[platform.machine()]


def interrupt_beside(
    waiting: int, nursery: Nursery, seen: threading.Event, overlooked: list[int]
) -> None:
    """Once a thread waits, have the signal come in this one: it does not end the wait.

    Where it is overlooked, the nursery's end does.
    """
    while not waits(waiting):
        os.sched_yield()
    signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
    if not seen.wait(PATIENCE):
        overlooked.append(signal.SIGUSR1)
        nursery.__exit__(None, None, None)


@pytest.mark.skipif(
    platform.machine() not in RECEIVING or not Path("/proc/self/syscall").exists(),
    reason="the kernel does not tell what a thread waits for",
)
def test_an_interrupt_that_does_not_end_the_wait_is_seen_all_the_same() -> None:
    """As one that comes just before the wait: nothing else would ever wake the command."""
    seen = threading.Event()
    overlooked: list[int] = []
    with Nursery() as nursery, interrupts():
        arguments = threading.get_native_id(), nursery, seen, overlooked
        beside = threading.Thread(target=interrupt_beside, args=arguments)
        beside.start()
        with pytest.raises(SignalledError):
            nursery.next_done()
        seen.set()
        beside.join()
    assert not overlooked
