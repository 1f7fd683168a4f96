"""The nursery: imports torch once, forks the sandbox server, then becomes the examiner.

The order is the point: the server, and so every worker, is forked before tests and reference
are in memory.  Started by the command as `python -I -m grader.examiner.nursery FD`.
"""

# ruff: noqa: E402
from __future__ import annotations

import gc

gc.disable()  # what is imported stays: looking for garbage among it takes 0.2 s

import os
import signal
import socket
import sys
from contextlib import suppress

from grader.examiner.warmth import warm
from grader.sandbox.computing import compute_simply
from grader.sandbox.confinement import die_with_parent
from grader.sandbox.leftovers import end_orphans
from grader.sandbox.server import SandboxServer


def main() -> int:
    """Serve one command on the socket whose descriptor is the only argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    command = socket.socket(fileno=int(sys.argv[1]))
    compute_simply()
    warm()
    server, requests = fork_sandbox_server(command)

    # Only now: these modules bring pytest, the tests and the reference into memory.
    from grader.examiner.session import run_session

    try:
        return run_session(command, requests)
    finally:
        requests.close()
        os.waitpid(server, 0)
        end_orphans()  # it may have been killed


def fork_sandbox_server(command: socket.socket) -> tuple[int, socket.socket]:
    """Fork the server of workers; return its pid and the socket that takes requests."""
    requests, requests_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gc.freeze()
    parent = os.getpid()
    server = os.fork()
    if server == 0:
        requests.close()
        command.close()
        die_with_parent(parent)
        SandboxServer(requests_there).serve()
    requests_there.close()
    return server, requests


if __name__ == "__main__":
    status = 1
    with suppress(BrokenPipeError):
        status = main()
        sys.stdout.flush()
    os._exit(status)  # taking the interpreter apart would take 0.3 s
