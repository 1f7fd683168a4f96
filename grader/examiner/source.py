"""The sources of a submission, read where none of its code has run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from grader.errors import FrameError, WorkerCrashedError, WorkerTimeoutError
from grader.examiner.transport import NAMES, OUTLINE, Question, Transport
from grader.sandbox.vocabulary import FunctionOutline, Named, Outline, Outlined, Reply

# Whether the names of a file, which may be unknown, tell that its outline is needed.
Telling = Callable[[frozenset[str] | None], bool]


def names_are_enough(names: frozenset[str] | None) -> bool:
    """Where nobody needs an outline beforehand."""
    return False


class Sources:
    """What a submission's files say, read in processes in which none of its code has run.

    Args:
        transport: how to reach that process; it is started anew where code has run in it.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._known: dict[str, Outline | None] = {}
        self._names: dict[str, frozenset[str]] = {}

    def look_ahead(self, file: str, telling: Telling) -> None:
        """Read a file's names if that needs no other process than the one that runs.

        Args:
            file: the file.
            telling: whether its names tell that the outline is needed too, which is read at once.
        """
        if not self._transport.fresh or file in self._names:
            return
        reply = self._ask({"question": NAMES, "file": file})
        if isinstance(reply, Named) and reply.names is not None:
            self._names[file] = frozenset(reply.names)
        if telling(self._names.get(file)) and self._transport.fresh:
            self.outline(file)

    def names(self, file: str) -> frozenset[str] | None:
        """Every name that a file uses, but local variables; `None` if that is not known."""
        return self._names.get(file)

    def outline(self, file: str) -> Outline | None:
        """What a file says; `None` if reading it breaks the process that reads."""
        if file not in self._known:
            if not self._transport.fresh:
                self._transport.restart()
            self._known[file] = self._read(file)
        return self._known[file]

    def _read(self, file: str) -> Outline | None:
        reply = self._ask({"question": OUTLINE, "files": [file]})
        return reply.files.get(file) if isinstance(reply, Outlined) else None

    def _ask(self, question: Question) -> Reply | None:
        """The answer; `None` where the question breaks the process that answers."""
        try:
            return self._transport.ask(question, {})[0]
        except (FrameError, WorkerCrashedError, WorkerTimeoutError):
            return None


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
