"""The wheel: what it holds, and that the installed command grades without the checkout."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.gradescope.archive import archive_bytes
from grader.rubric import load_rubric
from tests.attack_run import load_attack, stage_attack
from tests.corpus_run import ROOT, RUBRIC
from tests.support import copy_solutions


@dataclass(frozen=True)
class Installed:
    """The wheel, and an environment that it is installed in."""

    wheel: Path
    bin: Path

    def run(self, program: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run one of the environment's programs as a user would."""
        plain = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        command = [str(self.bin / program), *arguments]
        return subprocess.run(
            command, cwd=cwd, env=plain, capture_output=True, text=True, check=False
        )


def run(*command: str | Path) -> None:
    subprocess.run(list(map(str, command)), cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build the wheel and install it beside the project's packages, without the project itself."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ("build", "--no-isolation", "--wheel", "--outdir", folder)
    run(sys.executable, "-m", *build)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel
    )
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    # A folder named here is searched, but its own .pth files, the editable install, are not read.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Installed(wheel, python.parent)


def test_the_wheel_holds_the_assignment_and_no_tests(installed: Installed) -> None:
    """Rubric, stubs, solutions, suites and pytest's settings are in it, and nothing of tests/."""
    names = zipfile.ZipFile(installed.wheel).namelist()
    inside = "grader/assignment/"
    for name in (
        inside + "rubric.yaml",
        inside + "assignments/milestone1_layernorm.py",
        inside + "solutions/milestone3_encoder_block.py",
        inside + "grader/suites/test_milestone2_ffn.py",
        "grader/examiner/pytest.ini",
    ):
        assert name in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]
    assert not [name for name in names if "__pycache__" in name]


def test_the_installed_package_is_the_wheels_own(installed: Installed, tmp_path: Path) -> None:
    """The checkout is not what runs in that environment."""
    done = installed.run("python", "-c", "import grader; print(grader.__file__)", cwd=tmp_path)
    assert Path(done.stdout.strip()).is_relative_to(installed.bin.parent), done


def test_the_installed_command_grades(installed: Installed, tmp_path: Path) -> None:
    """From any folder, with the rubric and suites of the wheel, the solutions earn 100 points."""
    copy_solutions(tmp_path / "class" / "ann")
    done = installed.run("grade", "class", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    row = next(line for line in done.stdout.splitlines() if line.startswith("ann"))
    assert row.split() == ["ann", "30", "25", "45", "100", "graded"]
    assert (tmp_path / "results" / "gradebook.csv").exists()


def test_the_installed_command_builds_an_autograder(installed: Installed, tmp_path: Path) -> None:
    """The archive holds the same files as one that is built in the checkout."""
    done = installed.run(
        "grade", "gradescope", "autograder.zip", "--torch-index", "pip", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    found = zipfile.ZipFile(tmp_path / "autograder.zip")
    expected = zipfile.ZipFile(io.BytesIO(archive_bytes(load_rubric(RUBRIC), RUBRIC)))
    assert found.namelist() == expected.namelist()
    (wheel,) = (name for name in found.namelist() if name.endswith(".whl"))
    inside, wanted = (
        zipfile.ZipFile(io.BytesIO(archive.read(wheel))) for archive in (found, expected)
    )
    assert inside.namelist() == wanted.namelist()
    assert found.read("assignment/rubric.yaml") == RUBRIC.read_bytes()


def test_the_installed_answers_are_out_of_reach(installed: Installed, tmp_path: Path) -> None:
    """Suites, rubric, solutions and reference lie among the packages, and no worker reads them."""
    names = ("import-answers", "read-hidden-tests", "read-rubric", "read-solution")
    rubric = load_rubric(RUBRIC)
    for name in names:
        stage_attack(load_attack(name), rubric, tmp_path / "class" / name)
    done = installed.run("grade", "class", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in names:
        student = tmp_path / "results" / "students" / name
        log = (student / "log.txt").read_text()
        assert ("HELD" in log, "BREACH" in log) == (True, False), log
        assert json.loads((student / "score.json").read_text())["score"] == 100.0
