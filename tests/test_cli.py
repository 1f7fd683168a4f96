"""The command line: messages, exit statuses, and what a wrong call leaves behind."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from grader import __version__
from tests.corpus_run import CORPUS
from tests.scenarios import assignment, write_class
from tests.support import (
    SOLUTIONS,
    STUBS,
    copy_files,
    copy_solutions,
    grade,
    shipped_rubric,
    together,
    write_rubric,
)

ESCAPE = "\x1b"


def test_help_answers_without_torch() -> None:
    """The commands are listed, and the module that takes seconds is not imported."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "grader", "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert all(word in done.stdout for word in ("check", "lint", "--out", "--jobs", "--fresh"))
    assert "cyclopts" in imported
    assert "torch" not in imported


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_an_output_without_room_is_said() -> None:
    """Status 1 and one message, not a second one when the process ends."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "grader", "diff", "--help"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("grade: No space left on device: the output\n")
    assert "Exception" not in done.stderr


def test_the_version_is_printed() -> None:
    """It is that of the package."""
    assert grade("--version").stdout.strip() == __version__


@dataclass(frozen=True)
class WrongCall:
    """A call that cannot work.

    Attributes:
        arguments: of `grade`, in a folder that `prepare` has filled.
        says: a part of the message.
        prepare: makes files in the working directory.
    """

    arguments: tuple[str, ...]
    says: str
    prepare: Callable[[Path], object] = lambda folder: None


def put_class(folder: Path) -> None:
    """One student with solutions."""
    copy_solutions(folder / "class" / "ann")


def put_file_in_the_way(folder: Path) -> None:
    put_class(folder)
    (folder / "results").touch()


def put_broken_rubric(folder: Path) -> None:
    put_class(folder)
    rubric = shipped_rubric()
    rubric["milestones"][0]["criteria"][0]["points"] = "two"
    write_rubric(folder / "broken.yaml", rubric)


WRONG_CALLS = {
    "no submissions": WrongCall((), "SUBMISSIONS"),
    "missing folder": WrongCall(("absent",), "There is no folder absent"),
    "a file": WrongCall(("a.zip",), "a.zip is not a folder", lambda f: (f / "a.zip").touch()),
    "empty folder": WrongCall(("none",), "No submission was found", lambda f: (f / "none").mkdir()),
    "file in the way": WrongCall(("class",), "results is not a folder", put_file_in_the_way),
    "unknown option": WrongCall(("class", "--nope"), "--nope", put_class),
    "unknown command": WrongCall(("chekc", "class"), "check", put_class),
    "no jobs": WrongCall(("class", "--jobs", "0"), "--jobs", put_class),
    "negative jobs": WrongCall(("class", "--jobs=-1"), "--jobs", put_class),
    "jobs in words": WrongCall(("class", "--jobs", "two"), "--jobs", put_class),
    "missing rubric": WrongCall(("class", "--rubric", "no.yaml"), "no.yaml", put_class),
    "broken rubric": WrongCall(
        ("class", "--rubric", "broken.yaml"), "milestones[0].criteria[0].points", put_broken_rubric
    ),
    "check of nothing": WrongCall(("check", "absent"), "There is no folder absent"),
    "lint of nothing": WrongCall(("lint", "--rubric", "no.yaml"), "no.yaml"),
}


@dataclass(frozen=True)
class Ended:
    """A call that has ended, and the files of its working directory before and afterwards."""

    done: subprocess.CompletedProcess[str]
    before: list[Path]
    after: list[Path]


def call_in(folder: Path, *arguments: str | Path, patience: float = 60) -> Ended:
    """Run `grade` in a folder."""
    before = sorted(folder.rglob("*"))
    done = grade(*arguments, cwd=folder, patience=patience)
    return Ended(done, before, sorted(folder.rglob("*")))


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """Every wrong call, each in a folder of its own."""
    calls = {}
    for name, call in WRONG_CALLS.items():
        folder = tmp_path_factory.mktemp("wrong")
        call.prepare(folder)
        calls[name] = partial(call_in, folder, *call.arguments, patience=30)
    return together(calls)


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_wrong_call_is_explained(wrong: dict[str, Ended], name: str) -> None:
    """Status 2, one message on stderr that names the thing, no traceback, and nothing written."""
    ended = wrong[name]
    assert ended.done.returncode == 2, ended.done
    assert WRONG_CALLS[name].says in ended.done.stderr
    assert "Traceback" not in ended.done.stderr
    assert ended.done.stdout == ""
    assert ended.after == ended.before


def put_mistyped_rubric(folder: Path) -> Path:
    """A rubric with a pattern that matches no test."""
    rubric = shipped_rubric()
    rubric["milestones"][1]["criteria"][3]["tests"] = ["test_exact_gleu"]
    return write_rubric(folder / "mistyped.yaml", rubric)


def put_unproved_rubric(folder: Path) -> Path:
    """A rubric with a stub that is solved, and a solution that is broken."""
    stubs = copy_files(STUBS, folder / "unproved" / "assignments")
    solutions = copy_files(SOLUTIONS, folder / "unproved" / "solutions")
    shutil.copy(SOLUTIONS / "milestone1_layernorm.py", stubs)
    shutil.copy(CORPUS / "bad-ffn-relu" / "milestone2_ffn.py", solutions)
    data = {**shipped_rubric(), "stubs": "assignments", "solutions": "solutions"}
    return write_rubric(folder / "unproved" / "rubric.yaml", data)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """Calls of `check`, `lint` and `grade` that start a nursery each."""
    folder = tmp_path_factory.mktemp("calls")
    solved = copy_solutions(folder / "jdoe")
    elsewhere = folder / "elsewhere"
    put_class(elsewhere)
    mistyped, unproved = put_mistyped_rubric(folder), put_unproved_rubric(folder)
    calls = {
        "check folder": partial(call_in, solved, "check", solved),
        "check here": partial(call_in, solved, "check", "--json"),
        "check file": partial(call_in, solved, "check", solved / "milestone1_layernorm.py"),
        "lint": partial(call_in, folder, "lint", "--quick"),
        "lint unproved": partial(call_in, folder, "lint", "--rubric", unproved),
        "mistyped pattern": partial(call_in, elsewhere, "class", "--rubric", mistyped),
    }
    return together(calls)


def test_a_pattern_that_matches_no_hidden_test_is_a_wrong_rubric(ended: dict[str, Ended]) -> None:
    """It is found before anybody is graded."""
    call = ended["mistyped pattern"]
    assert call.done.returncode == 2
    assert "'test_exact_gleu' matches no test" in call.done.stderr
    assert "perhaps you meant 'test_exact_gelu'" in call.done.stderr
    assert call.after == call.before


def test_check_of_a_folder_shows_points(ended: dict[str, Ended]) -> None:
    """Every criterion with its mark; status 0, and nothing is left in the folder."""
    call = ended["check folder"]
    assert (call.done.returncode, call.done.stderr) == (0, "")
    assert "Score: 100 of 100" in call.done.stdout
    assert "✗" not in call.done.stdout
    assert max(map(len, call.done.stdout.splitlines())) <= 80
    assert call.after == call.before


def test_check_without_a_path_looks_at_the_current_folder(ended: dict[str, Ended]) -> None:
    """And `--json` prints the scorecard, and nothing else."""
    done = ended["check here"].done
    card = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert (card["student"], card["score"], card["status"]) == ("jdoe", 100.0, "graded")


def test_check_of_a_file_looks_at_that_file(ended: dict[str, Ended]) -> None:
    """Only its milestone is shown, with all of its points."""
    done = ended["check file"].done
    assert done.returncode == 0
    assert "LayerNorm from scratch  30 / 30" in done.stdout
    assert "Score: 30 of 30" in done.stdout
    assert "Milestone 2" not in done.stdout
    assert ESCAPE not in done.stdout


def test_lint_proves_the_shipped_assignment(ended: dict[str, Ended]) -> None:
    """Stubs earn nothing, solutions everything; `test_proof.py` has the variants."""
    done = ended["lint"].done
    assert (done.returncode, done.stderr) == (0, "")
    assert "Stubs earn 0 of 100 points, solutions 100." in done.stdout


def test_lint_names_what_does_not_prove_itself(ended: dict[str, Ended]) -> None:
    """A stub that is solved and a solution that is broken are named by their criteria."""
    done = ended["lint unproved"].done
    assert done.returncode == 1
    assert "stub earns 12 points: layernorm/matches-nn-layernorm" in done.stderr
    assert "solution does not pass ffn/exact-gelu (failed)" in done.stderr
    assert "solution does not pass layernorm" not in done.stderr
    assert "Traceback" not in done.stderr


@dataclass(frozen=True)
class Interrupted:
    """A run that was interrupted with the second student, and the same run again."""

    first: subprocess.CompletedProcess[str]
    kept: tuple[str, ...]
    second: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    """The hidden test of the second student sends SIGINT to the command, once."""
    folder = tmp_path_factory.mktemp("interrupted")
    rubric = assignment(folder / "assignment")
    submissions = write_class(folder / "class", ["compare", "interrupt-command", "right"])
    command = (submissions, "--rubric", rubric, "--out", folder / "results", "--jobs", "1")
    first = grade(*command, "--json")
    scored = sorted(path.parent.name for path in folder.glob("results/students/*/score.json"))
    return Interrupted(first, tuple(scored), grade(*command, "--json"))


def test_an_interrupt_keeps_what_is_graded(interrupted: Interrupted) -> None:
    """Status 130, how far it came and what to do, and no traceback."""
    assert interrupted.first.returncode == 130
    assert "interrupted after 1 of 3 submissions" in interrupted.first.stderr
    assert "run the same command again" in interrupted.first.stderr
    assert "Traceback" not in interrupted.first.stderr
    assert interrupted.first.stdout == ""
    assert interrupted.kept == ("compare",)


def test_the_run_after_an_interrupt_finishes(interrupted: Interrupted) -> None:
    """It grades the rest, and the class is complete."""
    assert interrupted.second.returncode == 0
    students = json.loads(interrupted.second.stdout)["students"]
    assert [s["score"] for s in students] == [5.0, 10.0, 10.0]
