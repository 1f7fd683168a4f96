"""Starting the nursery's process, early where that saves time.  Imports the standard library only.

Importing torch takes longer than all else, so `grade` starts it before it reads its own modules.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

# Commands that examine nothing.
WITHOUT_NURSERY = frozenset({"diff", "export", "score"})
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
# Settings of the machine that libraries need to compute rightly, passed on as they are.
KEPT_SETTINGS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "TMPDIR")


@dataclass(frozen=True)
class NurseryProcess:
    """A nursery that is starting.

    Attributes:
        channel: socket to it.
        words: what it prints.
    """

    process: subprocess.Popen[bytes]
    channel: socket.socket
    words: IO[bytes]


_early: list[NurseryProcess] = []


def launch() -> NurseryProcess:
    """The nursery that was started early, or a new one."""
    return _early.pop() if _early else _launch()


def launch_early(arguments: Sequence[str]) -> None:
    """Start the nursery if a command line will most probably need it.

    Args:
        arguments: of the command line.
    """
    elsewhere = ("-h", "--help", "--version", "--scheduler")
    wants_nothing = any(word.partition("=")[0] in elsewhere for word in arguments)
    if arguments and not wants_nothing and arguments[0] not in WITHOUT_NURSERY:
        _early.append(_launch())


def discard_early() -> None:
    """End a nursery that nobody has asked for."""
    while _early:
        unused = _early.pop()
        unused.channel.close()
        unused.process.kill()
        unused.process.wait()


def _launch() -> NurseryProcess:
    here, there = socket.socketpair()
    words = tempfile.TemporaryFile()  # noqa: SIM115  # closed by the nursery's user
    kept = {name: os.environ[name] for name in KEPT_SETTINGS if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "grader.examiner.nursery", str(there.fileno())],
        pass_fds=(there.fileno(),),
        stdin=subprocess.DEVNULL,
        stdout=words,
        stderr=words,
        env={**ENVIRONMENT, **kept},
        start_new_session=True,
    )
    there.close()
    return NurseryProcess(process, here, words)
