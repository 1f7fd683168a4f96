"""The sources of a submission as outlines, read before any of its code has run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from grader.errors import FrameError, WorkerCrashedError, WorkerTimeoutError
from grader.examiner.transport import OUTLINE, Transport
from grader.sandbox.vocabulary import FunctionOutline, Outline, Outlined

MAX_FILES = 40


def read_outlines(transport: Transport, files: Iterable[str]) -> dict[str, Outline]:
    """The outline of each file; none if reading them breaks the process that reads."""
    wanted = list(dict.fromkeys(files))[:MAX_FILES]
    if not wanted:
        return {}
    try:
        reply, _ = transport.ask({"question": OUTLINE, "files": wanted}, {})
    except (FrameError, WorkerCrashedError, WorkerTimeoutError):
        return {}
    return dict(reply.files) if isinstance(reply, Outlined) else {}


def reached_from(outline: Outline, name: str) -> list[FunctionOutline]:
    """A function and those of the same file that it calls, directly or not.

    Args:
        outline: of the file.
        name: a function, or a class, which stands for all of its methods.
    """
    by_name: Mapping[str, Sequence[FunctionOutline]] = {
        key: [f for f in outline.functions if key in (f.name, f.name.partition(".")[0])]
        for key in {part for f in outline.functions for part in (f.name, f.name.partition(".")[0])}
    }
    found: dict[str, FunctionOutline] = {}
    waiting = [name]
    while waiting:
        for function in by_name.get(waiting.pop(), ()):
            if function.name not in found:
                found[function.name] = function
                waiting += function.calls
    return list(found.values())
