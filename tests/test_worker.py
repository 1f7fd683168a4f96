"""One suite for every kind of worker: forked from the warm server, and started cold."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.errors import (
    FrameError,
    WorkerCrashedError,
    WorkerStartError,
    WorkerTimeoutError,
)
from grader.intake.staging import StagingArea
from grader.sandbox.channel import Spawner, Worker
from grader.sandbox.policy import ENVIRONMENT, FIRST_UID, MEGABYTE, UID_COUNT, WorkerPolicy
from grader.sandbox.spawn import ColdSpawner, WarmSpawner
from tests.workers import (
    FILE,
    PATIENCE,
    SECRET,
    SOURCE,
    Server,
    alive,
    ask,
    call,
    constant,
    loaded,
    policy_for,
    sandbox_server,
)

KEPT_BYTES = 65_536
ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def policy() -> Iterator[WorkerPolicy]:
    """Limits for a worker whose submission is staged as the command does it."""
    with StagingArea() as staging:
        imports = "import statistics, sqlite3, csv, xml.dom.minidom, torch.distributions\n"
        sources = [(FILE, SOURCE.encode()), ("imports.py", imports.encode())]
        yield policy_for(staging.stage(sources))


@pytest.fixture(scope="module")
def _privileged_parent() -> Iterator[None]:
    """Give this process, from which all workers come, what none of them may have."""
    groups = os.getgroups()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET, "hidden")
        if ROOT:
            os.setgroups([4242])
        yield
    if ROOT:
        os.setgroups(groups)


@pytest.fixture(scope="module")
def server(_privileged_parent: None) -> Iterator[Server]:
    """A warm server."""
    with sandbox_server() as found:
        yield found


@pytest.fixture(scope="module", params=["warm", "cold"])
def spawner(request: pytest.FixtureRequest, _privileged_parent: None) -> Spawner:
    """Both ways to start a worker."""
    if request.param == "cold":
        return ColdSpawner(KEPT_BYTES)
    return WarmSpawner(request.getfixturevalue("server").requests, KEPT_BYTES)


@pytest.fixture
def start(spawner: Spawner, policy: WorkerPolicy) -> Iterator[Callable[[], Worker]]:
    """Starts workers with SOURCE loaded; they end with the test."""
    started: list[Worker] = []

    def start_one() -> Worker:
        started.append(loaded(spawner, policy))
        return started[-1]

    yield start_one
    for worker in started:
        worker.end()


@pytest.fixture(scope="module")
def shared(spawner: Spawner) -> Iterator[list[Worker]]:
    """Holds the worker of the tests that leave it as it is."""
    kept: list[Worker] = []
    yield kept
    for worker in kept:
        worker.end()


@pytest.fixture
def worker(spawner: Spawner, policy: WorkerPolicy, shared: list[Worker]) -> Worker:
    """A worker that has loaded SOURCE; a new one if a test before has broken it."""
    if not shared or shared[-1].ended:
        shared.append(loaded(spawner, policy))
    return shared[-1]


def test_a_worker_answers(worker: Worker) -> None:
    """Tensors go there and come back."""
    reply, tensors = call(worker, "double")
    assert tensors[reply.output.key].tolist() == [2.0, 4.0]


def test_the_environment_is_clean(worker: Worker) -> None:
    """Exactly the variables of the policy, and nothing of the grader's own."""
    home = constant(worker, "HOME")
    found = dict(constant(worker, "ENVIRONMENT"))
    assert SECRET in os.environ
    assert found == {**ENVIRONMENT, "HOME": home, "TMPDIR": home}


def test_standard_input_is_empty(worker: Worker) -> None:
    """Code that waits for the keyboard gets the end of the file at once."""
    assert constant(worker, "STDIN") == ""


def test_only_the_channel_is_open(worker: Worker) -> None:
    """Besides 0, 1 and 2: one socket, and folders of libraries that others may not enter."""
    kinds = dict(constant(worker, "DESCRIPTORS"))
    assert [kinds.pop(number) for number in (0, 1, 2)] == ["device", "socket", "socket"]
    assert sorted(set(kinds.values()) - {"folder"}) == ["socket"]
    assert list(kinds.values()).count("socket") == 1


@pytest.mark.skipif(not ROOT, reason="only root can become another user")
def test_a_worker_of_root_is_another_user(worker: Worker) -> None:
    """Real and effective ids are its own, and it is in no group."""
    (uid,) = set(constant(worker, "IDS"))
    assert FIRST_UID <= uid < FIRST_UID + UID_COUNT
    assert constant(worker, "GROUPS") == []


def test_no_new_rights_can_be_had(worker: Worker) -> None:
    """A program with the setuid bit would give none."""
    assert constant(worker, "NO_NEW_PRIVS") == 1


def test_the_kernels_limits_are_in_force(worker: Worker, policy: WorkerPolicy) -> None:
    """Soft and hard: dumps, file size, descriptors, processor time, and processes for root."""
    limits = dict(zip(constant(worker, "NAMES"), constant(worker, "LIMITS"), strict=True))
    expected = {
        "CORE": 0,
        "FSIZE": policy.file_mb * MEGABYTE,
        "NOFILE": policy.open_files,
    }
    assert {name: limits[name] for name in expected} == {n: [v, v] for n, v in expected.items()}
    assert limits["CPU"] == [policy.cpu_seconds, policy.cpu_seconds + 5]
    assert not ROOT or limits["NPROC"] == [policy.processes] * 2


def test_memory_has_a_limit(worker: Worker) -> None:
    """Sixteen gigabytes are refused by the kernel, and the worker lives on."""
    reply, _ = call(worker, "hungry")
    assert reply.reply == "faulted"
    assert reply.fault.kind in ("RuntimeError", "MemoryError")
    assert call(worker, "double")[0].reply == "called"


def test_a_file_has_a_limit(worker: Worker) -> None:
    """The disk cannot be filled by one endless file."""
    call(worker, "write_too_much")
    assert constant(worker, "WRITTEN") == "EFBIG"


def test_the_scratch_folder_is_home(worker: Worker) -> None:
    """It is the working directory, and what was written there is there."""
    home = Path(constant(worker, "HOME"))
    assert constant(worker, "HERE") == constant(worker, "TEMPORARY") == str(home)
    assert (home / "note.txt").exists()


def test_modules_not_loaded_before_can_be_imported(worker: Worker) -> None:
    """Also where the interpreter lies in a folder that only its owner may enter."""
    reply, _ = ask(worker, "load", file="imports.py", definitions_only=False)
    assert [(fault.kind, fault.message) for fault in reply.skipped] == []
    assert {"statistics", "sqlite3", "csv"} <= reply.names.keys()


@pytest.mark.parametrize("function", ["huge", "many", "nested"])
def test_a_result_that_cannot_be_sent_is_refused(worker: Worker, function: str) -> None:
    """Too large or of another kind: a description comes instead, and the worker lives on."""
    reply, tensors = call(worker, function)
    described = reply.fault.origin if reply.reply == "faulted" else reply.output.kind
    assert described in ("refused", "foreign")
    assert "t0" not in tensors or tensors["t0"].numel() < 1 << 20
    assert call(worker, "double")[0].reply == "called"


def test_a_constant_that_is_too_long_to_send_is_refused(worker: Worker) -> None:
    """A literal of megabytes becomes a fault, and the worker lives on."""
    reply, _ = ask(worker, "constant", name="LONG")
    assert reply.reply == "faulted"
    assert call(worker, "double")[0].reply == "called"


def test_a_loop_without_end_is_ended(start: Callable[[], Worker]) -> None:
    """At the deadline the question fails, and the process is gone."""
    worker = start()
    pid = constant(worker, "PID")
    assert alive(pid)
    with pytest.raises(WorkerTimeoutError):
        call(worker, "endless", seconds=0.2)
    assert worker.ended
    assert worker.status == -signal.SIGKILL
    assert not alive(pid)


def test_a_process_that_leaves_has_crashed(start: Callable[[], Worker]) -> None:
    """`os._exit(0)` looks like success and is none; its status is known."""
    worker = start()
    with pytest.raises(WorkerCrashedError):
        call(worker, "leave")
    assert worker.status == 0


@pytest.fixture
def warm_worker(server: Server, policy: WorkerPolicy) -> Iterator[Worker]:
    """One kind is enough for what the trusted side alone decides."""
    worker = loaded(WarmSpawner(server.requests, KEPT_BYTES), policy)
    yield worker
    worker.end()


def test_lying_lengths_are_refused(warm_worker: Worker) -> None:
    """Gigabytes that a prefix announces are not waited for."""
    with pytest.raises(FrameError, match="over the cap"):
        call(warm_worker, "lie")
    assert warm_worker.ended


def test_a_forged_answer_is_found_out(warm_worker: Worker) -> None:
    """Whoever answers twice has an answer too many, and the next question fails."""
    assert call(warm_worker, "forge")[0].value == "forged"
    with pytest.raises(FrameError):
        call(warm_worker, "double")
    assert warm_worker.ended


@pytest.mark.skipif(not ROOT, reason="only root can become another user")
def test_two_workers_are_two_users(start: Callable[[], Worker], worker: Worker) -> None:
    """Neither can signal the other or read its files."""
    assert constant(start(), "IDS") != constant(worker, "IDS")


def test_a_worker_computes_simply(worker: Worker) -> None:
    """One thread, and no machine code made for each new shape."""
    assert constant(worker, "COMPUTING") == [1, False]


def test_a_worker_that_cannot_confine_itself_does_not_start(
    spawner: Spawner, policy: WorkerPolicy
) -> None:
    """Without its walls no student code is loaded, and the reason is in the message."""
    broken = WorkerPolicy(policy.folder, 1024, 77, file_mb=1 << 60)
    with pytest.raises(WorkerStartError, match="could not confine itself"):
        spawner.spawn(broken)


def test_a_worker_whose_folder_is_gone_does_not_start(
    spawner: Spawner, policy: WorkerPolicy
) -> None:
    """The reason is in the message, and the next worker starts."""
    with pytest.raises(WorkerStartError, match="No such file"):
        spawner.spawn(WorkerPolicy("/no/such/folder", 1024, 77))
    spawner.spawn(policy).end()


@dataclass(frozen=True)
class Life:
    """What a worker that printed, wrote and started a process has left behind."""

    printed: str
    pid: int
    child: int
    home: Path


@pytest.fixture(scope="module")
def life(spawner: Spawner, policy: WorkerPolicy) -> Iterator[Life]:
    """A worker that has ended in the ordinary way."""
    worker = loaded(spawner, policy)
    for function in ("talk", "start_process"):
        call(worker, function)
    child, home = constant(worker, "CHILD"), Path(constant(worker, "HOME"))
    assert (home / "note.txt").exists()
    pid = constant(worker, "PID")
    worker.end()
    if isinstance(spawner, WarmSpawner):
        # The server takes a request only after it has cleared up behind the one before.
        spawner.spawn(policy).end()
    yield Life(worker.printed, pid, child, home)
    if child and alive(child):
        os.kill(child, signal.SIGKILL)


def test_head_and_tail_of_what_was_printed_are_kept(life: Life) -> None:
    """Three megabytes do not block the worker, and the limit holds."""
    assert life.printed.startswith("first line\n")
    assert life.printed.endswith("last line")
    assert "bytes left out" in life.printed
    assert len(life.printed) < KEPT_BYTES + 100


def test_the_scratch_folder_is_removed(life: Life) -> None:
    """Nothing that student code wrote stays on the disk."""
    assert not life.home.exists()


def test_everything_that_a_worker_started_is_dead(life: Life) -> None:
    """The worker itself, and a process that it has started, if it could start one."""
    assert not alive(life.pid)
    assert not life.child or not alive(life.child)


def test_closing_the_control_socket_ends_a_worker(server: Server, policy: WorkerPolicy) -> None:
    """When the examiner dies its sockets close, and its workers die with it."""
    pairs = [socket.socketpair() for _ in range(3)]
    theirs = [there.fileno() for _, there in pairs]
    socket.send_fds(server.requests, [json.dumps(policy.as_json()).encode()], theirs)
    for _, there in pairs:
        there.close()
    (channel, _), (output, _), (control, _) = pairs
    channel.settimeout(PATIENCE)
    assert b"ready" in channel.recv(100)
    control.close()
    assert channel.recv(100) == b""
    output.close()
    channel.close()


def test_a_server_keeps_nothing_of_workers_that_have_ended(
    server: Server, policy: WorkerPolicy
) -> None:
    """However many a class needs: descriptors, and the uids that they hold, are given back."""
    warm = WarmSpawner(server.requests, KEPT_BYTES)
    open_then = []
    for _ in range(12):
        worker = warm.spawn(policy)
        open_then.append(server.descriptors)
        worker.end()
    # A worker may be heard before the server has closed its ends of what it passed on.
    assert open_then[-1] - open_then[0] <= len(("channel", "output"))


def test_ending_a_worker_leaves_another_graders_workers_alone(
    server: Server, policy: WorkerPolicy
) -> None:
    """Two runs on one machine do not kill each other's processes."""
    foreign = loaded(ColdSpawner(KEPT_BYTES), policy)
    own = loaded(WarmSpawner(server.requests, KEPT_BYTES), policy)
    own.end()
    try:
        assert call(foreign, "double")[0].reply == "called"
    finally:
        foreign.end()


def test_the_server_gone_is_an_error_of_ours(policy: WorkerPolicy) -> None:
    """A spawner without its server says so instead of waiting."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    there.close()
    with here, pytest.raises(WorkerStartError, match="server is gone"):
        WarmSpawner(here, KEPT_BYTES).spawn(policy)
