"""The system call filter as data, run by a small interpreter: what it lets through and what not."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox.seccomp import (
    ALLOW,
    AND,
    ARCHITECTURE_OFFSET,
    ARGUMENT_BYTES,
    ERROR,
    FIRST_ARGUMENT_OFFSET,
    IF_AT_LEAST,
    IF_BITS,
    IF_EQUAL,
    INSTRUCTION,
    JUMP,
    KILL_PROCESS,
    LOAD,
    NUMBER_OFFSET,
    PRETEND,
    RETURN,
    VALUE,
    Instruction,
    build_filter,
    packed_template,
)
from grader.sandbox.syscalls import ARCHITECTURES, CALLS
from tests.corpus_run import ROOT
from tests.refused_calls import REFUSED

PID = 4321
MACHINES = sorted(ARCHITECTURES)
FILTERS = {machine: build_filter(machine, PID) for machine in MACHINES}
# Of one filter (BPF_MAXINSNS).
MOST_INSTRUCTIONS = 4096
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
# Newer than many installed headers.
NEWER = {"fchmodat2"}
HIGH = 1 << 32
OWN_THREAD = 0x003D0F00  # what glibc asks for
# Good arguments of calls of which the kernel takes the low half only.
IGNORED_HIGH: dict[str, tuple[int, ...]] = {
    "openat": (0, 0, 0x241),
    "fcntl": (0, 4, 0x800),
    "ioctl": (0, 0x5401),
    "prctl": (15,),
    "kill": (PID,),
    "futex": (0, 1),
    "madvise": (0, 0, 14),
    "mkdirat": (0, 0, 0o700),
}


def number_of(machine: str, name: str) -> int:
    """The number of a listed call."""
    (number,) = (call.number(machine) for call in CALLS if call.name == name)
    assert number is not None
    return number


def run(program: list[Instruction], data: dict[int, int]) -> tuple[int, int]:
    """What a filter answers to one call, and after how many instructions."""
    at = register = steps = 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        steps += 1
        if code == RETURN:
            return value, steps
        if code == LOAD:
            register = data[value]
        elif code == AND:
            register &= value
        elif code == JUMP:
            at += value
        else:
            holds = {
                IF_EQUAL: register == value,
                IF_AT_LEAST: register >= value,
                IF_BITS: bool(register & value),
            }[code]
            at += if_true if holds else if_false


def outcome(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """What the filter answers to one call."""
    data = {
        NUMBER_OFFSET: number,
        ARCHITECTURE_OFFSET: ARCHITECTURES[machine] if architecture is None else architecture,
    }
    for index in range(6):
        value = arguments[index] if index < len(arguments) else 0
        offset = FIRST_ARGUMENT_OFFSET + index * ARGUMENT_BYTES
        data[offset] = value & 0xFFFFFFFF
        data[offset + ARGUMENT_BYTES // 2] = value >> 32 & 0xFFFFFFFF
    return run(FILTERS[machine], data)[0]


def named(machine: str, name: str, *arguments: int) -> int:
    """What the filter answers to a listed call."""
    return outcome(machine, number_of(machine, name), *arguments)


def refused(answer: int) -> bool:
    """Whether an answer is an error."""
    return answer & 0xFFFF0000 == ERROR and answer != PRETEND


@pytest.mark.parametrize("machine", MACHINES)
def test_only_listed_calls_are_made(machine: str) -> None:
    """Whatever the arguments, a number that is not in the table answers with an error."""
    listed = {call.number(machine) for call in CALLS}
    arguments = [(value,) * 6 for value in (0, 1, PID, HIGH, (1 << 64) - 1)]
    for number in (*range(600), 1 << 20, 0x3FFFFFFF):
        answers = {outcome(machine, number, *given) for given in arguments}
        assert number in listed or all(map(refused, answers)), number


@pytest.mark.parametrize("machine", MACHINES)
def test_known_dangers_are_refused(machine: str) -> None:
    """Calls that are known to do harm are refused by name, newer ones as if they did not exist."""
    for name, row in REFUSED.items():
        number = row[machine == "aarch64"]
        if number is not None:
            error = errno.ENOSYS if number >= 424 else errno.EPERM
            assert outcome(machine, number, PID, PID, PID) == ERROR | error, name


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_without_a_rule_go_through(machine: str) -> None:
    """What is allowed whatever its arguments is allowed, and what is pretended does nothing."""
    for call in CALLS:
        number = call.number(machine)
        if number is not None and call.allowed == ((),):
            assert outcome(machine, number, *[(1 << 64) - 1] * 6) == ALLOW, call.name
        if number is not None and (call.allowed, call.pretended) == ((), ((),)):
            assert outcome(machine, number, *[(1 << 64) - 1] * 6) == PRETEND, call.name


@pytest.mark.parametrize("machine", MACHINES)
def test_what_describes_files_is_never_changed(machine: str) -> None:
    """Modes, owners, times and attributes stay, whatever the call."""
    ends = ("chmod", "chown", "utime", "utimes", "utimensat", "xattr", "chmodat", "chownat")
    family = [call for call in CALLS if call.name.endswith(ends) or "chmodat" in call.name]
    assert len(family) >= 20
    for call in family:
        number = call.number(machine)
        if number is not None:
            answer = outcome(machine, number, PID)
            assert answer == (ERROR | errno.EOPNOTSUPP if "xattr" in call.name else PRETEND)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "clone",
            [(OWN_THREAD,), (OWN_THREAD | 0x01000000,)],
            [(0x11,), (0x4111,), (OWN_THREAD | 0x10000000,), (OWN_THREAD | 0x40000000,),
             (OWN_THREAD | 0x20000,), (OWN_THREAD | 17,), (OWN_THREAD & ~0x10000,),
             (OWN_THREAD | 0x1000,), (OWN_THREAD | HIGH,), (OWN_THREAD | 2 * HIGH,)],
        ),
        ("kill", [(PID, 9), (PID, 0)], [(PID + 1,), (1,), (0,), (-1,), (-PID,)]),
        ("tgkill", [(PID, PID + 5, 6)], [(PID + 1, PID + 1, 9), (0, PID, 9), (-1, PID, 9)]),
        ("prlimit64", [(0, 7), (PID, 7)], [(1, 7), (PID + 1, 7), (-1, 7)]),
        (
            "fcntl",
            [(3, 0), (3, 1), (3, 2, 1), (3, 3), (3, 4, 0x800), (3, 5), (3, 1030), (3, 4, HIGH)],
            [(3, 4, 0x2000), (3, 4, 0x2800), (3, 4, HIGH | 0x2000), (3, 8, PID), (3, 10, 9),
             (3, 15), (3, 1024), (3, 1026), (3, 1031), (3, 1033), (3, 8 | HIGH), (3, -1)],
        ),
        (
            "ioctl",
            [(1, 0x5401), (1, 0x5413), (1, 0x5421), (1, 0x541B), (1, 0x5451), (1, 0x802C542A)],
            [(1, 0x5412), (1, 0x5452), (1, 0x8901), (1, 0x8902), (1, 0x40049409), (1, 0x40086602),
             (1, 0x541C), (1, 0x5402), (1, -1)],
        ),
        (
            "prctl",
            [(15,), (16,), (39,), (3,), (0x53564D41, 0)],
            [(1, 0), (1, 9), (4, 1), (22,), (38,), (36,), (35,), (57,), (0x59616D61,),
             (0x53564D41, 1), (0x53564D41, HIGH), (41,), (24,)],
        ),
        (
            "openat",
            [(0, 0, 0x80000), (0, 0, 0x241), (0, 0, 0x242), (0, 0, 0x4C1), (0, 0, 0x2B0000)],
            [(0, 0, 0x200), (0, 0, 3), (0, 0, 0x203), (0, 0, 0x410002), (0, 0, 0x2000),
             (0, 0, 1 << 24), (0, 0, 1 << 31)],
        ),
        ("mkdirat", [(0, 0, 0o777), (0, 0, 0o700)], [(0, 0, 0), (0, 0, 0o077), (0, 0, 0o500)]),
        ("umask", [(0,), (0o022,), (0o077,)], [(0o777,), (0o700,), (0o100,)]),
        (
            "socketpair",
            [(1, 1), (1, 0x80001), (1, 0x80801)],
            [(2, 1), (1, 2), (1, 5), (1, 3), (16, 3), (0, 1), (1, 0x80002)],
        ),
        ("sendto", [(3, 9, 9, 0, 0, 16)], [(3, 9, 9, 0, 5), (3, 9, 9, 0, HIGH), (3, 9, 9, 0, -1)]),
        (
            "mmap",
            [(0, 1, 3, 0x22), (0, 1, 3, 0x20022), (0, 1, 5, 0x812)],
            [(0, 1, 3, 0x40022), (0, 1, 3, 0x2022), (0, 1, 3, 0x22 | HIGH)],
        ),
        ("madvise", [(0, 1, 4), (0, 1, 14)], [(0, 1, 12), (0, 1, 21), (0, 1, 100), (0, 1, 9)]),
        ("futex", [(0, 0x80), (0, 0x81), (0, 0x189), (0, 1)], [(0, 6), (0, 0x86), (0, 11)]),
        ("clock_nanosleep", [(0,), (1,), (7,)], [(-6,), (8,), (9,), (-2,)]),
        ("close_range", [(3, 9, 0), (3, 9, 4)], [(3, 9, 2), (3, 9, 6)]),
    ],
)  # fmt: skip
def test_arguments_are_checked(
    machine: str, name: str, good: list[tuple[int, ...]], bad: list[tuple[int, ...]]
) -> None:
    """A call with harmless and harmful uses goes through with the harmless arguments only."""
    assert {named(machine, name, *given) for given in good} == {ALLOW}
    assert [given for given in bad if not refused(named(machine, name, *given))] == []


@pytest.mark.parametrize("machine", MACHINES)
def test_what_the_kernel_ignores_does_not_matter(machine: str) -> None:
    """Where the kernel takes 32 bits, rubbish in the high half changes no answer."""
    for name, good in IGNORED_HIGH.items():
        rubbish = [value | 0xDEADBEEF * HIGH for value in good]
        assert named(machine, name, *rubbish) == named(machine, name, *good) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_locks_are_pretended(machine: str) -> None:
    """A worker's locks hold back nobody."""
    assert {named(machine, "fcntl", 3, kind) for kind in (6, 7, 37, 38)} == {PRETEND}
    assert named(machine, "flock", 3, 2) == PRETEND


@pytest.mark.parametrize("machine", MACHINES)
def test_other_conventions_end_the_process(machine: str) -> None:
    """A call by another processor's convention, where numbers mean other things, is the end."""
    assert outcome(machine, 0, architecture=0x40000003) == KILL_PROCESS
    x32 = {outcome("x86_64", 0x40000000 | number) for number in (0, 59, 512)}
    assert x32 == {KILL_PROCESS}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_is_short(machine: str) -> None:
    """The kernel takes it, and no call's number needs a long search."""
    program = FILTERS[machine]
    assert len(program) < MOST_INSTRUCTIONS
    data = {FIRST_ARGUMENT_OFFSET + 4 * half: 0x7FFFFFF1 for half in range(12)}
    data[ARCHITECTURE_OFFSET] = ARCHITECTURES[machine]
    assert max(run(program, {**data, NUMBER_OFFSET: n})[1] for n in range(600)) <= 60


@pytest.mark.parametrize("machine", MACHINES)
def test_the_template_becomes_the_filter(machine: str) -> None:
    """The bytes built in advance are the filter once the pid is put in its places."""
    template, places = packed_template(machine)
    packed = bytearray(template)
    for place in places:
        VALUE.pack_into(packed, place, PID)
    assert list(INSTRUCTION.iter_unpack(packed)) == FILTERS[machine]
    assert len(places) == 3


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_the_kernels(machine: str) -> None:
    """Names and numbers are those of the kernel's headers."""
    if not HEADERS[machine].is_file():
        pytest.skip("no kernel headers")
    rows = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s", HEADERS[machine].read_text())
    numbers = {name: int(number) for name, number in rows}
    numbers |= {"newfstatat": numbers.get("newfstatat", numbers.get("fstatat", -1))}
    ours = {call.name: call.number(machine) for call in CALLS if call.name not in NEWER}
    ours |= {name: row[machine == "aarch64"] for name, row in REFUSED.items()}
    # Calls that the kernel has dropped, or that are newer than the headers, are not in them.
    assert {name: n for name, n in ours.items() if n != numbers.get(name, n)} == {}


def test_no_call_stands_there_twice() -> None:
    """Each number has one rule."""
    for machine in MACHINES:
        numbers = [n for call in CALLS if (n := call.number(machine)) is not None]
        assert len(numbers) == len(set(numbers))


def test_the_page_is_up_to_date() -> None:
    """docs/system-calls.md tells what the table says."""
    script = ROOT / "docs" / "system_calls.py"
    made = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert made.stdout == (ROOT / "docs" / "system-calls.md").read_text()
