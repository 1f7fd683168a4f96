"""A seccomp filter from the table of system calls: a classic BPF program, built and installed.

Thin and of our own: libseccomp would have to be installed on every machine that grades, its
Python binding has had no release for years, and the filter is a search for the call's number and
a few comparisons for each line of a table.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import struct
from collections.abc import Sequence

from grader.sandbox.call_rules import ALWAYS, LOW_HALF, OWN_PROCESS, Call, Case, Check
from grader.sandbox.syscalls import (
    ARCHITECTURES,
    CALLS,
    FIRST_COMMON,
    UNLISTED,
    UNLISTED_COMMON,
    X32_BIT,
)

# linux/bpf_common.h and linux/seccomp.h
LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
JUMP = 0x05  # BPF_JMP | BPF_JA
IF_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
IF_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
IF_BITS = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K
ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
ERROR = 0x00050000  # with the errno in its lower half
PRETEND = ERROR  # an error of 0 is success
# Offsets in struct seccomp_data; the low half of an argument comes first on both processors.
NUMBER_OFFSET = 0
ARCHITECTURE_OFFSET = 4
FIRST_ARGUMENT_OFFSET = 16
ARGUMENT_BYTES = 8

PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2

Instruction = tuple[int, int, int, int]
INSTRUCTION = struct.Struct("HBBI")
VALUE = struct.Struct("I")
# No process has this id, for the kernel's largest is 2^22, and no rule has this value.
PID_PLACEHOLDER = 0x7FFFFFFF
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
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE_OFFSET),
        (IF_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER_OFFSET),
    ]
    if machine == "x86_64":
        program += [(IF_BITS, 0, 1, X32_BIT), (RETURN, 0, 0, KILL_PROCESS)]
    return program + _search(_spans(machine, pid))


def _spans(machine: str, pid: int) -> list[tuple[int, list[Instruction]]]:
    """What is answered to all numbers from one on, up to the next that is named, in order."""
    bodies = {
        number: _answer(call, pid) for call in CALLS if (number := call.number(machine)) is not None
    }
    first, last = 0, max(FIRST_COMMON, *bodies) + 1
    spans: list[tuple[int, list[Instruction]]] = []
    for number in range(first, last + 1):
        unlisted = UNLISTED if number < FIRST_COMMON else UNLISTED_COMMON
        body = bodies.get(number, [(RETURN, 0, 0, ERROR | unlisted)])
        if not spans or spans[-1][1] != body:
            spans.append((number, body))
    return spans


def _search(spans: Sequence[tuple[int, list[Instruction]]]) -> list[Instruction]:
    """Halve the numbers until one span is left: some eight comparisons for any call.

    Jumps under a condition reach 255 instructions far, others as far as need be.
    """
    if len(spans) == 1:
        return spans[0][1]
    middle = len(spans) // 2
    lower, upper = _search(spans[:middle]), _search(spans[middle:])
    return [(IF_AT_LEAST, 0, 1, spans[middle][0]), (JUMP, 0, 0, len(lower)), *lower, *upper]


def _answer(call: Call, pid: int) -> list[Instruction]:
    """Instructions that end with the answer to one call."""
    body: list[Instruction] = []
    for cases, answer in ((call.allowed, ALLOW), (call.pretended, PRETEND)):
        if cases == ALWAYS:
            return [*body, (RETURN, 0, 0, answer)]
        for case in cases:
            body += _case(case, pid, answer)
    return [*body, (RETURN, 0, 0, ERROR | call.refused)]


def _case(case: Case, pid: int, answer: int) -> list[Instruction]:
    """Return the answer if all checks of a case hold, else go on behind it."""
    body: list[Instruction] = [(RETURN, 0, 0, answer)]
    for check in reversed(case):
        body = _check(check, pid, len(body)) + body
    return body


def _check(check: Check, pid: int, behind: int) -> list[Instruction]:
    """Go on if a check holds, else skip that many instructions behind it."""
    offset = FIRST_ARGUMENT_OFFSET + ARGUMENT_BYTES * check.argument
    values = [pid if value == OWN_PROCESS else value for value in check.values]
    body: list[Instruction] = [(LOAD, 0, 0, offset)]
    if check.mask != LOW_HALF:
        body.append((AND, 0, 0, check.mask))
    for index, value in enumerate(values):
        left = len(values) - index - 1
        body.append((IF_EQUAL, left, 0 if left else behind, value))
    if check.wide:
        high = offset + ARGUMENT_BYTES // 2
        body = [(LOAD, 0, 0, high), (IF_EQUAL, 0, len(body) + behind, 0), *body]
    return body


@functools.cache
def packed_template(machine: str) -> tuple[bytes, tuple[int, ...]]:
    """The filter as the kernel takes it, without the pid: built once, and not in a new process.

    Args:
        machine: `x86_64` or `aarch64`.

    Returns:
        The filter, and at which bytes of it the pid belongs.
    """
    program = build_filter(machine, PID_PLACEHOLDER)
    places = tuple(
        index * INSTRUCTION.size + INSTRUCTION.size - VALUE.size
        for index, (code, _, _, value) in enumerate(program)
        if (code, value) == (IF_EQUAL, PID_PLACEHOLDER)
    )
    return b"".join(INSTRUCTION.pack(*instruction) for instruction in program), places


def install_filter() -> None:
    """Put the filter in force for this process.  no_new_privs must be set before.

    Raises:
        OSError: if the kernel refuses.
    """
    template, places = packed_template(platform.machine())
    packed = bytearray(template)
    for place in places:
        VALUE.pack_into(packed, place, os.getpid())
    argument = _Program(len(packed) // INSTRUCTION.size, bytes(packed))
    if LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(argument), 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"seccomp: {os.strerror(error)}")
