"""The nursery: imports torch once, forks the sandbox server, then becomes the examiner.

The order is the point: the server, and so every worker, is forked before tests and reference
are in memory.  Started by the command as `python -I -m grader.examiner.nursery FD`.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import socket
import sys
from contextlib import suppress

import torch

from grader.examiner.warmth import warm
from grader.sandbox.confinement import PR_SET_PDEATHSIG
from grader.sandbox.libraries import open_libraries
from grader.sandbox.server import SandboxServer


def main() -> int:
    """Serve one command on the socket whose descriptor is the only argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    command = socket.socket(fileno=int(sys.argv[1]))
    torch.set_num_threads(1)
    warm()
    requests = fork_sandbox_server(command)

    # Only now: these modules bring pytest, the tests and the reference into memory.
    from grader.examiner.session import run_session

    return run_session(command, requests)


def fork_sandbox_server(command: socket.socket) -> socket.socket:
    """Fork the server of workers; return the socket that takes requests for them."""
    requests, requests_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gc.collect()
    gc.freeze()
    parent = os.getpid()
    if os.fork() == 0:
        requests.close()
        command.close()
        _die_with(parent)
        SandboxServer(requests_there, open_libraries()).serve()
    requests_there.close()
    return requests


def _die_with(parent: int) -> None:
    """Have the kernel end this process when its parent ends."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        sys.exit(main())
