"""Ways to put a question to a student's file: to a worker across the boundary, or in process."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from grader.errors import (
    FrameError,
    ScratchFullError,
    WorkerCrashedError,
    WorkerStartError,
    WorkerTimeoutError,
)
from grader.examiner.gate import admit
from grader.sandbox.channel import Spawner, Worker
from grader.sandbox.loader import forget_files
from grader.sandbox.policy import WorkerPolicy
from grader.sandbox.runtime import Runtime
from grader.sandbox.vocabulary import Reply, parse_envelope

# Questions that are answered without running a line of the student's code.
OUTLINE, NAMES = "outline", "names"

Question = dict[str, Any]
Answer = tuple[Reply, dict[str, Tensor]]


class Transport(Protocol):
    """Puts a question and brings the answer, with everything that is not one as an error.

    Attributes:
        counted_seconds: wall time that the student's code has taken.
    """

    counted_seconds: float

    @property
    def generation(self) -> int:
        """Changes when the student's code has lost its state."""

    def ask(self, question: Question, tensors: dict[str, Tensor]) -> Answer:
        """Ask once, without any interpretation of the answer."""

    @property
    def fresh(self) -> bool:
        """Whether no code of the student's has run since the last start."""

    def restart(self) -> None:
        """Forget all state of the student's code."""

    def end(self) -> None:
        """End whatever runs."""


class InProcess:
    """Trusted code in this process: the reference, its variants, a benchmark.

    Args:
        folder: where its files lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runtime = Runtime(folder)
        self._next_id = 0
        self._told = False
        self.counted_seconds = 0.0
        self.generation = 0
        self.fresh = True

    def ask(self, question: Question, tensors: dict[str, Tensor]) -> Answer:
        """Answer here and now."""
        self._next_id += 1
        self.fresh = self.fresh and question["question"] in (OUTLINE, NAMES)
        self._told = self._told or bool(tensors)
        header, carried = self._runtime.answer({**question, "id": self._next_id}, tensors)
        return admit(question, parse_envelope(header).body, carried, self._told)

    def restart(self) -> None:
        """Start with a fresh runtime."""
        self._runtime = Runtime(self._folder)
        self.fresh = True
        self._told = False
        self.generation += 1

    def end(self) -> None:
        """Forget the code."""
        forget_files(self._folder)


class Rehearsed(InProcess):
    """The solutions in this process, which nobody can kill if they never end.

    Args:
        folder: where they lie.
        seconds: wall time for each question.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        super().__init__(folder)
        self._seconds = seconds

    def ask(self, question: Question, tensors: dict[str, Tensor]) -> Answer:
        """Answer in time.

        Raises:
            WorkerTimeoutError: if that fails.
        """
        late: list[int] = []

        def interrupt(number: int, frame: object) -> None:
            late.append(number)
            raise TimeoutError

        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        try:
            return super().ask(question, tensors)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            if late:
                raise WorkerTimeoutError(self._seconds)


class Sandboxed:
    """A confined worker, started when first needed and again after it was killed.

    Args:
        spawner: starts workers.
        policy: their limits.
        seconds_left: wall time that the next question may take.

    Attributes:
        status: exit status of the last worker that did not answer.
        fresh: whether no code of the student's has run in the worker.
        counted_seconds: wall time from questions to answers; the starts of workers and what
            this process computes are not the student's.
        killed: whether somebody else than this examiner has killed a worker, or kept it from
            starting.
    """

    def __init__(
        self, spawner: Spawner, policy: WorkerPolicy, seconds_left: Callable[[], float]
    ) -> None:
        self._spawner = spawner
        self._policy = policy
        self._seconds_left = seconds_left
        self._worker: Worker | None = None
        self.status: int | None = None
        self.killed = False
        self.fresh = True
        self._told = False
        self.counted_seconds = 0.0
        self.generation = 0
        self.output: list[str] = []

    def ask(self, question: Question, tensors: dict[str, Tensor]) -> Answer:
        """Ask the worker; see `Worker.ask` and `admit` for the errors."""
        worker = self._worker or self._start()
        self.fresh = self.fresh and question["question"] in (OUTLINE, NAMES)
        self._told = self._told or bool(tensors)
        try:
            reply, carried = self._timed(worker, question, tensors)
            return admit(question, reply, carried, self._told)
        except (FrameError, WorkerCrashedError, WorkerTimeoutError) as error:
            self.status = worker.status
            by_itself = isinstance(error, WorkerCrashedError)
            if by_itself and not isinstance(error, ScratchFullError):
                self.killed = self.killed or self.status in (None, -signal.SIGKILL)
            self.restart()
            if by_itself and self.status is None:
                raise WorkerStartError(
                    "the sandbox server does not tell how a worker ended"
                ) from error
            raise

    def _timed(self, worker: Worker, question: Question, tensors: dict[str, Tensor]) -> Answer:
        begun = time.monotonic()
        try:
            return worker.ask(question, tensors, self._seconds_left())
        finally:
            self.counted_seconds += time.monotonic() - begun

    def _start(self) -> Worker:
        try:
            worker = self._worker = self._spawner.spawn(self._policy)
        except WorkerStartError:
            self.killed = True
            raise
        return worker

    def restart(self) -> None:
        """Kill the worker; the next question starts another."""
        if self._worker is not None:
            self._worker.end()
            self.output.append(self._worker.printed)
            self._worker = None
            self.fresh = True
            self._told = False
            self.generation += 1

    def end(self) -> None:
        """Kill the worker."""
        self.restart()
