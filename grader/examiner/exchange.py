"""Exchanges with the loaded file of one milestone: which modules are built, and what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from grader.errors import FrameError
from grader.examiner.answers import by_name
from grader.examiner.foresight import Answered
from grader.examiner.questions import Asked, BuildQuestion, Plain, plain
from grader.examiner.transport import Transport
from grader.sandbox.vocabulary import Built, Faulted, Reply, Several


class Exchange:
    """Puts questions into the words of the boundary, for one load of one file.

    Parameters that a module holds already are not sent again.

    Args:
        transport: how to reach the student's code.
        file: what was loaded.
    """

    def __init__(self, transport: Transport, file: str) -> None:
        self._transport = transport
        self._file = file
        self._handles: dict[BuildQuestion, int] = {}
        self._as_built: dict[BuildQuestion, dict[str, Tensor]] = {}
        self._held: dict[BuildQuestion, dict[str, Tensor]] = {}

    def ask(self, asked: Sequence[Asked]) -> list[Answered]:
        """Put questions in one exchange; their answers come in the same order.

        Raises:
            FrameError: if the answers are not as many; the worker is killed.
        """
        for missing in self._unbuilt(asked):
            (answer,) = self.ask([Asked(missing)])
            if not isinstance(answer[0], Built):
                return [answer] * len(asked)
        parts: list[Plain] = []
        tensors: dict[str, Tensor] = {}
        for number, one in enumerate(asked):
            words, needed = self._worded(one, f"{number}.")
            parts.append({**words, "file": self._file})
            tensors |= needed
        replies, carried = self._exchange(parts, tensors)
        for one, reply in zip(asked, replies, strict=True):
            self._note(one, reply, carried)
        return [(reply, carried) for reply in replies]

    def _unbuilt(self, asked: Sequence[Asked]) -> list[BuildQuestion]:
        """Modules that were built before the student's code lost its state."""
        modules = dict.fromkeys(one.module for one in asked)
        return [m for m in modules if m is not None and m not in self._handles]

    def _worded(self, asked: Asked, prefix: str) -> tuple[Plain, dict[str, Tensor]]:
        if asked.module is None:
            return plain(asked, prefix, None, {})
        held = self._held.get(asked.module, {})
        new = {n: v for n, v in asked.state.items() if held.get(n) is not v}
        # What was asked ahead may have set what this question knows nothing of.
        back = {n: self._as_built[asked.module][n] for n in held if n not in asked.state}
        self._held[asked.module] = dict(asked.state)
        return plain(asked, prefix, self._handles[asked.module], {**back, **new})

    def _exchange(
        self, parts: list[Plain], tensors: dict[str, Tensor]
    ) -> tuple[Sequence[Reply], Mapping[str, Tensor]]:
        if len(parts) == 1:
            reply, carried = self._transport.ask(parts[0], tensors)
            return [reply], carried
        whole = {"question": "several", "questions": parts}
        reply, carried = self._transport.ask(whole, tensors)
        if not isinstance(reply, Several) or len(reply.replies) != len(parts):
            self._transport.restart()
            raise FrameError("several questions did not bring as many answers")
        return reply.replies, carried

    def _note(self, asked: Asked, reply: Reply, carried: Mapping[str, Tensor]) -> None:
        if isinstance(asked.question, BuildQuestion) and isinstance(reply, Built):
            self._handles[asked.question] = reply.handle
            self._as_built[asked.question] = by_name(reply.parameters, carried)
            self._held.pop(asked.question, None)  # that was another module
        if isinstance(reply, Faulted) and asked.module is not None:
            self._held.pop(asked.module, None)  # who knows what it holds now
