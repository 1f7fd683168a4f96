"""The trusted end of a worker: one question, one answer, one deadline for both.

Everything that comes back is untrusted: lengths, JSON, schema and tensors are checked before
they are used, and a worker that breaks the rules is killed.
"""

from __future__ import annotations

import select
import socket
import time
from typing import Any, Protocol

from torch import Tensor

from grader.errors import (
    FrameError,
    ScratchFullError,
    WorkerCrashedError,
    WorkerStartError,
    WorkerTimeoutError,
)
from grader.sandbox.output import KeptOutput
from grader.sandbox.policy import WorkerPolicy
from grader.sandbox.tensors import pack, unpack
from grader.sandbox.vocabulary import Reply, parse_envelope
from grader.sandbox.wire import PREFIX, decode_header, decode_prefix, encode_frame

START_SECONDS = 60.0
# How often to look at the files of a worker that takes its time.
WATCH_SECONDS = 0.2
CHUNK = 1 << 16
READABLE = select.POLLIN | select.POLLHUP | select.POLLERR


class Handle(Protocol):
    """What a kind of start (warm or cold) gives to end its worker with."""

    def kill(self) -> int | None:
        """End the worker; return its exit status, negative for a signal, if it is known."""

    def overfull(self) -> bool:
        """Tell whether the worker has written more files than it may."""


class Spawner(Protocol):
    """Starts workers."""

    def spawn(self, policy: WorkerPolicy) -> Worker:
        """Start a worker that has confined itself when this returns.

        Raises:
            WorkerStartError: if that fails; never the student's fault.
        """


class Worker:
    """One worker, seen from the trusted side.

    Args:
        channel: socket to the worker.
        output: socket or pipe end with what it prints.
        handle: ends it.
        kept: keeps head and tail of what it prints.
    """

    def __init__(
        self, channel: socket.socket, output: socket.socket, handle: Handle, kept: KeptOutput
    ) -> None:
        self._channel = channel
        self._output = output
        self._handle = handle
        self._kept = kept
        self._next_id = 0
        self.status: int | None = None
        self.ended = False
        self._looked = time.monotonic()
        channel.setblocking(False)
        output.setblocking(False)
        self._poll = select.poll()
        self._poll.register(channel, select.POLLIN)
        self._poll.register(output, select.POLLIN)

    def wait_until_ready(self) -> None:
        """Wait for the worker's walls to stand.

        Raises:
            WorkerStartError: if it dies or stays silent instead.
        """
        try:
            header, _ = self._exchange(b"", START_SECONDS)
        except (WorkerTimeoutError, WorkerCrashedError, FrameError) as error:
            self.end()
            raise WorkerStartError(
                f"no worker could be started: {error} {self._kept.text()}"
            ) from error
        if header != {"ready": True}:
            self.end()
            raise WorkerStartError("a worker did not greet as workers do")

    def ask(
        self, question: dict[str, Any], tensors: dict[str, Tensor], seconds: float
    ) -> tuple[Reply, dict[str, Tensor]]:
        """Put one question and wait for its answer.

        Args:
            question: plain data with the key `question`.
            tensors: the tensors that it names.
            seconds: wall time for sending, answering and receiving together.

        Raises:
            WorkerTimeoutError: if the answer is not there in time; the worker is killed.
            WorkerCrashedError: if its process ended, or wrote too many files.
            FrameError: if what came is not an answer to this question; the worker is killed.
        """
        number = self._next_id
        self._next_id += 1
        frame = encode_frame({**question, "id": number}, pack(tensors))
        try:
            header, payload = self._exchange(frame, seconds)
            envelope = parse_envelope(header)
            if envelope.id != number:
                raise FrameError("an answer carries the number of another question")
            return envelope.body, unpack(payload)
        except (FrameError, WorkerTimeoutError, WorkerCrashedError):
            self.end()
            raise

    @property
    def printed(self) -> str:
        """Head and tail of what the worker has printed so far."""
        return self._kept.text()

    def end(self) -> None:
        """Kill the worker if it still runs, and take the rest of its output."""
        if self.ended:
            return
        self.ended = True
        self._drain()
        self.status = self._handle.kill()
        self._drain()
        self._channel.close()
        self._output.close()

    def _exchange(self, frame: bytes, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Send a frame and receive one, draining the worker's output all the while."""
        if frame and self._has_unread_bytes():
            raise FrameError("the worker answered before it was asked")
        if frame and time.monotonic() - self._looked > WATCH_SECONDS:
            self._look_at_files()
        deadline = time.monotonic() + seconds
        unsent = memoryview(frame)
        received = bytearray()
        while (needed := _missing_bytes(received)) or unsent:
            if not needed:
                raise FrameError("the worker answered before it was asked")
            left = deadline - time.monotonic()
            if left <= 0:
                raise WorkerTimeoutError(seconds)
            event = self._wait(bool(unsent), min(left, WATCH_SECONDS))
            if time.monotonic() - self._looked >= WATCH_SECONDS:  # also if it never falls silent
                self._look_at_files()
            if event & select.POLLOUT:
                unsent = unsent[self._send(unsent) :]
            if event & READABLE:
                self._receive(received, needed)
        return _split(received)

    def _look_at_files(self) -> None:
        """Check that the worker keeps to its quota."""
        self._looked = time.monotonic()
        if self._handle.overfull():
            raise ScratchFullError("the worker wrote too many files")

    def _wait(self, sending: bool, seconds: float) -> int:
        """Wait for the channel, taking output meanwhile; return what the channel is ready for."""
        self._poll.modify(self._channel, select.POLLIN | (select.POLLOUT if sending else 0))
        ready = dict(self._poll.poll(seconds * 1000))
        if self._output.fileno() in ready and not self._read_output():
            self._poll.unregister(self._output)
        return ready.get(self._channel.fileno(), 0)

    def _send(self, data: memoryview) -> int:
        try:
            return self._channel.send(data[: 1 << 20])
        except BlockingIOError:
            return 0
        except OSError as error:
            raise WorkerCrashedError("the worker ended before it was asked") from error

    def _receive(self, received: bytearray, needed: int) -> None:
        try:
            part = self._channel.recv(min(needed, 1 << 20))
        except BlockingIOError:
            return
        except OSError as error:
            raise WorkerCrashedError("the worker ended before it had answered") from error
        if not part:
            raise WorkerCrashedError("the worker ended before it had answered")
        received += part

    def _has_unread_bytes(self) -> bool:
        try:
            return bool(self._channel.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def _read_output(self) -> bool:
        """Take a piece of output; tell whether more may come."""
        try:
            part = self._output.recv(CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._kept.add(part)
        return bool(part)

    def _drain(self) -> None:
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        # A stream that never dries up is cut here: what matters of it is kept already.
        for _ in range(64):
            if not poll.poll(0) or not self._read_output():
                return


def _missing_bytes(received: bytearray) -> int:
    """How many bytes a frame still lacks, as far as is known."""
    if len(received) < PREFIX.size:
        return PREFIX.size - len(received)
    header_bytes, payload_bytes = decode_prefix(bytes(received[: PREFIX.size]))
    return PREFIX.size + header_bytes + payload_bytes - len(received)


def _split(received: bytearray) -> tuple[dict[str, Any], bytes]:
    header_bytes, _ = decode_prefix(bytes(received[: PREFIX.size]))
    end = PREFIX.size + header_bytes
    return decode_header(bytes(received[PREFIX.size : end])), bytes(received[end:])
