"""Real workers for tests: a sandbox server in a process of its own, and a file for them to load."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from grader.sandbox.channel import Spawner, Worker
from grader.sandbox.policy import WorkerPolicy

PATIENCE = 60.0
FILE = "worker_answer.py"
SECRET = "GRADER_TEST_SECRET"

# Becomes what a nursery is before it loads tests, and hands the server's socket over.
NURSERY = """
import os, socket, sys
import torch
from grader.examiner.nursery import fork_sandbox_server
from grader.examiner.warmth import warm
from grader.sandbox.computing import compute_simply
command = socket.socket(fileno=int(sys.argv[1]))
compute_simply()
warm()
# More than a worker may hold, as where many packages are installed beside the grader.
held = [os.open("/", os.O_PATH) for _ in range(300)]
server, requests = fork_sandbox_server(command)
socket.send_fds(command, [str(server).encode()], [requests.fileno()])
requests.close()
os.waitpid(server, 0)
"""

SOURCE = """
import ctypes, errno, fcntl, json, os, resource, signal, socket, stat, struct, sys, tempfile
import torch

PID = os.getpid()
IDS = [os.getuid(), os.geteuid(), os.getgid(), os.getegid()]
GROUPS = os.getgroups()
ENVIRONMENT = sorted(os.environ.items())
HOME, HERE, TEMPORARY = os.environ["HOME"], os.getcwd(), tempfile.gettempdir()
STDIN = sys.stdin.read()
NO_NEW_PRIVS = ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)
NAMES = ["CORE", "FSIZE", "NOFILE", "CPU", "NPROC"]
LIMITS = [list(resource.getrlimit(getattr(resource, "RLIMIT_" + name))) for name in NAMES]
LONG = ["x" * 10_000] * 200
COMPUTING = [torch.get_num_threads(), torch.backends.mkldnn.enabled]
NOTE = os.path.join(HOME, "note.txt")
with open(NOTE, "w") as stream:
    stream.write("mine")

def descriptors():
    found = []
    for number in range(1024):
        try:
            fcntl.fcntl(number, fcntl.F_GETFD)
        except OSError:
            continue
        mode = os.fstat(number).st_mode
        kinds = [("socket", stat.S_ISSOCK), ("folder", stat.S_ISDIR), ("device", stat.S_ISCHR)]
        found.append([number, ([name for name, test in kinds if test(mode)] + ["other"])[0]])
    return found

DESCRIPTORS = descriptors()

def double(x):
    return x * 2

def endless(x):
    while True:
        pass

def leave(x):
    os._exit(0)

def hungry(x):
    return torch.empty(16 << 30, dtype=torch.uint8)[:2]

def write_too_much(x):
    global WRITTEN
    try:
        with open(NOTE, "wb") as stream:
            for _ in range(40):
                stream.write(b"x" * (1 << 20))
    except OSError as error:
        WRITTEN = errno.errorcode[error.errno]

def huge(x):
    return torch.zeros(20_000_000)

def many(x):
    return [torch.zeros(1 << 20) for _ in range(20)]

def nested(x):
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])

def talk(x):
    print("first line")
    for _ in range(3_000):
        print("y" * 1_000)
    sys.stderr.write("last line")

def start_process(x):
    global CHILD
    CHILD = 0
    try:
        CHILD = os.fork()
    except OSError:
        return
    while CHILD == 0:
        signal.pause()

def channel():
    return next(n for n, kind in descriptors() if kind == "socket" and n > 2)

def forge(x):
    body = {"reply": "constant", "value": "forged", "earlier": [], "foreign": ""}
    text = json.dumps({"id": 1, "body": body}).encode()
    os.write(channel(), struct.pack(">II", len(text), 0) + text)

def lie(x):
    os.write(channel(), struct.pack(">II", 0xFFFFFFFF, 0xFFFFFFFF))
"""


def policy_for(folder: Path) -> WorkerPolicy:
    """Limits that the tests look for again."""
    return WorkerPolicy(folder=str(folder), memory_mb=1024, cpu_seconds=77)


@dataclass(frozen=True)
class Server:
    """A sandbox server: the socket that takes requests, and its process."""

    requests: socket.socket
    pid: int

    @property
    def descriptors(self) -> int:
        """How many descriptors it has open."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))


@contextmanager
def sandbox_server() -> Iterator[Server]:
    """Run a sandbox server in a process of its own."""
    here, there = socket.socketpair()
    with subprocess.Popen(
        [sys.executable, "-c", NURSERY, str(there.fileno())],
        pass_fds=[there.fileno()],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
    ) as process:
        there.close()
        assert process.stdin is not None
        process.stdin.write(b"typed by somebody\n")
        process.stdin.close()
        pid, descriptors, _, _ = socket.recv_fds(here, 16, 1)
        with here, socket.socket(fileno=descriptors[0]) as requests:
            yield Server(requests, int(pid))
        process.wait(PATIENCE)


def ask(
    worker: Worker,
    question: str,
    carried: dict[str, Tensor] | None = None,
    seconds: float = PATIENCE,
    **given: Any,
) -> tuple[Any, dict[str, Tensor]]:
    """Put one question about the loaded file."""
    return worker.ask({"question": question, "file": FILE, **given}, carried or {}, seconds)


def call(worker: Worker, function: str, seconds: float = PATIENCE) -> tuple[Any, dict[str, Tensor]]:
    """Ask for a call with a small tensor."""
    question = {
        "function": function,
        "tensors": [["x", "x0"]],
        "arguments": [],
        "upstream": "",
        "operators": False,
        "input_after": False,
    }
    return ask(worker, "call", {"x0": torch.tensor([1.0, 2.0])}, seconds, **question)


def constant(worker: Worker, name: str) -> Any:
    """A literal at the top level of the loaded file."""
    reply, _ = ask(worker, "constant", name=name, earlier=False)
    assert reply.reply == "constant", reply
    return reply.value


def loaded(spawner: Spawner, policy: WorkerPolicy) -> Worker:
    """A new worker that has loaded SOURCE as a whole."""
    worker = spawner.spawn(policy)
    reply, _ = ask(worker, "load", definitions_only=False)
    assert reply.skipped == ()
    return worker


def alive(pid: int) -> bool:
    """Tell a process from one that has ended, collected or not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"
