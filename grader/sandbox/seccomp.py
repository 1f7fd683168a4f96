"""A seccomp filter from the table of system calls: a classic BPF program, built and installed.

Thin and of our own: libseccomp would have to be installed on every machine that grades, its
Python binding has had no release for years, and the filter is two comparisons for each line of
a table.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import struct

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

# linux/bpf_common.h and linux/seccomp.h
LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
IF_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
IF_GREATER = 0x25  # BPF_JMP | BPF_JGT | BPF_K
IF_BITS = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K
ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
REFUSE = 0x00050000 | errno.EPERM
NO_SUCH_CALL = 0x00050000 | errno.ENOSYS
# Offsets in struct seccomp_data; the low half of an argument comes first on both processors.
NUMBER_OFFSET = 0
ARCHITECTURE_OFFSET = 4
FIRST_ARGUMENT_OFFSET = 16

PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2

Instruction = tuple[int, int, int, int]
INSTRUCTION = struct.Struct("HBBI")
# No process has this id: the kernel's largest is 2^22.
PID_PLACEHOLDER = 0xFFFFFFF0
LIBC = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def supported() -> bool:
    """Tell whether there is a table for this machine's processor."""
    return platform.machine() in ARCHITECTURES


def build_filter(machine: str, pid: int) -> list[Instruction]:
    """The filter of one worker.

    Args:
        machine: `x86_64` or `aarch64`.
        pid: the worker's own, the only process that it may signal.

    Returns:
        Instructions as (code, jump if true, jump if false, value).
    """
    architecture, column = ARCHITECTURES[machine]
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE_OFFSET),
        (IF_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER_OFFSET),
        # This also catches the x32 calls of x86-64, whose numbers begin at 2^30.
        (IF_GREATER, 0, 1, NEWEST_KNOWN),
        (RETURN, 0, 0, NO_SUCH_CALL),
        (IF_EQUAL, 0, 1, CLONE3[column]),
        (RETURN, 0, 0, NO_SUCH_CALL),
    ]
    for numbers in DENIED.values():
        program += _unless_absent(numbers[column], [(RETURN, 0, 0, REFUSE)])
    program += _unless_absent(CLONE[column], _if_argument(IF_BITS, [CLONE_THREAD]))
    for numbers in OWN_PROCESS_ONLY.values():
        program += _unless_absent(numbers[column], _if_argument(IF_EQUAL, [pid]))
    for numbers in OWN_PROCESS_OR_ZERO.values():
        program += _unless_absent(numbers[column], _if_argument(IF_EQUAL, [pid, 0]))
    return [*program, (RETURN, 0, 0, ALLOW)]


def _unless_absent(number: int | None, body: list[Instruction]) -> list[Instruction]:
    """Run a body that returns, for one system call."""
    if number is None:
        return []
    return [(IF_EQUAL, 0, len(body), number), *body]


def _if_argument(test: int, values: list[int]) -> list[Instruction]:
    """Allow if the first argument passes the test with one of the values, else refuse."""
    body: list[Instruction] = [(LOAD, 0, 0, FIRST_ARGUMENT_OFFSET)]
    for value in values:
        body += [(test, 0, 1, value), (RETURN, 0, 0, ALLOW)]
    return [*body, (RETURN, 0, 0, REFUSE)]


@functools.cache
def packed_template(machine: str) -> bytes:
    """The filter as the kernel takes it, with a placeholder for the pid: built once, not forked.

    Args:
        machine: `x86_64` or `aarch64`.
    """
    program = build_filter(machine, PID_PLACEHOLDER)
    return b"".join(INSTRUCTION.pack(*instruction) for instruction in program)


def _word(value: int) -> bytes:
    return struct.pack("I", value)


def install_filter() -> None:
    """Put the filter in force for this process.  no_new_privs must be set before.

    Raises:
        OSError: if the kernel refuses.
    """
    template = packed_template(platform.machine())
    packed = template.replace(_word(PID_PLACEHOLDER), _word(os.getpid()))
    argument = _Program(len(packed) // INSTRUCTION.size, packed)
    if LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(argument), 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"seccomp: {os.strerror(error)}")
