"""Before anybody is examined: a worker tries to read what no student may see."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from grader.errors import WorkerStartError
from grader.examiner.messages import Setup
from grader.sandbox.channel import Spawner
from grader.sandbox.policy import WorkerPolicy
from grader.sandbox.vocabulary import Reached
from grader.temporary import TemporaryFolder

# The grader itself, which brings the reference that answers are compared with.
PACKAGE = Path(__file__).resolve().parents[1]
SECONDS = 30.0
# Of a folder with the results of ten thousand students the first ones stand for all.
MAX_PATHS_EACH = 100


def exposed(setup: Setup, spawner: Spawner) -> list[str]:
    """What a worker can read although no student may, with the way that led there.

    Args:
        setup: names suites, solutions, and what else is hidden.
        spawner: starts workers with the walls of this machine.

    Returns:
        Of each hidden file or folder the first path that can be read.

    Raises:
        BoundaryError: if the worker cannot be started, or does not answer.
    """
    paths = hidden_paths(setup)
    folder = TemporaryFolder("probe")
    policy = WorkerPolicy(
        folder=str(folder.path),
        memory_mb=setup.memory_mb,
        cpu_seconds=int(SECONDS),
        packages=setup.packages,
        walls=setup.walls,
    )
    try:
        worker = spawner.spawn(policy)
        question = {"question": "reach", "paths": list(map(str, paths))}
        reply, _ = worker.ask(question, {}, SECONDS)
        worker.end()
    finally:
        folder.remove()
    if not isinstance(reply, Reached):
        raise WorkerStartError("a worker could not try what it can read")
    found: dict[Path, str] = {}
    for path, way in zip(paths, map(reply.ways.get, map(str, range(len(paths)))), strict=True):
        if way is not None:
            found.setdefault(paths[path], f"{path} ({way})")
    return list(found.values())


def hidden_paths(setup: Setup) -> dict[Path, Path]:
    """Files and folders that no worker may read, each with what it belongs to."""
    found: dict[Path, Path] = {}
    for name in (*setup.suites, setup.root, setup.solutions, *setup.hidden, str(PACKAGE)):
        hidden = Path(name).resolve()
        for path in itertools.islice(_with_files(hidden), MAX_PATHS_EACH):
            found.setdefault(path, hidden)
    return found


def _with_files(path: Path) -> Iterator[Path]:
    if path.exists():
        yield path
    with suppress(OSError):
        yield from (found for found in path.rglob("*") if found.is_file())
