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
import signal
import socket
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from grader.errors import MissingPackageError, WorkerStartError
from grader.sandbox import seccomp, worker
from grader.sandbox.confinement import prepare
from grader.sandbox.leftovers import end_all_of, end_orphans, remove_files
from grader.sandbox.libraries import Libraries, open_libraries
from grader.sandbox.policy import UID, WorkerPolicy
from grader.sandbox.uids import UidClaim, claim_uid, let_in, shut_out
from grader.temporary import TemporaryFolder
from grader.trees import remove_tree

REQUEST_BYTES = 16_384
REQUEST_DESCRIPTORS = 3
# No worker starts while more than so many are being cleaned up after, or the disk might fill.
MAX_REMOVALS = 8


@dataclass(frozen=True)
class RunningWorker:
    """A worker as its server knows it."""

    pid: int
    control: socket.socket
    pidfd: int
    scratch: Path
    walls: Sequence[str]
    claim: UidClaim | None
    enclosure: str


@dataclass(frozen=True)
class Removal:
    """A process that removes what a worker has left; the uid is nobody else's until it ends."""

    process: subprocess.Popen[bytes]
    pidfd: int
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
        end_orphans()
        self.root = TemporaryFolder("scratch")
        self.selector = selectors.DefaultSelector()
        self.selector.register(requests, selectors.EVENT_READ, self._accept)
        self.running: dict[int, RunningWorker] = {}
        self.removing: dict[int, Removal] = {}
        self.open = True

    def serve(self) -> NoReturn:
        """Serve until the examiner is gone, then leave nothing behind."""
        try:
            while self.open:
                for key, _ in self.selector.select():
                    handle: Callable[[], None] = key.data
                    handle()
        except BaseException:
            traceback.print_exc()
        finally:
            for running in list(self.running.values()):
                self._end(running)
            for removal in self.removing.values():
                removal.process.kill()
                removal.process.wait()
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
        uid = claim.uid if claim else None
        scratch = None
        try:
            self.root.mend()
            scratch = Path(tempfile.mkdtemp(dir=self.root.path))
            if uid is not None:
                os.chown(scratch, uid, uid)
            let_in(policy.enclosure, uid)
            pid, pidfd = self._fork(policy, uid, scratch, channel, output)
        except (OSError, MissingPackageError):
            if scratch is not None:
                remove_tree(scratch)
            if claim is not None:
                claim.release()
            raise
        return RunningWorker(pid, control, pidfd, scratch, policy.walls, claim, policy.enclosure)

    def _fork(
        self, policy: WorkerPolicy, uid: int | None, scratch: Path, channel: int, output: int
    ) -> tuple[int, int]:
        """Fork a worker; return its pid and a descriptor of it."""
        libraries = self._libraries_for(policy)
        prepared = prepare(policy, uid is not None, scratch, libraries.readable)
        parent = os.getpid()
        try:
            pid = os.fork()
            if pid == 0:
                try:
                    reached = libraries.reached
                    worker.serve(channel, output, policy, uid, scratch, prepared, reached, parent)
                finally:  # it must never become a second server
                    os._exit(worker.BROKEN)
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
        """Kill a worker and all it has started, tell how it ended, remove what it has left.

        Whatever one of these steps meets, the others are taken, and only once.
        """
        if self.running.pop(running.pid, None) is None:
            return
        with _standing_alone():
            signal.pidfd_send_signal(running.pidfd, signal.SIGKILL)
            _, status = os.waitpid(running.pid, 0)
            if running.claim is not None:
                shut_out(running.enclosure, running.claim.uid)
                end_all_of(running.claim.uid, running.walls)
            with suppress(OSError):
                ended = {"status": os.waitstatus_to_exitcode(status)}
                running.control.send(json.dumps(ended).encode())
        for registered in (running.control, running.pidfd):
            with _standing_alone():
                self.selector.unregister(registered)
        with _standing_alone():
            running.control.close()
        with _standing_alone():
            os.close(running.pidfd)
        with _standing_alone():
            self._remove_files(running)

    def _remove_files(self, running: RunningWorker) -> None:
        """Remove what a worker has left, in the background if it is much; then free its uid."""
        claim = running.claim
        process = remove_files(running.scratch, claim.uid if claim else None, running.walls)
        if process is None:
            if claim is not None:
                claim.release()
            return
        removal = Removal(process, os.pidfd_open(process.pid), claim)
        self.removing[process.pid] = removal
        self.selector.register(removal.pidfd, selectors.EVENT_READ, lambda: self._removed(removal))
        if len(self.removing) == MAX_REMOVALS:
            self.selector.unregister(self.requests)

    def _removed(self, removal: Removal) -> None:
        """Collect a process that has removed what a worker had left."""
        if len(self.removing) == MAX_REMOVALS:
            self.selector.register(self.requests, selectors.EVENT_READ, self._accept)
        del self.removing[removal.process.pid]
        self.selector.unregister(removal.pidfd)
        os.close(removal.pidfd)
        removal.process.wait()
        if removal.claim is not None:
            removal.claim.release()


@contextmanager
def _standing_alone() -> Iterator[None]:
    """Keep what goes wrong in one step from those that follow; say it, for it is a fault of ours.

    Nobody's code but ours runs in here, so nothing that it raises can be meant for others.
    """
    try:
        yield
    except Exception:
        traceback.print_exc()
