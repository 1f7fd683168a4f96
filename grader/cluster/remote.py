"""What runs in each process of a Dask worker: one warm nursery, kept for as long as it serves.

Does not import torch, nor Dask.  What crosses the network are plain values only, so that two
versions of the grader can still tell each other that they differ.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TypeAlias

from grader.errors import ClusterError, GraderError, SuiteError
from grader.examiner.child import ALTERED
from grader.examiner.client import Nursery
from grader.examiner.messages import Job, Setup
from grader.intake.staging import StagingArea
from grader.sandbox.confinement import available_walls
from grader.sandbox.policy import FILE_WALLS
from grader.temporary import TemporaryFolder
from grader.versions import versions

Sources: TypeAlias = Sequence[tuple[str, bytes]]
# The setup as JSON with paths relative to one folder, and the files below that folder.
SUITES, SOLUTIONS = "suites", "solutions"
NO_SEED = 0
Packed: TypeAlias = tuple[str, tuple[tuple[str, bytes], ...]]


def pack(setup: Setup) -> Packed:
    """An assignment as bytes, for a machine that may not share a file system with this one.

    The seed is left out: each submission brings it, and runs with other seeds share a nursery.  So
    are hidden paths of this machine, which mean nothing there.

    Raises:
        ClusterError: if a suite lies outside the suites' folder.
    """
    root = Path(setup.root)
    for suite in setup.suites:
        if not Path(suite).is_relative_to(root):
            raise ClusterError(
                f"{suite} lies outside the suites' folder {root}, which is all a cluster gets.",
                "Move the suite there.",
            )
    files = (*_files(root, SUITES), *_files(Path(setup.solutions), SOLUTIONS))
    suites = tuple(f"{SUITES}/{Path(suite).relative_to(root).as_posix()}" for suite in setup.suites)
    update = {
        "root": SUITES,
        "suites": suites,
        "solutions": SOLUTIONS,
        "seed": NO_SEED,
        "hidden": (),
    }
    return setup.model_copy(update=update).model_dump_json(), files


def _files(folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Python files below a folder, under another name for it."""
    for path in sorted(folder.rglob("*.py")):
        yield f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes()


class WarmAssignment:
    """An assignment with a nursery that has collected its suites; several threads may use it.

    Attributes:
        packed: the assignment.
        tests: ids of all hidden tests.
        walls: around each worker.
        users: threads that use it now; kept by `borrowed`.
        broken: its nursery has ended.

    Args:
        packed: the assignment.
        jobs: submissions examined at the same time.

    Raises:
        SuiteError: if a suite cannot be imported.
        NurseryError: if the nursery does not start.
    """

    def __init__(self, packed: Packed, jobs: int) -> None:
        self.packed = packed
        self.walls = available_walls()
        self.users = 0
        self.broken = False
        self._numbers = itertools.count()
        self._ended: dict[str, int] = {}
        self._busy: set[str] = set()
        self._somebody_reads = False
        self._news = threading.Condition()
        with ExitStack() as stack:
            folder = TemporaryFolder("cluster")
            stack.callback(folder.remove)
            self._reports = folder.path / "reports"
            self._reports.mkdir(mode=0o700)
            self._staging = stack.enter_context(StagingArea())
            self._nursery = stack.enter_context(Nursery())
            self._nursery.configure(self._unpack(folder.path / "assignment", jobs))
            self.tests = self._nursery.wait_until_ready()
            self._stack = stack.pop_all()

    def _unpack(self, root: Path, jobs: int) -> Setup:
        """Write suites and solutions where nobody else may read them."""
        text, files = self.packed
        root.mkdir(mode=0o700)
        for name, content in files:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        setup = Setup.model_validate_json(text)
        update = {
            "root": str(root / setup.root),
            "solutions": str(root / setup.solutions),
            "suites": tuple(str(root / suite) for suite in setup.suites),
            "jobs": jobs,
            "walls": self.walls,
            # Without any wall around files there is nothing to try; the command decides.
            "trusted": setup.trusted or not set(FILE_WALLS) & set(self.walls),
        }
        return setup.model_copy(update=update)

    def close(self) -> None:
        """End the nursery and remove every file."""
        self._stack.close()

    def examine(
        self,
        student: str,
        sources: Sources,
        candidates: Mapping[str, Sequence[str]],
        facts: Mapping[str, str],
        provenance: Mapping[str, str],
        seed: int,
    ) -> tuple[int, bytes, bytes]:
        """Examine one submission; see `examine`."""
        number = next(self._numbers)
        report, log = (self._reports / f"{number}.{kind}" for kind in ("json", "txt"))
        folder = self._staging.stage(sources)
        job = Job(
            student=student,
            folder=str(folder),
            candidates={name: tuple(files) for name, files in candidates.items()},
            report=str(report),
            log=str(log),
            facts=dict(facts),
            provenance=dict(provenance),
            seed=seed,
            fingerprints=self._staging.fingerprints(folder),
        )
        try:
            status = self._run(job)
            if status == 0 and not self._staging.is_whole(folder):
                status = ALTERED
            if status or not report.exists():
                return status, b"", b""
            return status, report.read_bytes(), log.read_bytes()
        finally:
            self._staging.remove(folder)
            report.unlink(missing_ok=True)
            log.unlink(missing_ok=True)

    def _run(self, job: Job) -> int:
        """Have the nursery do a job; its exit status."""
        with self._news:
            # The nursery tells by the student's name what is done; two commands may share one.
            self._news.wait_for(lambda: job.student not in self._busy)
            self._busy.add(job.student)
        try:
            with self._news:
                self._nursery.submit(job)
            return self._wait_for(job.student)
        except GraderError:
            self.broken = True
            raise
        finally:
            with self._news:
                self._busy.remove(job.student)
                self._news.notify_all()

    def _wait_for(self, student: str) -> int:
        """Read what the nursery tells, or let another thread read it, until a student is done."""
        while True:
            with self._news:
                self._news.wait_for(lambda: student in self._ended or not self._somebody_reads)
                if student in self._ended:
                    return self._ended.pop(student)
                self._somebody_reads = True
            try:
                ended, status = self._nursery.next_done()
                self._ended[ended] = status
            finally:
                with self._news:
                    self._somebody_reads = False
                    self._news.notify_all()


class _Holder:
    """The one assignment that this process keeps warm."""

    def __init__(self) -> None:
        self._assignment: WarmAssignment | None = None
        self._change = threading.Condition()

    @contextmanager
    def borrowed(self, packed: Packed, jobs: int) -> Iterator[WarmAssignment]:
        """The assignment, warm; another one is ended as soon as nobody uses it."""
        with self._change:
            self._change.wait_for(lambda: self._serves(packed) or self._idle())
            if not self._serves(packed):
                self.end()
                self._assignment = WarmAssignment(packed, jobs)
            assignment = self._assignment
            assert assignment is not None
            assignment.users += 1
        try:
            yield assignment
        finally:
            with self._change:
                assignment.users -= 1
                self._change.notify_all()

    def _serves(self, packed: Packed) -> bool:
        kept = self._assignment
        return kept is not None and kept.packed == packed and not kept.broken

    def _idle(self) -> bool:
        return self._assignment is None or self._assignment.users == 0

    def end(self) -> None:
        """End what is kept."""
        if self._assignment is not None:
            self._assignment.close()
            self._assignment = None


_HOLDER = _Holder()
# Runs in the children of Dask's nannies too, which end without the hooks of `atexit`.
Finalize(None, _HOLDER.end, exitpriority=10)


def meet(expected: Mapping[str, str], packed: Packed, jobs: int) -> dict[str, list[str]]:
    """Compare versions and warm up.

    Args:
        expected: `versions()` of the command.
        packed: the assignment.
        jobs: submissions that this process may examine at the same time.

    Returns:
        `tests` and `walls`; or `refused` with the reasons; or `suites`, what is wrong with them.
    """
    here = versions()
    different = [
        f"{name} is {here.get(name, 'unknown')} there and {ours} here"
        for name, ours in expected.items()
        if here.get(name) != ours
    ]
    if different:
        return {"refused": different}
    try:
        with _HOLDER.borrowed(packed, jobs) as assignment:
            return {"tests": assignment.tests, "walls": list(assignment.walls)}
    except SuiteError as error:
        return {"suites": [error.problem, error.remedy]}
    except GraderError as error:
        return {"refused": [error.problem]}


def examine(
    packed: Packed,
    jobs: int,
    student: str,
    sources: Sources,
    candidates: Mapping[str, Sequence[str]],
    facts: Mapping[str, str],
    provenance: Mapping[str, str],
    seed: int,
) -> tuple[int, bytes, bytes]:
    """Examine one submission.

    Returns:
        Exit status of the examiner's child; contents of report.json and log.txt if it wrote them.

    Raises:
        RuntimeError: if the nursery ended; it says why.
    """
    try:
        with _HOLDER.borrowed(packed, jobs) as assignment:
            return assignment.examine(student, sources, candidates, facts, provenance, seed)
    except GraderError as error:  # has arguments of its own, which do not survive a pickle
        raise RuntimeError(error.problem) from None
