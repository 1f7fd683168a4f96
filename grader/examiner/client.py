"""The command's end of a nursery.  Does not import torch."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from grader.errors import NurseryError, SuiteError
from grader.examiner.messages import Job, Setup, SuiteVariant

LAST_WORDS_BYTES = 2_000
# The nursery and everything below it see this environment only.
ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "Agg",
    # Memory in pages of 2 MB where glibc (2.35 on) can ask for them: a fork has less to copy,
    # which takes a third off its cost.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}


class Nursery:
    """A nursery process; started at once, configured when the rubric is known.

    Attributes:
        variants: variants of the solutions, if the setup has asked for them; known when ready.

    Use it as a context manager: at its end the process and all below it end too.
    """

    variants: Sequence[SuiteVariant] = ()

    def __enter__(self) -> Nursery:
        here, there = socket.socketpair()
        self._socket = here
        self._configured = False
        self._words = tempfile.TemporaryFile()
        environment = {**ENVIRONMENT, **_kept_settings()}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "grader.examiner.nursery", str(there.fileno())],
            pass_fds=(there.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=self._words,
            stderr=self._words,
            env=environment,
            start_new_session=True,
        )
        there.close()
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
            NurseryError: if the nursery ends instead, with its last words.
        """
        message = next(self._lines, None)
        if message is not None and "broken" in message:
            raise SuiteError(
                f"The hidden suites cannot be imported:\n{message['broken']}",
                "Mend the suite; `grade lint` proves it.",
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
        while True:
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
        words = self.last_words() or "It said nothing."
        return NurseryError(
            f"The nursery, which runs the hidden tests, {how}. Its last words:\n{words}",
            "What is graded already is kept: run the same command again to go on.",
        )


def _kept_settings() -> dict[str, str]:
    """Settings of the machine that libraries need to compute rightly, passed on as they are."""
    names = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "TMPDIR")
    return {name: os.environ[name] for name in names if name in os.environ}
