"""Exceptions of student code as plain data."""

from __future__ import annotations

import traceback
from pathlib import Path

from grader.sandbox.vocabulary import Fault, Frame

MAX_MESSAGE = 400
MAX_FRAMES = 8


def fault_of(error: BaseException, folder: Path, line: int = 0) -> Fault:
    """Describe an exception by its kind, its text and the student's own frames.

    Args:
        error: what was raised.
        folder: frames of files below it are the student's own.
        line: where to point when no such frame is left.
    """
    frames = _own_frames(error, folder)
    file = frames[-1].file if frames else ""
    where = frames[-1].line if frames else line
    if isinstance(error, SyntaxError) and error.lineno:
        file = Path(error.filename or "").name
        where = error.lineno
    return Fault(
        kind=_clean(type(error).__name__, 100),
        message=_clean(_text(error), MAX_MESSAGE),
        file=_clean(file, 200),
        line=max(0, where),
        frames=tuple(frames[-MAX_FRAMES:]),
    )


def _text(error: BaseException) -> str:
    try:
        return str(error.msg if isinstance(error, SyntaxError) else error)
    except BaseException:
        return "(its text cannot be shown)"


def _own_frames(error: BaseException, folder: Path) -> list[Frame]:
    try:
        stack = traceback.extract_tb(error.__traceback__, limit=-200)
    except BaseException:
        return []
    return [
        Frame(
            file=_clean(Path(entry.filename).name, 200),
            line=entry.lineno or 0,
            function=_clean(entry.name, 200),
        )
        for entry in stack
        if entry.filename.startswith(str(folder))
    ]


def _clean(text: str, limit: int) -> str:
    """Cut a text and replace what cannot be written as UTF-8."""
    cut = text if len(text) <= limit else text[: limit - 3] + "..."
    return cut.encode("utf-8", "replace").decode("utf-8")
