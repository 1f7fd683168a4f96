"""What hostile workers leave behind ends no server, stops no other worker, and does not stay."""

from __future__ import annotations

import os
import select
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from grader.errors import ScratchFullError
from grader.intake.staging import StagingArea
from grader.sandbox.channel import Worker
from grader.sandbox.leftovers import end_orphans
from grader.sandbox.policy import ALL_WALLS, SECCOMP, WorkerPolicy
from grader.sandbox.server import MAX_REMOVALS
from grader.sandbox.spawn import WarmSpawner
from tests.workers import FILE, PATIENCE, Server, alive, call, constant, loaded, sandbox_server

SOURCE = b"""
import ctypes, os, threading

PID = os.getpid()
HOME = os.environ["HOME"]

def nest(x):
    here = os.open(".", os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("d")
        os.chdir("d")
    os.fchdir(here)

def crowd_and_talk(x):
    number = 0
    while True:
        number += 1
        os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY))
        if number % 50 == 0:
            print(number, flush=True)

def stay(x):
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()
"""


@pytest.fixture(scope="module")
def policy() -> Iterator[WorkerPolicy]:
    """Limits for a worker with the hostile file."""
    with StagingArea() as staging:
        folder = staging.stage([(FILE, SOURCE)])
        yield WorkerPolicy(folder=str(folder), memory_mb=1024, cpu_seconds=77)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the temporary folders of the server lie; every user reaches it."""
    with tempfile.TemporaryDirectory(prefix="cleaning-") as name:
        Path(name).chmod(0o755)
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


@pytest.fixture
def server(place: Path) -> Iterator[Server]:
    """A server of its own."""
    with sandbox_server() as found:
        yield found


def nest(worker: Worker) -> None:
    """Have a worker make deep folders, unless somebody looks while it is at it."""
    with suppress(ScratchFullError):
        call(worker, "nest")


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens without being told."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        select.select([], [], [], 0.01)


def test_deep_folders_stop_nobody_and_do_not_stay(
    server: Server, policy: WorkerPolicy, place: Path
) -> None:
    """More workers than may be cleaned up after at once leave them; the server goes on."""
    spawner = WarmSpawner(server.requests, 1_000)
    homes = []
    for _ in range(MAX_REMOVALS + 2):
        worker = loaded(spawner, policy)
        homes.append(Path(constant(worker, "HOME")))
        nest(worker)
        worker.end()
        assert worker.status == -signal.SIGKILL
    assert alive(server.pid)
    until(lambda: not any(home.exists() for home in homes))


def test_nothing_of_a_run_is_left_when_it_ends(policy: WorkerPolicy, place: Path) -> None:
    """And the next run in the same place begins with nothing of it."""
    for _ in range(2):
        with sandbox_server() as server:
            worker = loaded(WarmSpawner(server.requests, 1_000), policy)
            nest(worker)
            worker.end()
        until(lambda: not any(place.glob("*grade-*")))


def test_who_talks_all_the_time_keeps_to_the_quota(server: Server, policy: WorkerPolicy) -> None:
    """The files are looked at however busy the worker keeps whoever waits for it."""
    worker = loaded(WarmSpawner(server.requests, 1_000), policy)
    with pytest.raises(ScratchFullError):
        call(worker, "crowd_and_talk")


def test_workers_end_with_a_server_that_is_killed(server: Server, policy: WorkerPolicy) -> None:
    """All that run at the same time."""
    spawner = WarmSpawner(server.requests, 1_000)
    pids = [constant(loaded(spawner, policy), "PID") for _ in range(2)]
    os.kill(server.pid, signal.SIGKILL)
    until(lambda: not any(map(alive, pids)))


@pytest.mark.skipif(os.geteuid() != 0, reason="workers have uids of their own only as root")
def test_a_worker_that_outlives_its_server_is_ended(server: Server, policy: WorkerPolicy) -> None:
    """Where no seccomp keeps it from refusing the signal; other servers' workers are left alone."""
    walls = tuple(wall for wall in ALL_WALLS if wall != SECCOMP)
    worker = loaded(WarmSpawner(server.requests, 1_000), replace(policy, walls=walls))
    pid = constant(worker, "PID")
    call(worker, "stay")
    with sandbox_server() as other:
        neighbour = loaded(WarmSpawner(other.requests, 1_000), policy)
        os.kill(server.pid, signal.SIGKILL)
        until(lambda: not alive(server.pid))
        assert alive(pid)
        end_orphans()
        until(lambda: not alive(pid))
        assert alive(constant(neighbour, "PID"))
        neighbour.end()
