"""The system call filter as data, run by a small interpreter: what it refuses and what not."""

from __future__ import annotations

import pytest

from grader.sandbox.seccomp import (
    ALLOW,
    ARCHITECTURE_OFFSET,
    FIRST_ARGUMENT_OFFSET,
    IF_BITS,
    IF_EQUAL,
    IF_GREATER,
    KILL_PROCESS,
    LOAD,
    NO_SUCH_CALL,
    NUMBER_OFFSET,
    REFUSE,
    RETURN,
    build_filter,
)
from grader.sandbox.syscalls import (
    ARCHITECTURES,
    CLONE,
    CLONE3,
    CLONE_THREAD,
    DENIED,
    NEWEST_KNOWN,
    OWN_PROCESS_ONLY,
    OWN_PROCESS_OR_ZERO,
)

PID = 4321
MACHINES = sorted(ARCHITECTURES)
# Calls without which Python and torch do not work: read, write, mmap, futex, openat, getrandom.
NEEDED = {"x86_64": (0, 1, 9, 202, 257, 318), "aarch64": (63, 64, 222, 98, 56, 278)}


def outcome(machine: str, number: int, first: int = 0, architecture: int | None = None) -> int:
    """What the filter answers to one call."""
    program = build_filter(machine, PID)
    data = {
        NUMBER_OFFSET: number,
        ARCHITECTURE_OFFSET: ARCHITECTURES[machine][0] if architecture is None else architecture,
        FIRST_ARGUMENT_OFFSET: first & 0xFFFFFFFF,
    }
    at = register = 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == RETURN:
            return value
        if code == LOAD:
            register = data[value]
            continue
        tests = {
            IF_EQUAL: register == value,
            IF_GREATER: register > value,
            IF_BITS: bool(register & value),
        }
        at += if_true if tests[code] else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_denied_calls_are_refused(machine: str) -> None:
    """Every call of the table is refused, whatever its arguments."""
    column = ARCHITECTURES[machine][1]
    numbers = [row[column] for row in DENIED.values() if row[column] is not None]
    assert {outcome(machine, n, PID) for n in numbers if n is not None} == {REFUSE}


@pytest.mark.parametrize("machine", MACHINES)
def test_needed_calls_are_allowed(machine: str) -> None:
    """What Python and torch live on goes through."""
    assert {outcome(machine, number) for number in NEEDED[machine]} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_only_threads_may_be_cloned(machine: str) -> None:
    """Clone makes threads and no processes; clone3 does not exist."""
    column = ARCHITECTURES[machine][1]
    assert outcome(machine, CLONE[column], CLONE_THREAD | 0x100) == ALLOW
    assert outcome(machine, CLONE[column], 0x11) == REFUSE
    assert outcome(machine, CLONE3[column]) == NO_SUCH_CALL


@pytest.mark.parametrize("machine", MACHINES)
def test_signals_reach_the_own_process_only(machine: str) -> None:
    """A signal to another process, to a group (0) or to everybody (-1) is refused."""
    column = ARCHITECTURES[machine][1]
    for row in OWN_PROCESS_ONLY.values():
        number = row[column]
        assert number is not None
        assert outcome(machine, number, PID) == ALLOW
        assert {outcome(machine, number, pid) for pid in (PID + 1, 1, 0, -1)} == {REFUSE}


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_of_others_stay(machine: str) -> None:
    """prlimit64 works on the own process, named by its pid or by 0."""
    (row,) = OWN_PROCESS_OR_ZERO.values()
    number = row[ARCHITECTURES[machine][1]]
    assert number is not None
    assert {outcome(machine, number, pid) for pid in (0, PID)} == {ALLOW}
    assert outcome(machine, number, PID + 1) == REFUSE


@pytest.mark.parametrize("machine", MACHINES)
def test_unknown_calls_do_not_exist(machine: str) -> None:
    """Calls newer than the table, and the x32 numbers of x86-64, answer ENOSYS."""
    numbers = (NEWEST_KNOWN + 1, 0x40000000, 0x40000000 + 59)
    assert {outcome(machine, number) for number in numbers} == {NO_SUCH_CALL}


@pytest.mark.parametrize("machine", MACHINES)
def test_other_processors_calls_end_the_process(machine: str) -> None:
    """A call by another processor's convention, where numbers mean other things, is the end."""
    assert outcome(machine, 0, architecture=0x40000003) == KILL_PROCESS


def test_no_call_stands_in_two_tables() -> None:
    """Each call has one rule."""
    for column in (0, 1):
        numbers = [row[column] for row in DENIED.values() if row[column] is not None]
        numbers += [row[column] for row in OWN_PROCESS_ONLY.values()]
        numbers += [row[column] for row in OWN_PROCESS_OR_ZERO.values()]
        numbers += [CLONE[column], CLONE3[column]]
        assert len(numbers) == len(set(numbers))
