"""The sandbox server: forks one worker for each request, and ends it when nobody needs it.

It is forked from the nursery after torch is warm and before any test is loaded, so a worker's
memory holds neither tests nor reference.  It stays single-threaded.  A request is one packet
with a policy and three descriptors: the worker's channel, its output and a control socket.
Closing the control socket ends the worker.
"""

from __future__ import annotations

import array
import json
import os
import platform
import selectors
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from grader.errors import MissingPackageError, WorkerStartError
from grader.sandbox import seccomp, worker
from grader.sandbox.confinement import prepare
from grader.sandbox.libraries import Libraries, open_libraries
from grader.sandbox.policy import LANDLOCK, SECCOMP, SHARED_FOLDERS, UID, WorkerPolicy
from grader.sandbox.uids import UidClaim, claim_uid
from grader.temporary import TemporaryFolder

REQUEST_BYTES = 16_384
REQUEST_DESCRIPTORS = 3


@dataclass(frozen=True)
class RunningWorker:
    """A worker as its server knows it."""

    pid: int
    control: socket.socket
    pidfd: int
    scratch: Path
    walls: Sequence[str]
    claim: UidClaim | None


class SandboxServer:
    """Serves requests until the other end of its socket is closed.

    Args:
        requests: packet socket on which requests arrive.
    """

    def __init__(self, requests: socket.socket) -> None:
        self.requests = requests
        self._libraries = open_libraries()  # most assignments declare no others
        if seccomp.supported():
            seccomp.packed_template(platform.machine())  # workers find it ready
        self.root = TemporaryFolder("scratch")
        self.selector = selectors.DefaultSelector()
        self.selector.register(requests, selectors.EVENT_READ, self._accept)
        self.running: dict[int, RunningWorker] = {}
        self.open = True

    def serve(self) -> NoReturn:
        """Serve until the examiner is gone, then leave nothing behind."""
        try:
            while self.open:
                for key, _ in self.selector.select():
                    handle: Callable[[], None] = key.data
                    handle()
        finally:
            for running in list(self.running.values()):
                self._end(running)
            self.root.remove()
            os._exit(0)

    def _accept(self) -> None:
        descriptors = array.array("i")
        space = socket.CMSG_SPACE(REQUEST_DESCRIPTORS * descriptors.itemsize)
        data, ancillary, _, _ = self.requests.recvmsg(REQUEST_BYTES, space)
        if not data:
            self.open = False
            return
        for _, _, content in ancillary:
            descriptors.frombytes(content)
        channel, output, control_there = descriptors
        control = socket.socket(fileno=control_there)
        policy = WorkerPolicy.from_json(json.loads(data))
        try:
            running = self._start(policy, channel, output, control)
        except (
            OSError,
            WorkerStartError,
            MissingPackageError,
        ) as error:  # the channel closes, which the examiner sees
            with suppress(OSError):
                os.write(output, f"the server could not start it: {error}\n".encode())
            control.close()
            return
        finally:
            os.close(channel)
            os.close(output)
        self.running[running.pid] = running
        self.selector.register(control, selectors.EVENT_READ, lambda: self._end(running))
        self.selector.register(running.pidfd, selectors.EVENT_READ, lambda: self._end(running))
        with suppress(OSError):  # the examiner is gone, which shows soon
            control.send(json.dumps({"scratch": str(running.scratch)}).encode())

    def _start(
        self, policy: WorkerPolicy, channel: int, output: int, control: socket.socket
    ) -> RunningWorker:
        claim = claim_uid() if UID in policy.walls and os.geteuid() == 0 else None
        scratch = Path(tempfile.mkdtemp(dir=self.root.path))
        try:
            uid = claim.uid if claim else None
            if uid is not None:
                os.chown(scratch, uid, uid)
            pid, pidfd = self._fork(policy, uid, scratch, channel, output)
        except OSError:
            shutil.rmtree(scratch, ignore_errors=True)
            if claim is not None:
                claim.release()
            raise
        return RunningWorker(pid, control, pidfd, scratch, policy.walls, claim)

    def _fork(
        self, policy: WorkerPolicy, uid: int | None, scratch: Path, channel: int, output: int
    ) -> tuple[int, int]:
        """Fork a worker; return its pid and a descriptor of it."""
        libraries = self._libraries_for(policy)
        prepared = prepare(policy, uid is not None, scratch, libraries.readable)
        try:
            pid = os.fork()
            if pid == 0:
                reached = libraries.reached
                worker.serve(channel, output, policy, uid, scratch, prepared, reached)
        finally:
            if prepared.rules is not None:
                os.close(prepared.rules)
        try:
            return pid, os.pidfd_open(pid)
        except OSError:  # nobody could end it later
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise

    def _libraries_for(self, policy: WorkerPolicy) -> Libraries:
        """What a worker may read; opened again only for an assignment that declares other packages.

        Raises:
            MissingPackageError: if one of them is not installed.
        """
        if self._libraries.packages != policy.packages:
            self._libraries = open_libraries(policy.packages)
        return self._libraries

    def _end(self, running: RunningWorker) -> None:
        """Kill a worker and all it has started, tell how it ended, remove its scratch."""
        if running.pid not in self.running:
            return
        signal.pidfd_send_signal(running.pidfd, signal.SIGKILL)
        _, status = os.waitpid(running.pid, 0)
        if running.claim is not None:
            clear_up_after(running.claim.uid, running.walls)
        with suppress(OSError):
            running.control.send(json.dumps({"status": os.waitstatus_to_exitcode(status)}).encode())
        self.selector.unregister(running.control)
        self.selector.unregister(running.pidfd)
        if running.claim is not None:
            running.claim.release()
        running.control.close()
        os.close(running.pidfd)
        shutil.rmtree(running.scratch, ignore_errors=True)
        del self.running[running.pid]


def clear_up_after(uid: int, walls: Sequence[str]) -> None:
    """Remove what a worker may have left behind under its uid, for all that it could.

    Behind seccomp it cannot start a process, and behind Landlock it cannot write anywhere else.
    """
    if SECCOMP not in walls:
        kill_everything_of(uid)
    if LANDLOCK not in walls:
        remove_files_of(uid)


def kill_everything_of(uid: int) -> None:
    """Kill all processes of a uid, until none is left.

    The limit on processes of that uid bounds how many there can be.
    """
    found = True
    while found:
        found = False
        for entry in os.scandir("/proc"):
            with suppress(OSError):
                if entry.name.isdigit() and entry.stat().st_uid == uid and _alive(entry.name):
                    os.kill(int(entry.name), signal.SIGKILL)
                    found = True


def remove_files_of(uid: int) -> None:
    """Remove what a uid has left in the folders that everybody may write to."""
    for folder in SHARED_FOLDERS:
        with suppress(OSError):
            for entry in os.scandir(folder):
                if entry.stat(follow_symlinks=False).st_uid == uid:
                    _remove(Path(entry.path))


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _alive(pid: str) -> bool:
    """Tell a process from one that has ended and only waits to be collected."""
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state not in "ZX"
