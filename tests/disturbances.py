"""A class whose hidden tests end a process of the grader at a chosen moment.

The file `armed` beside the suite says what is to happen with whom, one `KIND STUDENT` a line.
It is no Python file, so it does not change what a submission is examined by.  Each line happens
once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support import grade, small_assignment

SUITE = '''
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from grader.examiner.student import Student

LOOKED_FOR = ("answer",)
ARMED = Path(__file__).with_name("armed")


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def children(pid: int) -> list[int]:
    return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and is_child(p, pid)]


def is_child(process: Path, pid: int) -> bool:
    try:
        return parent(int(process.name)) == pid
    except OSError:
        return False


def started(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    os.kill(pid, number)


def server() -> int:
    return min(pid for pid in children(os.getppid()) if pid != os.getpid())


def end(pid: int, number: int = signal.SIGKILL) -> None:
    """End a process above this one, and wait to be ended with it."""
    with ARMED.with_name("below").open("a") as stream:
        for one in (os.getppid(), os.getpid(), server(), *children(server())):
            stream.write(f"{one} {started(one)}\\n")
    kill(pid, number)
    while True:
        signal.pause()


def die_while_writing() -> None:
    os.fsync = lambda descriptor: kill(os.getpid())


def make_read_only(here: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", here.read_text()], check=True)


def staged() -> list[Path]:
    return [*Path(os.environ["TMPDIR"]).glob("grade-staging-*/submission-*/*.py")]


def close_for_a_moment() -> None:
    for path in staged():
        path.chmod(0)
        path.chmod(0o444)


DEEDS = {
    "remove-files": lambda: [path.unlink() for path in staged()],
    "close-files": lambda: [path.chmod(0) for path in staged()],
    "close-for-a-moment": close_for_a_moment,
    "close-area": lambda: [path.parents[1].chmod(0) for path in staged()],
    "change-files": lambda: [path.write_bytes(b"POINTS = 0") for path in staged()],
    "child": lambda: kill(os.getpid()),
    "child-while-writing": die_while_writing,
    "worker": lambda: kill(children(server())[0]),
    "server": lambda: kill(server()),
    "nursery": lambda: end(os.getppid()),
    "command": lambda: end(parent(os.getppid())),
    "stop": lambda: kill(parent(os.getppid()), signal.SIGSTOP),
    "terminate": lambda: end(parent(os.getppid()), signal.SIGTERM),
    "read-only": lambda: make_read_only(ARMED.with_name("mount")),
}


def happens(name: str) -> None:
    """Do what is armed for somebody, once."""
    lines = ARMED.read_text().splitlines() if ARMED.exists() else []
    for line in lines:
        kind, student = line.split()
        if student == name:
            ARMED.write_text("".join(other + "\\n" for other in lines if other != line))
            DEEDS[kind]()


if ARMED.exists() and "collection" in ARMED.read_text():
    ARMED.unlink()
    kill(os.getpid())


def test_constant(student: Student) -> None:
    assert student.constant("POINTS") > 0


def test_disturbed(student: Student) -> None:
    happens(student.constant("NAME"))
    assert student.constant("POINTS") > 1
'''


@dataclass(frozen=True)
class Class:
    """A small class with its assignment.

    Attributes:
        folder: holds `class` and `assignment`.
    """

    folder: Path

    @property
    def _armed(self) -> Path:
        return self.folder / "assignment" / "suites" / "armed"

    def grade(
        self,
        results: Path,
        *deeds: str,
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Grade the class, one after the other, while deeds happen."""
        return grade(*self.arguments(results, *deeds), *options, environment=environment)

    def arguments(self, results: Path, *deeds: str, jobs: int = 1) -> tuple[str | Path, ...]:
        """Arm some deeds, and say how the command is called."""
        self._armed.write_text("".join(f"{deed}\n" for deed in deeds))
        rubric = self.folder / "assignment" / "rubric.yaml"
        return (self.folder / "class", "--rubric", rubric, "--out", results, "--jobs", str(jobs))

    def start(self, results: Path) -> subprocess.Popen[bytes]:
        """Start grading the class, two at a time."""
        arguments = map(str, self.arguments(results, jobs=2))
        command = [sys.executable, "-m", "grader", *arguments]
        nothing = subprocess.DEVNULL
        return subprocess.Popen(command, stdout=nothing, stderr=nothing)

    def below(self) -> dict[int, str]:
        """Processes below the command whenever it was ended, with the times of their starts."""
        lines = self._armed.with_name("below").read_text().splitlines()
        return {int(pid): start for pid, start in map(str.split, lines)}

    def left(self) -> str:
        """What was armed and has not happened."""
        return self._armed.read_text() if self._armed.exists() else ""


def make_class(folder: Path, students: int) -> Class:
    """Students s0, s1, ...; every other one has all of the points."""
    small_assignment(folder / "assignment", SUITE)
    for number in range(students):
        name = f"s{number}"
        (folder / "class" / name).mkdir(parents=True)
        text = f"NAME = {name!r}\nPOINTS = {1 + number % 2}\nprint(NAME)\n\ndef answer(): pass\n"
        (folder / "class" / name / "answer.py").write_text(text, encoding="utf-8")
    return Class(folder)


def contents(results: Path) -> dict[str, bytes]:
    """Every file of a results folder, by name; without times and seeds, which differ each time."""
    readers = {"report.json": timeless, "run.json": seedless}
    return {
        str(path.relative_to(results)): readers.get(path.name, Path.read_bytes)(path)
        for path in sorted(results.rglob("*"))
        if path.is_file()
    }


def seedless(run: Path) -> bytes:
    """run.json without the seed of the run."""
    return json.dumps({**json.loads(run.read_bytes()), "seed": ""}).encode()


def timeless(report: Path) -> bytes:
    """A report without its times: what was found, and about what."""
    data = json.loads(report.read_bytes())
    tests = [(test["nodeid"], test["outcome"], test.get("metadata")) for test in data["tests"]]
    examination = {**data["examination"], "seed": ""}
    return json.dumps([tests, examination, data["summary"]]).encode()


def graded(results: Path) -> set[str]:
    """Students whose report is there."""
    return {path.parent.name for path in results.glob("students/*/report.json")}


def started(pid: int) -> str:
    """When a process has started, which tells it from a later one with its number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def descendants(pid: int) -> Iterator[int]:
    """Processes below one, as the kernel lists them now."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from descendants(int(child))
