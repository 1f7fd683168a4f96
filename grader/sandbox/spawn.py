"""Two ways to start the same worker: warm, by the sandbox server, or cold, as a new process."""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from grader.errors import WorkerStartError
from grader.sandbox.channel import START_SECONDS, Worker
from grader.sandbox.leftovers import end_all_of, remove_files
from grader.sandbox.output import KeptOutput
from grader.sandbox.policy import ENVIRONMENT, UID, WorkerPolicy
from grader.sandbox.scratch import overfull
from grader.sandbox.uids import UidClaim, claim_uid, let_in, shut_out
from grader.temporary import TemporaryFolder

MESSAGE_BYTES = 4_096  # of the server's messages about one worker


class WarmSpawner:
    """Has the sandbox server fork a worker.

    Args:
        requests: packet socket to the server.
        output_bytes: how much of the worker's prints to keep.
    """

    def __init__(self, requests: socket.socket, output_bytes: int) -> None:
        self._requests = requests
        self._output_bytes = output_bytes

    def spawn(self, policy: WorkerPolicy) -> Worker:
        """Start a worker; see `Spawner`."""
        channel, channel_there = socket.socketpair()
        output, output_there = socket.socketpair()
        control, control_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        given = [channel_there, output_there, control_there]
        try:
            socket.send_fds(
                self._requests,
                [json.dumps(policy.as_json()).encode()],
                [end.fileno() for end in given],
            )
        except OSError as error:
            raise WorkerStartError(f"the sandbox server is gone: {error}") from error
        finally:
            for end in given:
                end.close()
        kept = KeptOutput(self._output_bytes)
        handle = _ControlHandle(control, policy)
        worker = Worker(channel, output, handle, kept)
        worker.wait_until_ready()
        return worker


class _ControlHandle:
    """The server's end of a worker.  Its first message is where the scratch folder lies."""

    def __init__(self, control: socket.socket, policy: WorkerPolicy) -> None:
        self._control = control
        self._policy = policy
        control.settimeout(START_SECONDS)

    @functools.cached_property
    def _scratch(self) -> Path | None:
        told = self._control.recv(MESSAGE_BYTES)
        return Path(json.loads(told)["scratch"]) if told else None

    def overfull(self) -> bool:
        """Look into the scratch folder."""
        return self._scratch is not None and overfull(self._scratch, self._policy)

    def kill(self) -> int | None:
        """Ask the server to end the worker, and wait for how it ended."""
        try:
            _ = self._scratch
            self._control.shutdown(socket.SHUT_WR)
            answer = self._control.recv(MESSAGE_BYTES)
            return int(json.loads(answer)["status"]) if answer else None
        except (OSError, ValueError):
            return None
        finally:
            self._control.close()


class ColdSpawner:
    """Starts a new Python process for each worker: slower, but needs no fork of a warm one.

    Args:
        output_bytes: how much of the worker's prints to keep.
    """

    def __init__(self, output_bytes: int) -> None:
        self._output_bytes = output_bytes

    def spawn(self, policy: WorkerPolicy) -> Worker:
        """Start a worker; see `Spawner`."""
        channel, channel_there = socket.socketpair()
        output, output_there = socket.socketpair()
        folder = TemporaryFolder("scratch")
        scratch = folder.path / "worker"
        scratch.mkdir(mode=0o700)
        claim = claim_uid() if os.geteuid() == 0 and UID in policy.walls else None
        uid = claim.uid if claim else None
        if uid is not None:
            os.chown(scratch, uid, uid)
        let_in(policy.enclosure, uid)
        start = {
            "channel": channel_there.fileno(),
            "output": output_there.fileno(),
            "policy": policy.as_json(),
            "uid": uid,
            "scratch": str(scratch),
        }
        process = subprocess.Popen(
            [sys.executable, "-I", "-m", "grader.sandbox.worker", json.dumps(start)],
            stdin=subprocess.DEVNULL,
            stdout=output_there.fileno(),
            stderr=output_there.fileno(),
            pass_fds=(channel_there.fileno(), output_there.fileno()),
            env=ENVIRONMENT,
        )
        channel_there.close()
        output_there.close()
        kept = KeptOutput(self._output_bytes)
        worker = Worker(channel, output, _ProcessHandle(process, folder, claim, policy), kept)
        worker.wait_until_ready()
        return worker


class _ProcessHandle:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        folder: TemporaryFolder,
        claim: UidClaim | None,
        policy: WorkerPolicy,
    ) -> None:
        self._process = process
        self._folder = folder
        self._claim = claim
        self._policy = policy

    def overfull(self) -> bool:
        """Look into the scratch folder."""
        return overfull(self._folder.path, self._policy)

    def kill(self) -> int | None:
        """Kill the process, and remove all that it may have left behind."""
        self._process.send_signal(signal.SIGKILL)
        status = self._process.wait()
        if self._claim is not None:
            shut_out(self._policy.enclosure, self._claim.uid)
            end_all_of(self._claim.uid, self._policy.walls)
            scratch = self._folder.path / "worker"
            process = remove_files(scratch, self._claim.uid, self._policy.walls)
            if process is not None:
                process.wait()
            self._claim.release()
        self._folder.remove()
        return status
