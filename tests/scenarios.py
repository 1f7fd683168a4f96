"""A small assignment whose hidden test does whatever a student's file asks for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.support import small_assignment

SUITE = """
import os
import signal
from pathlib import Path

import pytest

from grader.examiner.student import Student

LOOKED_FOR = ("answer",)
INTERRUPTED = Path(__file__).with_name("interrupted")


def interrupt_the_command_once() -> None:
    if INTERRUPTED.exists():
        return
    INTERRUPTED.touch()
    folder = Path(__file__).parents[2]
    while not list(folder.glob("results/students/*/feedback.md")):  # of the student before
        os.sched_yield()
    nursery = os.getppid()
    command = Path(f"/proc/{nursery}/stat").read_text().rpartition(")")[2].split()[1]
    os.kill(int(command), signal.SIGINT)
    signal.pause()


def leave() -> None:
    raise SystemExit(0)


def interrupt() -> None:
    raise KeyboardInterrupt


def wrong() -> None:
    raise AssertionError("The number is wrong.\\nNobody reads this line.")


def compare() -> None:
    assert 1 == 2


def divide() -> None:
    print(1 / 0)


DEEDS = {
    "right": lambda: None,
    "wrong": wrong,
    "compare": compare,
    "divide": divide,
    "skip": lambda: pytest.skip("not today"),
    "expect-failure": lambda: pytest.xfail("known"),
    "exit": lambda: pytest.exit("stop", returncode=0),
    "interrupt": interrupt,
    "leave": leave,
    "leave-at-once": lambda: os._exit(0),
    "kill-examiner": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "kill-nursery": lambda: os.kill(os.getppid(), signal.SIGKILL),
    "interrupt-command": interrupt_the_command_once,
}


def test_always_right(student: Student) -> None:
    assert isinstance(student.constant("DEED"), str)


def test_deed(student: Student) -> None:
    deed = student.constant("DEED")
    if deed == "lose-files":  # as a tool does that clears folders of temporary files
        Path(student._under_test.transport._policy.folder, "answer.py").unlink()
    else:
        DEEDS[deed]()
"""


def assignment(folder: Path) -> Path:
    """The rubric of an assignment with that suite: ten points for two tests."""
    return small_assignment(folder, SUITE)


def write_class(folder: Path, deeds: Iterable[str]) -> Path:
    """A class in which each student is called after the deed that their file asks for."""
    for deed in deeds:
        (folder / deed).mkdir(parents=True)
        text = f"DEED = {deed!r}\n\n\ndef answer(x):\n    return x\n"
        (folder / deed / "answer.py").write_text(text, encoding="utf-8")
    return folder
