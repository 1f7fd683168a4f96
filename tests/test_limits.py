"""What the examiner may spend on one submission: its end is that submission's finding only."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
import torch

from grader.errors import StudentFaultError
from grader.examiner.limits import Limits


def in_a_child(check: Callable[[], None]) -> int:
    """Run something that sets limits in a process of its own; 0 if it went well."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            check()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def expect_spent(limits: Limits, what: str, compute: Callable[[], object]) -> None:
    """Computing ends in a finding, and so does whatever comes after it."""
    for attempt in (compute, lambda: None):
        with pytest.raises(StudentFaultError, match=f"too much {what} to look at"), limits.kept():
            attempt()


def endless() -> None:
    """Take all the processor time there is."""
    while True:
        pass


def hungry() -> None:
    """Ask for 4 GB."""
    torch.ones(1 << 30)


def hungry_for_bytes() -> None:
    """Ask for as much without torch."""
    bytearray(1 << 32)


@pytest.mark.parametrize(
    ("what", "compute"),
    [("time", endless), ("memory", hungry), ("memory", hungry_for_bytes)],
    ids=["time", "tensor", "bytes"],
)
def test_who_takes_too_much_is_told_so(what: str, compute: Callable[[], object]) -> None:
    """The rest of that submission is not examined; the next one starts anew."""

    def check() -> None:
        limits = Limits(cpu_seconds=0.05) if what == "time" else Limits(memory_bytes=1 << 28)
        expect_spent(limits, what, compute)
        with Limits().kept():
            torch.ones(1 << 10)

    assert in_a_child(check) == 0


def test_an_error_of_another_kind_stays_what_it_is() -> None:
    """A fault of ours is not taken for the student's."""

    def check() -> None:
        limits = Limits()
        with pytest.raises(RuntimeError, match="shapes"), limits.kept():
            raise RuntimeError("shapes do not fit")
        with limits.kept():
            pass

    assert in_a_child(check) == 0
