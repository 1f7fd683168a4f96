"""What the walls cost: a worker started and ended with all of them, against with none."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

PAIRS = 40


def walls_cost() -> dict[str, float]:
    """Median of the difference, pair by pair, measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.walls"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    """Start and end workers in pairs; print the figures as JSON."""
    import socket

    from grader.examiner.nursery import fork_sandbox_server
    from grader.examiner.warmth import warm
    from grader.sandbox.confinement import available_walls
    from grader.sandbox.policy import WorkerPolicy
    from grader.sandbox.spawn import WarmSpawner

    warm()
    command, there = socket.socketpair()
    _, requests = fork_sandbox_server(there)
    spawner = WarmSpawner(requests, 1024)

    def milliseconds(walls: Sequence[str]) -> float:
        policy = WorkerPolicy(folder="/usr/lib", memory_mb=512, cpu_seconds=10, walls=tuple(walls))
        started = time.perf_counter()
        spawner.spawn(policy).end()
        return (time.perf_counter() - started) * 1000

    pairs = [(milliseconds(available_walls()), milliseconds(())) for _ in range(PAIRS)]
    figures = {
        "worker with all walls, ms": round(statistics.median(walled for walled, _ in pairs), 2),
        "worker without walls, ms": round(statistics.median(bare for _, bare in pairs), 2),
        "walls, ms": round(statistics.median(walled - bare for walled, bare in pairs), 2),
    }
    sys.stdout.write(json.dumps(figures))
    command.close()


if __name__ == "__main__":
    main()
