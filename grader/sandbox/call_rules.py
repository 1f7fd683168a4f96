"""What a rule on a system call is made of: checks of its arguments, each with its own words.

A rule is data.  `seccomp` turns it into instructions for the kernel, `docs/system_calls.py` into
a page for people, and the tests run it in a small interpreter.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

# Stands for the worker's own process id, which is only known when the filter is put in force.
OWN_PROCESS = -1
LOW_HALF = 0xFFFFFFFF


@dataclass(frozen=True)
class Check:
    """Some bits of one argument have one of some values.

    Attributes:
        argument: which one, from 0 to 5.
        mask: the bits of its low half that count.
        values: what these bits may be, or `OWN_PROCESS`.
        text: the same in words.
        wide: whether the high half must be zero.  Needed where the kernel takes 64 bits; of an
            `int` it never looks at more than the low half, and a caller may leave anything in
            the other.
    """

    argument: int
    mask: int
    values: tuple[int, ...]
    text: str
    wide: bool = False


# All checks of a case must hold; one case that holds is enough.
Case = tuple[Check, ...]
Cases = tuple[Case, ...]
ALWAYS: Cases = ((),)
NEVER: Cases = ()


@dataclass(frozen=True)
class Call:
    """One system call, and what comes of it.

    Attributes:
        x86_64: its number there; `None` where the processor has no such call.
        aarch64: the same.
        purpose: what Python, torch or C libraries do with it.
        allowed: cases in which the kernel carries it out.
        pretended: cases in which it does nothing, and says that all went well.
        refused: the error that it answers otherwise.
    """

    name: str
    x86_64: int | None
    aarch64: int | None
    purpose: str
    allowed: Cases = ALWAYS
    pretended: Cases = NEVER
    refused: int = errno.EPERM

    def number(self, machine: str) -> int | None:
        """Its number on a processor, `x86_64` or `aarch64`."""
        return self.x86_64 if machine == "x86_64" else self.aarch64


def refused(name: str, x86_64: int | None, aarch64: int | None, purpose: str, error: int) -> Call:
    """A call that always answers with an error, after which C libraries or Python fall back."""
    return Call(name, x86_64, aarch64, purpose, NEVER, NEVER, error)


def one_of(argument: int, **values: int) -> Check:
    """The argument, an `int` for the kernel, has one of the named values."""
    text = f"argument {argument} is {_alternatives(values)}"
    return Check(argument, LOW_HALF, tuple(values.values()), text)


def only_bits(argument: int, **bits: int) -> Check:
    """The argument, of 64 bits, has none but the named bits."""
    text = f"argument {argument} has no bits but {', '.join(bits)}"
    return Check(argument, LOW_HALF & ~sum(bits.values()), (0,), text, wide=True)


def without(argument: int, **bits: int) -> Check:
    """The argument has none of the named bits."""
    text = f"argument {argument} is without {', '.join(bits)}"
    return Check(argument, sum(bits.values()), (0,), text)


def null(argument: int) -> Check:
    """The argument is a pointer to nothing."""
    return Check(argument, LOW_HALF, (0,), f"argument {argument} is NULL", wide=True)


def own_process(argument: int, *, zero: bool = False) -> Check:
    """The argument is the worker's own process id, or 0 where that means the same."""
    values = (OWN_PROCESS, 0) if zero else (OWN_PROCESS,)
    text = f"argument {argument} is the own process" + (" or 0" if zero else "")
    return Check(argument, LOW_HALF, values, text)


def _alternatives(values: dict[str, int]) -> str:
    *most, last = values
    return f"{', '.join(most)} or {last}" if most else last
