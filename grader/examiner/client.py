"""The command's end of a nursery.  Does not import torch."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from grader.errors import ContainmentError, NurseryError, SuiteError
from grader.examiner.launch import launch
from grader.examiner.messages import Job, Setup, SuiteVariant

MAX_EXPOSED = 5
LAST_WORDS_BYTES = 2_000
# A nursery whose socket is closed has this long to end, before how it ended stays unsaid.
ENDING_SECONDS = 10.0
# An interrupt that comes between Python's last look for one and the start of a wait does not end
# the wait: it is seen after so many seconds instead.
LOOK_SECONDS = 1.0


def _exposed_error(paths: Sequence[str]) -> ContainmentError:
    """Files that a worker could read; the first stand for all."""
    shown = "\n".join(f"  {path}" for path in paths[:MAX_EXPOSED])
    more = f"\n  and {len(paths) - MAX_EXPOSED} more" if len(paths) > MAX_EXPOSED else ""
    return ContainmentError(
        f"Student code could read what it must not see, tried before anybody was examined:\n"
        f"{shown}{more}",
        "Close these to other users of this machine (chmod -R go-rwx FOLDER), or move them out of "
        "the folders of Python's packages; or grade in a container, or where the kernel has "
        "Landlock; or accept it with --trust-submissions. `grade doctor` tries it again.",
    )


class Nursery:
    """A nursery process; started at once, configured when the rubric is known.

    Attributes:
        variants: variants of the solutions, if the setup has asked for them; known when ready.

    Use it as a context manager: at its end the process and all below it end too.
    """

    variants: Sequence[SuiteVariant] = ()

    def __enter__(self) -> Nursery:
        started = launch()
        self._process, self._socket, self._words = started.process, started.channel, started.words
        self._configured = False
        self._lines = self._read_lines()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # closing alone would not wake a thread that reads
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        if not self._configured:
            self._process.kill()
        with suppress(subprocess.TimeoutExpired):  # it may be busy, with the solutions perhaps
            self._process.wait(ENDING_SECONDS)
        self._process.kill()
        self._process.wait()
        self._words.close()

    def configure(self, setup: Setup) -> None:
        """Say which assignment is to be examined."""
        self._configured = True
        self._send(setup.model_dump())

    def wait_until_ready(self) -> list[str]:
        """Wait for the suites to be collected; return the ids of all hidden tests.

        Raises:
            SuiteError: if a suite cannot be imported.
            ContainmentError: if student code could read what it must not see.
            NurseryError: if the nursery ends instead, with its last words.
        """
        message = next(self._lines, None)
        if message is not None and "broken" in message:
            raise SuiteError(
                f"The hidden suites cannot be imported:\n{message['broken']}",
                "Mend the suite; `grade lint` proves it.",
            )
        if message is not None and "exposed" in message:
            raise _exposed_error(message["exposed"])
        if message is not None and "unproved" in message:
            raise NurseryError(
                f"No worker could show that its walls hold: {message['unproved']}",
                "`grade doctor` tries every wall.",
            )
        if message is None or "ready" not in message:
            raise self._died("did not start")
        self.variants = [SuiteVariant.model_validate(v) for v in message.get("variants", ())]
        return [str(test) for test in message["ready"]]

    def submit(self, job: Job) -> None:
        """Have one more submission examined."""
        self._send({"job": job.model_dump()})

    def next_done(self) -> tuple[str, int]:
        """Wait for an examination to end: the student, and 0 if the report is there.

        Raises:
            NurseryError: if the nursery ended.
        """
        message = next(self._lines, None)
        if message is None:
            raise self._died("ended before its work was done")
        return str(message["done"]), int(message["status"])

    def last_words(self) -> str:
        """The end of what the nursery printed."""
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - LAST_WORDS_BYTES))
        return self._words.read().decode("utf-8", "replace").strip()

    def _send(self, message: dict[str, object]) -> None:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise self._died("ended before its work was done") from error

    def _read_lines(self) -> Iterator[dict[str, Any]]:
        partial = b""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        while True:
            while not poll.poll(LOOK_SECONDS * 1000):
                pass
            try:
                data = self._socket.recv(1 << 16)
            except ConnectionError:
                data = b""
            if not data:
                return
            *lines, partial = (partial + data).split(b"\n")
            for line in lines:
                yield json.loads(line)

    def _died(self, how: str) -> NurseryError:
        words = self.last_words()
        said = f" Its last words:\n{words}" if words else ""
        return NurseryError(
            f"The nursery, which runs the hidden tests, {how}{self._killed_by()}.{said}",
            "What is graded already is kept: run the same command again to go on.",
        )

    def _killed_by(self) -> str:
        """Which signal has ended the nursery, in brackets; nothing if none has."""
        with suppress(subprocess.TimeoutExpired):
            status = self._process.wait(ENDING_SECONDS)
            if status < 0:
                return f" (killed by signal {-status})"
        return ""
