"""Real Dask clusters for tests: a scheduler and workers, each a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import distributed

from tests.support import PATIENCE_SECONDS, read_json

ENDING_SECONDS = 5.0


class DaskCluster:
    """A scheduler on this machine, to which workers are added.

    Args:
        folder: for logs and temporary files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        contact = folder / "scheduler.json"
        address = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", contact)
        self._scheduler = self._start("dask_scheduler", "scheduler", *address, "--no-dashboard")
        wait_until(lambda: contact.exists() and contact.stat().st_size > 0)
        self.address: str = read_json(contact)["address"]
        self.client: Any = distributed.Client(  # type: ignore[no-untyped-call]
            self.address, timeout=PATIENCE_SECONDS, set_as_default=False
        )

    def add(
        self, name: str, *options: str | Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start a worker, and wait until all that were started are there."""
        named = ("--name", name, "--local-directory", self._folder, "--no-dashboard")
        self._workers[name] = self._start(
            "dask_worker", name, self.address, *named, *options, environment=environment
        )
        self.client.wait_for_workers(len(self._workers), timeout=PATIENCE_SECONDS)

    def end(self, name: str) -> None:
        """End a worker as its user would, and wait until it is gone."""
        worker = self._workers.pop(name)
        worker.terminate()
        worker.wait(PATIENCE_SECONDS)

    def kill_scheduler(self) -> None:
        """End the scheduler as a machine that fails does."""
        self._scheduler.kill()
        self._scheduler.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        """End everything."""
        self.client.close()
        if self._scheduler.poll() is None:  # else they would wait for it to come back
            for worker in self._workers.values():
                worker.terminate()
        # Now and then a Dask worker hangs in its own ending, after all that concerns us is done.
        for process in (*self._workers.values(), self._scheduler):
            with suppress(subprocess.TimeoutExpired):
                process.wait(0 if process is self._scheduler else ENDING_SECONDS)
            process.kill()
            process.wait(PATIENCE_SECONDS)

    def _start(
        self,
        program: str,
        name: str,
        *options: str | Path,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", *map(str, options)],
                stdout=log,
                stderr=log,
                cwd=self._folder,  # not this folder, whose grader would hide another one
                env={**os.environ, **(environment or {})},
            )


@contextmanager
def dask_cluster(folder: Path) -> Iterator[DaskCluster]:
    """A cluster without workers at first."""
    cluster = DaskCluster(folder)
    try:
        yield cluster
    finally:
        cluster.close()


def wait_until(condition: Any) -> None:
    """Poll until something is so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
