"""The worker: confines itself, then answers questions with the student's code.

It is forked from the warm sandbox server, or started cold with
`python -I -m grader.sandbox.worker` where fork is not to be had.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from grader.errors import FrameError, RefusedTensorError
from grader.sandbox.computing import compute_simply
from grader.sandbox.confinement import Preparation, confine, prepare
from grader.sandbox.libraries import open_libraries
from grader.sandbox.policy import WorkerPolicy
from grader.sandbox.runtime import Runtime
from grader.sandbox.tensors import pack, unpack
from grader.sandbox.wire import PREFIX, decode_prefix, encode_frame

NOT_CONFINED = 70  # exit status of a worker that could not put up its walls
CHANNEL_ENDED = 0
BROKEN = 71
# New objects before Python looks for cycles: a worker lives for a few thousand of them.
GARBAGE_THRESHOLD = 20_000


def serve(
    channel: int,
    output: int,
    policy: WorkerPolicy,
    uid: int | None,
    scratch: Path,
    prepared: Preparation,
    reached: Sequence[int],
    parent: int,
) -> NoReturn:
    """Become a worker: never returns.

    Args:
        channel: descriptor of the socket to the examiner.
        output: descriptor that takes what the student's code prints.
        policy: limits.
        uid: user to become, or `None`.
        scratch: its own empty folder.
        prepared: what `prepare` has returned.
        reached: descriptors of library folders, which stay open.
        parent: pid of the process with which this one must end.
    """
    try:
        _redirect_streams(output)
        connection = socket.socket(fileno=channel)
        connection.setblocking(True)
        confine(policy, uid, scratch, prepared, {channel, *reached}, parent)
    except BaseException as error:
        os.write(2, f"the worker could not confine itself: {error}\n".encode())
        os._exit(NOT_CONFINED)
    sys.dont_write_bytecode = True  # where no wall keeps Python from writing beside the sources
    gc.set_threshold(GARBAGE_THRESHOLD)
    gc.enable()
    connection.sendall(encode_frame({"ready": True}))
    runtime = Runtime(Path(policy.folder))
    try:
        while True:
            _answer_one(connection, runtime)
    except (OSError, EOFError):
        os._exit(CHANNEL_ENDED)
    except BaseException:  # whatever it is, this process must not become the server again
        os._exit(BROKEN)


def _answer_one(connection: socket.socket, runtime: Runtime) -> None:
    header_bytes, payload_bytes = decode_prefix(_receive(connection, PREFIX.size))
    question = json.loads(_receive(connection, header_bytes))  # from the trusted side
    tensors = unpack(_receive(connection, payload_bytes))
    body, carried = runtime.answer(question, tensors)
    try:
        frame = encode_frame(body, pack(carried))
    except (RefusedTensorError, FrameError, ValueError, MemoryError) as error:
        fault = {"kind": "", "message": str(error)[:300], "origin": "refused"}
        refusal = {"reply": "faulted", "fault": fault}
        frame = encode_frame({"id": question["id"], "body": refusal})
    _flush_streams()
    connection.sendall(frame)


def _receive(connection: socket.socket, count: int) -> bytes:
    received = bytearray()
    while len(received) < count:
        part = connection.recv(min(count - len(received), 1 << 20))
        if not part:
            raise EOFError
        received += part
    return bytes(received)


def _redirect_streams(output: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if nothing > 2:
        os.close(nothing)


def _flush_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(BaseException):  # the student may have replaced or closed it
            stream.flush()


def main() -> NoReturn:
    """Start cold: descriptors, policy and scratch folder come as one JSON argument."""
    start = json.loads(sys.argv[1])
    compute_simply()
    policy, scratch = WorkerPolicy.from_json(start["policy"]), Path(start["scratch"])
    libraries, uid = open_libraries(policy.packages), start["uid"]
    prepared = prepare(policy, uid is not None, scratch, libraries.readable)
    serve(
        start["channel"],
        start["output"],
        policy,
        uid,
        scratch,
        prepared,
        libraries.reached,
        os.getppid(),
    )


if __name__ == "__main__":
    main()
