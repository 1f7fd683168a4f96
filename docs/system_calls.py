"""Writes the page about system calls: `python docs/system_calls.py > docs/system-calls.md`."""

from __future__ import annotations

import errno

from grader.sandbox.call_rules import ALWAYS, NEVER, Call, Cases
from grader.sandbox.syscalls import CALLS, FIRST_COMMON, UNLISTED, UNLISTED_COMMON

INTRODUCTION = f"""# System calls of a worker

Made from `grader/sandbox/syscalls.py` by `python docs/system_calls.py > docs/system-calls.md`.

A worker may make the calls of the first table, under the conditions given there (arguments count
from 0). Those of the second table do nothing and report success: honest code makes them on its own
files without caring for the effect, and nothing else keeps them from the files of others. Those of
the third are refused with the error after which Python and C libraries find another way. Every
other call answers {errno.errorcode[UNLISTED]}; from number {FIRST_COMMON} on (Linux 5.1) it
answers {errno.errorcode[UNLISTED_COMMON]}, as if the kernel did not know it. A call by the
convention of another processor, or of x32, ends the worker.
"""


def page() -> str:
    """The page as Markdown."""
    allowed = [(call, _words(call.allowed, call)) for call in CALLS if call.allowed != NEVER]
    pretended = [(call, _words(call.pretended)) for call in CALLS if call.pretended != NEVER]
    refused = [
        (call, errno.errorcode[call.refused])
        for call in CALLS
        if (call.allowed, call.pretended) == (NEVER, NEVER)
    ]
    return (
        INTRODUCTION
        + _table("Carried out", "only if", allowed)
        + _table("Pretended", "only if", pretended)
        + _table("Refused with another error", "error", refused)
    )


def _words(cases: Cases, call: Call | None = None) -> str:
    """Conditions in words; of a call that is refused otherwise with an error of its own, that."""
    if cases == ALWAYS:
        return ""
    words = "; or ".join(" and ".join(check.text for check in case) for case in cases)
    if call is not None and call.refused != UNLISTED:
        words += f" (otherwise {errno.errorcode[call.refused]})"
    return words


def _table(title: str, column: str, rows: list[tuple[Call, str]]) -> str:
    lines = [
        f"| `{call.name}` | {_number(call.x86_64)} | {_number(call.aarch64)} "
        f"| {call.purpose} | {text} |"
        for call, text in rows
    ]
    head = f"\n## {title}\n\n| call | x86-64 | aarch64 | for | {column} |\n|---|---|---|---|---|\n"
    return head + "\n".join(lines) + "\n"


def _number(number: int | None) -> str:
    return "-" if number is None else str(number)


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
