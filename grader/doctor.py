"""Which walls stand on this machine: each is put up in a child of its own, and run against."""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rich.table import Table
from rich.text import Text

from grader.batch import setup_of
from grader.cpus import available_cpus
from grader.errors import ContainmentError
from grader.executor import Local
from grader.model import Frozen
from grader.rubric import Rubric
from grader.sandbox import landlock
from grader.sandbox.confinement import (
    close_descriptors,
    confine,
    highest_descriptor,
    prepare,
)
from grader.sandbox.policy import (
    DESCRIPTORS,
    ENVIRONMENT_WALL,
    FILE_WALLS,
    FIRST_UID,
    LANDLOCK,
    LIMITS,
    NO_NEW_PRIVILEGES,
    SECCOMP,
    UID,
    WorkerPolicy,
)

STANDS, FELL, NOT_BUILT = 0, 1, 2
# Not a wall but what all walls are for: tried with a real worker.
ANSWERS = "answers"
ANSWERS_HELD = (
    "a worker tried to read suites, solutions, rubric, results and another submission, and could "
    "read none"
)
SECRET = "GRADE_DOCTOR_SECRET"  # noqa: S105

MEANING = {
    DESCRIPTORS: "no open file or socket of the grader is within reach",
    ENVIRONMENT_WALL: "no variable of yours is seen",
    LIMITS: "memory, file size and processor time are bounded",
    UID: "it runs as a user of its own and cannot touch other processes or your files",
    NO_NEW_PRIVILEGES: "no program can give rights back",
    LANDLOCK: "it reads only the libraries and its own files, writes only its scratch",
    SECCOMP: "no network, no new process, no signal to others",
}
WITHOUT = {
    DESCRIPTORS: "open files of the grader are within reach",
    ENVIRONMENT_WALL: "your environment can be read",
    LIMITS: "a submission can use up the machine",
    UID: "not root: it runs as you, held by the other walls only",
    NO_NEW_PRIVILEGES: "a set-uid program could give rights back",
    LANDLOCK: "this kernel has no Landlock (5.13 or later, not switched off)",
    SECCOMP: "no seccomp here: network and new processes are possible",
}


class Probe(Frozen):
    """What came of one wall."""

    wall: str
    stands: bool
    meaning: str


def probe_walls() -> list[Probe]:
    """Try every wall in a child process."""
    attempts: dict[str, Callable[[Path], bool]] = {
        DESCRIPTORS: _descriptor_is_open,
        ENVIRONMENT_WALL: _environment_is_seen,
        LIMITS: _memory_is_unbounded,
        UID: _is_still_root,
        NO_NEW_PRIVILEGES: _privileges_can_grow,
        LANDLOCK: _file_can_be_read,
        SECCOMP: _unlisted_call_is_made,
    }
    probes = []
    for wall, breach in attempts.items():
        stands = _try(wall, breach) == STANDS
        meaning = MEANING[wall] if stands else WITHOUT[wall]
        probes.append(Probe(wall=wall, stands=stands, meaning=meaning))
    return probes


def probe_answers(rubric: Rubric, rubric_path: Path, walls: tuple[str, ...]) -> Probe:
    """Have a worker try to read everything of an assignment that no student may see.

    Args:
        rubric: the assignment.
        rubric_path: its file.
        walls: the walls that this machine can give.

    Raises:
        SuiteError: if the hidden suites cannot be imported.
        NurseryError: if no worker can be started.
    """
    with tempfile.TemporaryDirectory(prefix="grade-doctor-") as name, Local(1, walls) as executor:
        result = Path(name) / "results" / "score.json"
        result.parent.mkdir(mode=0o700)
        result.write_text("{}")
        hidden = (str(rubric_path), name, str(result.parent))
        executor.begin(setup_of(rubric, hidden=hidden))
        try:
            executor.wait_until_ready()
        except ContainmentError as error:
            return Probe(wall=ANSWERS, stands=False, meaning=f"{error.problem}\n{error.remedy}")
    return Probe(wall=ANSWERS, stands=True, meaning=ANSWERS_HELD)


def doctor_table(probes: list[Probe]) -> Table:
    """The walls as a table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("wall", no_wrap=True)
    table.add_column("stands", no_wrap=True)
    table.add_column("what that means for student code")
    for probe in probes:
        mark = Text("yes", style="green") if probe.stands else Text("no", style="red")
        table.add_row(probe.wall, mark, probe.meaning)
    return table


def doctor_verdict(probes: list[Probe]) -> str:
    """One sentence on what this machine may grade."""
    standing = {probe.wall for probe in probes if probe.stands}
    if not all(probe.stands for probe in probes if probe.wall == ANSWERS):
        return "\n`grade` refuses here until these files are closed to student code."
    if len(standing) == len(probes):
        return f"\nEvery wall stands (Landlock ABI {landlock.abi_version()})."
    if standing & set(FILE_WALLS):
        return "\nGrading is possible; what is missing is named in run.json of every run."
    return (
        "\nNothing keeps student code from your files: `grade` refuses here. Use a container or "
        "root, or accept it with --trust-submissions."
    )


def doctor_processors() -> str:
    """One sentence on how much runs at the same time."""
    cpus = available_cpus()
    many = "1 submission is" if cpus == 1 else f"{cpus} submissions are"
    return f"{many} examined at the same time (affinity and cgroup quota; --jobs changes it)."


def _try(wall: str, breach: Callable[[Path], bool]) -> int:
    """Put one wall up in a child and try to get through; how that ended."""
    with tempfile.TemporaryDirectory(prefix="grade-doctor-") as name:
        folder = Path(name)
        (folder / "secret").write_text("secret")
        (folder / "scratch").mkdir()
        os.environ[SECRET] = "seen"
        child = os.fork()
        if child == 0:
            os._exit(_attempt(wall, breach, folder))
        del os.environ[SECRET]
        _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _attempt(wall: str, breach: Callable[[Path], bool], folder: Path) -> int:
    try:
        uid = None
        if wall == UID:
            if os.geteuid() != 0:
                return NOT_BUILT
            uid = FIRST_UID
            os.chown(folder, uid, uid)
            os.chown(folder / "scratch", uid, uid)
        walls = (wall, NO_NEW_PRIVILEGES)  # the kernel wants it before Landlock and seccomp
        policy = WorkerPolicy(str(folder / "scratch"), 64, 10, walls=walls)
        prepared = prepare(policy, uid is not None, folder / "scratch", ())
        confine(policy, uid, folder / "scratch", prepared)
    except OSError:
        return NOT_BUILT
    try:
        return FELL if breach(folder) else STANDS
    except (OSError, MemoryError):
        return STANDS


def _descriptor_is_open(folder: Path) -> bool:
    descriptor = os.open(folder / "secret", os.O_RDONLY)
    close_descriptors((), highest_descriptor())
    return bool(os.read(descriptor, 1))


def _environment_is_seen(folder: Path) -> bool:
    return SECRET in os.environ


def _memory_is_unbounded(folder: Path) -> bool:
    return len(bytearray(256 << 20)) > 0 or resource.getrlimit(resource.RLIMIT_CORE)[0] != 0


def _is_still_root(folder: Path) -> bool:
    os.kill(os.getppid(), 0)
    return True


def _privileges_can_grow(folder: Path) -> bool:
    if sys.platform != "linux":
        return True
    return "NoNewPrivs:\t1" not in Path("/proc/self/status").read_text()


def _file_can_be_read(folder: Path) -> bool:
    return bool((folder / "secret").read_text())


def _unlisted_call_is_made(folder: Path) -> bool:
    """Try calls that reach past the other walls; refused or without effect, all of them."""
    secret = folder / "secret"
    mode = secret.stat().st_mode
    with suppress(OSError):
        secret.chmod(0)
    return secret.stat().st_mode != mode or _call_works(socket.socket) or _call_works(_watch)


def _call_works(call: Callable[[], object]) -> bool:
    try:
        call()
    except OSError:
        return False
    return True


def _watch() -> None:
    if ctypes.CDLL(None).inotify_init1(0) < 0:
        raise OSError("no inotify")
