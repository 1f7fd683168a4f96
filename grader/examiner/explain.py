"""Faults of student code in sentences for a beginner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.errors import StudentFaultError
from grader.model import Verdict
from grader.sandbox.vocabulary import Fault

SHOWN_NAMES = 12

# What often stands behind an exception, by the name of its class.
HINTS = {
    "EOFError": "Your code waits for the keyboard (input()). Nobody types while it is graded.",
    "IndentationError": "Look at the spaces at the start of this line and the line above it.",
    "KeyboardInterrupt": "Your code ends the program. A function must return instead.",
    "MemoryError": "Your code asks for far more memory than this task needs.",
    "ModuleNotFoundError": "Your code imports a module that is not installed for grading.",
    "NotImplementedError": "This part is not written yet.",
    "RecursionError": "A function of yours calls itself without end.",
    "SyntaxError": "Python cannot read this line, so nothing in this file can run.",
    "SystemExit": "Your code ends the program (exit). A function must return instead.",
    "TabError": "This line mixes tabs and spaces at its start. Use spaces only.",
}


def fault_error(fault: Fault, doing: str) -> StudentFaultError:
    """Turn a fault into the finding of a test.

    Args:
        fault: what the student's code raised.
        doing: what was asked of it, such as "calling layernorm_scratch".
    """
    if fault.kind == "RefusedTensor":
        return StudentFaultError(
            Verdict.FAILED.value, f"The result of {doing} cannot be used: it is {fault.message}."
        )
    return StudentFaultError(Verdict.ERROR.value, sentence(fault, doing), text_of(fault))


def sentence(fault: Fault, doing: str) -> str:
    """Say what stopped, where, and what often stands behind it."""
    where = f"line {fault.line} of {fault.file}" if fault.line and fault.file else ""
    if not where and fault.line:
        where = f"line {fault.line}"
    place = f" at {where}" if where else ""
    hint = HINTS.get(fault.kind, "")
    return f"Your code stopped with {fault.kind}{place} while {doing}. {hint}".strip()


def text_of(fault: Fault) -> str:
    """The exception's own words, for criteria that show details."""
    return f"{fault.kind}: {fault.message}" if fault.message else ""


def missing_error(
    wanted: str, kind: str, file: str, names: Mapping[str, str], skipped: Sequence[Fault]
) -> StudentFaultError:
    """A name is not there: say which was looked for and which were found."""
    found = [name for name, what in names.items() if what in ("class", "function")]
    shown = ", ".join(found[:SHOWN_NAMES]) or "none"
    if len(found) > SHOWN_NAMES:
        shown += ", ..."
    message = f"The {kind} {wanted} was not found in {file}. Functions and classes found: {shown}."
    near = [name for name in found if _alike(name, wanted)]
    if near:
        message += f" Is {near[0]} meant? Then rename it to {wanted}: spelling and capitals count."
    if skipped:
        first = skipped[0]
        message += f" Before that, line {first.line} stopped with {first.kind}."
    return StudentFaultError(Verdict.MISSING.value, message, text_of(skipped[0]) if skipped else "")


def _alike(name: str, wanted: str) -> bool:
    import difflib

    ratio = difflib.SequenceMatcher(None, name.lower(), wanted.lower()).ratio()
    return ratio > 0.75


def no_file_error(file: str, present: Sequence[str]) -> StudentFaultError:
    """The milestone's file is not there."""
    shown = ", ".join(present[:SHOWN_NAMES]) or "no Python files"
    return StudentFaultError(
        Verdict.MISSING.value,
        f"The file {file} was not found. Files found: {shown}.",
    )


def timeout_error(doing: str, seconds: float) -> StudentFaultError:
    """The code did not come to an end."""
    return StudentFaultError(
        Verdict.TIMEOUT.value,
        f"Your code did not finish within {seconds:.0f} seconds while {doing}. "
        "Look for a loop that never ends.",
    )


def crashed_error(doing: str, status: int | None) -> StudentFaultError:
    """The process that ran the code ended."""
    how = ""
    if status is not None and status >= 0:
        how = " It ended itself, as os._exit does."
    elif status is not None:
        how = f" It was stopped by signal {-status}, as happens when it takes too much memory."
    return StudentFaultError(
        Verdict.CRASHED.value, f"The process that runs your code ended while {doing}.{how}"
    )


def broken_channel_error(doing: str) -> StudentFaultError:
    """What came back was no answer: something in the student's code disturbed the channel."""
    return StudentFaultError(
        Verdict.CRASHED.value,
        f"While {doing}, the process that runs your code sent something that is not an answer.",
    )
