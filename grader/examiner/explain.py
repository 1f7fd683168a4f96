"""Faults of student code in sentences for a beginner."""

from __future__ import annotations

import difflib
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.errors import StudentFaultError
from grader.examiner.wording import EXCEPTIONS, exception_word, value_word
from grader.model import Verdict
from grader.sandbox.vocabulary import Fault, Loaded

SHOWN_NAMES = 12
# The cause of a missing name when one like it is there.
MISSPELLED = "misspelled"
# How torch's own NotImplementedError of a module without forward begins.
# A module as large as this is not looked at: what follows grows with the number of its parameters.
TOO_MANY_PARAMETERS = (
    "it holds more than 256 parameters, or more than a million numbers in them. This task needs a "
    "few small ones, so it is not examined further."
)
NO_FORWARD = 'missing the required "forward"'

# What often stands behind an exception, by the name of its class.
HINTS = {
    "EOFError": "Your code waits for the keyboard (input()). Nobody types while it is graded.",
    "IndentationError": "Look at the spaces at the start of this line and the line above it.",
    "KeyboardInterrupt": "Your code ends the program. A function must return instead.",
    "MemoryError": "Your code asks for far more memory than this task needs.",
    "ModuleNotFoundError": "Your code imports a module that is not installed for grading.",
    "RecursionError": "A function of yours calls itself without end.",
    "SyntaxError": "Python cannot read this line, so nothing in this file can run.",
    "SystemExit": "Your code ends the program (exit). A function must return instead.",
    "TabError": "This line mixes tabs and spaces at its start. Use spaces only.",
}


# Pieces of an exception's text that tell more than its class; the sentence shown is ours.
TEXT_HINTS = (
    ("a leaf Variable that requires grad", "Your code changes its input in place, as x -= does."),
    ("can't allocate memory", HINTS["MemoryError"]),
    ("not compiled with CUDA", "Your code asks for a graphics card. Grading has none."),
    ("Found no NVIDIA driver", "Your code asks for a graphics card. Grading has none."),
    ("before Module.__init__() call", "Call super().__init__() first in __init__."),
    ("positional argument", "Look at the arguments in the stub: yours differ."),
    ("unexpected keyword argument", "Look at the arguments in the stub: yours differ."),
    ("shapes cannot be multiplied", "Two matrices do not fit. Print their shapes."),
    ("must match the size of tensor", "Two tensors do not fit. Print their shapes."),
)


# What a signal means that ends a process, where its number alone does not tell a beginner.
SIGNALS: Mapping[int, str] = {
    signal.SIGABRT: ", as os.abort and broken native code send it",
    signal.SIGILL: ": the processor met what is no instruction",
    signal.SIGKILL: ", as happens when it takes too much memory",
    signal.SIGSEGV: ": it used memory that is not its own",
    signal.SIGSYS: ": it made a system call that nobody may make here",
    signal.SIGXCPU: ": it used up its processor time",
}


@dataclass(frozen=True)
class Doing:
    """What the examiner was doing when something happened.

    Attributes:
        what: the end of the sentence "... while ...".
        given: the input, for those who may read details.
    """

    what: str
    given: str = ""


def fault_error(fault: Fault, doing: Doing) -> StudentFaultError:
    """Turn a fault into the finding of a test.

    Args:
        fault: what the student's code raised.
        doing: what was asked of it.
    """
    if fault.origin == "refused":
        word = value_word(fault.message)
        message = f"While {doing.what}, the result cannot be used: it is {word}."
        return StudentFaultError(Verdict.FAILED.value, message, doing.given)
    if fault.origin == "too-many-parameters":
        message = f"While {doing.what}: {TOO_MANY_PARAMETERS}"
        return StudentFaultError(Verdict.FAILED.value, message, doing.given)
    details = " ".join(filter(None, [doing.given, text_of(fault)]))
    return _error(fault, sentence(fault, doing.what), details)


def _error(fault: Fault, message: str, details: str = "") -> StudentFaultError:
    return StudentFaultError(
        Verdict.ERROR.value, message, details, kind=known_kind(fault), text=fault.message
    )


def known_kind(fault: Fault) -> str:
    """The class of an exception if everybody knows it: for the diagnosis, which goes by it."""
    return fault.kind if fault.kind in EXCEPTIONS else ""


def load_error(fault: Fault, doing: Doing) -> StudentFaultError:
    """A file could not be loaded.

    The exception's own words are in the message if no hidden input was there to be told.
    """
    words = text_of(fault)
    message = sentence(fault, doing.what) + (f" Python says: {words}" if words else "")
    return _error(fault, message)


def sentence(fault: Fault, doing: str) -> str:
    """Say what stopped, where, and what often stands behind it."""
    place = f" at line {fault.line}" if fault.line else ""
    if place and fault.file:
        place += f" of {fault.file}"
    if fault.kind == "NotImplementedError":
        if NO_FORWARD in fault.message:
            return "The class has no method with the name forward. Is the name misspelled?"
        return f"This part is not written yet: the code stops{place} while {doing}."
    by_text = (hint for piece, hint in TEXT_HINTS if piece in fault.message)
    hint = HINTS.get(fault.kind) or next(by_text, "")
    kind = exception_word(fault.kind)
    return f"Your code stopped with {kind}{place} while {doing}. {hint}".strip()


def text_of(fault: Fault) -> str:
    """The exception's own words, if no hidden input was there when they were said."""
    if not fault.quotable or not fault.message or fault.kind == "NotImplementedError":
        return ""
    return f"{fault.kind}: {fault.message}"


def missing_error(wanted: str, kind: str, file: str, loaded: Loaded) -> StudentFaultError:
    """A name is not there: say which was looked for and, if they may be told, which were found."""
    names, skipped = loaded.names if loaded.quotable else {}, loaded.skipped
    found = [name for name, what in names.items() if what in ("class", "function")]
    message = f"The {kind} {wanted} was not found in {file}."
    if kind != "constant" and loaded.quotable:
        shown = ", ".join(found[:SHOWN_NAMES]) or "none"
        more = ", ..." if len(found) > SHOWN_NAMES else ""
        message += f" Functions and classes found: {shown}{more}."
    near = [name for name in found if _alike(name, wanted)]
    if near or len(found) == 1:
        meant = near[0] if near else found[0]
        message += f" Is {meant} meant? Then rename it to {wanted}: spelling and capitals count."
    if skipped:
        first = skipped[0]
        place = f"line {first.line}" if first.line else "the file"
        message += f" Before that, {place} stopped with {exception_word(first.kind)}."
    details = text_of(skipped[0]) if skipped else ""
    renamed = near or (len(found) == 1 and names[found[0]] == kind)
    behind = known_kind(skipped[0]) if skipped else ""
    kind = MISSPELLED if renamed else behind
    text = skipped[0].message if skipped else ""
    return StudentFaultError(Verdict.MISSING.value, message, details, kind=kind, text=text)


def _alike(name: str, wanted: str) -> bool:
    ratio = difflib.SequenceMatcher(None, name.lower(), wanted.lower()).ratio()
    return ratio > 0.75


def no_file_error(file: str, present: Sequence[str]) -> StudentFaultError:
    """The milestone's file is not there."""
    shown = ", ".join(sorted(present)[:SHOWN_NAMES]) or "no Python files"
    return StudentFaultError(
        Verdict.MISSING.value,
        f"The file {file} was not found. Files found: {shown}.",
    )


def timeout_error(doing: Doing, seconds: float, limit: float) -> StudentFaultError:
    """The code did not come to an end.

    Args:
        doing: what was asked of it.
        seconds: how long it was given.
        limit: how long one answer may take; more than `seconds` when the submission's time as
            a whole was nearly used up.
    """
    if seconds < limit:
        message = f"The time for your whole submission was used up while {doing.what}."
    else:
        message = f"Your code did not finish within {seconds:.0f} seconds while {doing.what}."
    return StudentFaultError(
        Verdict.TIMEOUT.value, f"{message} Look for a loop that never ends.", doing.given
    )


def crashed_error(doing: Doing, status: int | None) -> StudentFaultError:
    """The process that ran the code ended."""
    how = ""
    if status is not None and status >= 0:
        how = " It ended itself, as os._exit does."
    elif status is not None:
        how = f" It was stopped by signal {-status}{SIGNALS.get(-status, '')}."
    return StudentFaultError(
        Verdict.CRASHED.value,
        f"The process that runs your code ended while {doing.what}.{how}",
        doing.given,
    )


def scratch_error(doing: Doing) -> StudentFaultError:
    """The code filled its folder with files."""
    return StudentFaultError(
        Verdict.CRASHED.value,
        f"Your code was stopped while {doing.what}: it writes too many or too large files.",
        doing.given,
    )


def broken_channel_error(doing: Doing) -> StudentFaultError:
    """What came back was no answer: something in the student's code disturbed the channel."""
    return StudentFaultError(
        Verdict.CRASHED.value,
        f"While {doing.what}, the process that runs your code sent what is not an answer.",
    )
