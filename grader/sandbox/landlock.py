"""Landlock: which parts of the file system a worker may reach, by three system calls.

Thin and of our own: the interface is three calls with the same numbers on every processor, and
the packages that wrap it do not serve kernels from ABI 1 on together with Python 3.10.
Source: https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from enum import IntFlag

CREATE_RULESET = 444
ADD_RULE = 445
RESTRICT_SELF = 446
VERSION_FLAG = 1
PATH_BENEATH = 1


class Access(IntFlag):
    """Rights on files, as in linux/landlock.h, with the ABI that brought the later ones."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13  # ABI 2
    TRUNCATE = 1 << 14  # ABI 3
    IOCTL_DEV = 1 << 15  # ABI 5


READ = Access.READ_FILE | Access.READ_DIR
WRITE = (
    READ | Access.WRITE_FILE | Access.REMOVE_DIR | Access.REMOVE_FILE | Access.MAKE_DIR
    | Access.MAKE_REG | Access.MAKE_SYM | Access.REFER | Access.TRUNCATE
)  # fmt: skip
# What can be said of a single file; the rest speaks of what lies in a folder.
ON_FILES = (
    Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEV
)

LIBC = ctypes.CDLL(None, use_errno=True)
# For the call that is made hundreds of times for each worker: types told beforehand take a third
# of the time.
_add_rule = LIBC["syscall"]
_add_rule.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
_add_rule.restype = ctypes.c_long

TCP = 0b11  # bind and connect, ABI 4
SCOPES = 0b11  # abstract sockets and signals, ABI 6


def abi_version() -> int:
    """The kernel's Landlock ABI, 0 if it has none or has it switched off."""
    version = _syscall(CREATE_RULESET, None, 0, VERSION_FLAG)
    return max(0, version)


def handled_access(abi: int) -> Access:
    """All file rights that an ABI can take away."""
    newest = {1: 12, 2: 13, 3: 14, 4: 14}.get(abi, 15)
    return Access((1 << (newest + 1)) - 1)


def make_ruleset(rules: Iterable[tuple[int, Access]], abi: int) -> int:
    """A set of rules, by descriptor, that leaves nothing but these rights on files.

    Where the ABI can, it also takes TCP, and abstract sockets and signals out of the process.

    Args:
        rules: descriptor of a file or folder (O_PATH will do), and what may be done below it.
        abi: from `abi_version`; at least 1.

    Raises:
        OSError: if the kernel refuses.
    """
    handled = handled_access(abi)
    attributes = struct.pack("Q", handled)
    if abi >= 4:
        attributes += struct.pack("Q", TCP)
    if abi >= 6:
        attributes += struct.pack("Q", SCOPES)
    ruleset = _checked(_syscall(CREATE_RULESET, attributes, len(attributes), 0))
    try:
        for descriptor, access in rules:
            rule = struct.pack("=Qi", access.value & handled.value, descriptor)
            _checked(_add_rule(ADD_RULE, ruleset, PATH_BENEATH, rule, 0))
    except OSError:
        os.close(ruleset)
        raise
    return ruleset


def restrict(ruleset: int) -> None:
    """Put a set of rules in force for this process, and close it.

    Raises:
        OSError: if the kernel refuses.
    """
    _checked(_syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    converted = [
        ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_long(value or 0)
        for value in arguments
    ]
    return int(LIBC.syscall(ctypes.c_long(number), *converted))


def _checked(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno() or errno.EPERM
        raise OSError(error, f"landlock: {os.strerror(error)}")
    return result
