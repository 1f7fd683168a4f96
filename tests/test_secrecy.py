"""Before anybody is examined a worker tries to read what no student may see."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.sandbox.reach import way_to
from tests.corpus_run import ROOT
from tests.privileges import ordinary_python, run_without_landlock
from tests.support import copy_solutions

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="a user of its own needs root")
ASSIGNMENT = ("assignments", "solutions", "grader", "rubric.yaml")


@pytest.fixture
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the assignment and a class of one, where every user can get."""
    folder = Path("/var/tmp") / tmp_path_factory.mktemp("assignment").name
    folder.mkdir(mode=0o755)
    for name in ("assignments", "solutions"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copytree(ROOT / "grader" / "suites", folder / "grader" / "suites")
    shutil.copyfile(ROOT / "rubric.yaml", folder / "rubric.yaml")
    copy_solutions(folder / "class" / "ann")
    yield folder
    shutil.rmtree(folder)


def grade(folder: Path, *options: str, landlock: bool = False) -> subprocess.CompletedProcess[str]:
    """Grade the class of an assignment, perhaps on a kernel without Landlock."""
    paths = [str(folder / "class"), "--rubric", str(folder / "rubric.yaml")]
    command = [sys.executable, "-m", "grader", *paths, "--out", str(folder / "results"), *options]
    if landlock:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return run_without_landlock(command)


@root_only
def test_an_open_checkout_without_landlock_is_refused(assignment: Path) -> None:
    """A user of its own reads what everybody may read: the command names it and writes nothing."""
    done = grade(assignment)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(assignment / "solutions") in done.stderr
    assert "chmod -R go-rwx" in done.stderr
    assert "--trust-submissions" in done.stderr
    assert not (assignment / "results").exists()


@root_only
def test_landlock_closes_an_open_checkout(assignment: Path) -> None:
    """The same folder is graded where the kernel has Landlock."""
    done = grade(assignment, landlock=True)
    assert (done.returncode, done.stderr) == (0, "")


@root_only
def test_trust_goes_on_and_is_recorded(assignment: Path) -> None:
    """Whoever accepts it is told so in every run."""
    done = grade(assignment, "--trust-submissions")
    assert done.returncode == 0, done.stderr
    assert '"trusted": true' in (assignment / "results" / "run.json").read_text()


@root_only
def test_a_closed_folder_is_climbed_into_from_open_libraries(tmp_path: Path) -> None:
    """A library folder that is held open leads past a closed one above it."""
    outer = tmp_path / "private"
    (outer / "lib" / "site-packages").mkdir(parents=True)
    (outer / "secret").write_text("secret")
    outer.chmod(0o711)
    tmp_path.chmod(0o700)
    held = os.open(outer / "lib" / "site-packages", os.O_PATH)
    child = os.fork()
    if child == 0:
        os.setgid(60_999)
        os.setuid(60_999)
        os._exit(0 if way_to(outer / "secret") == "from an open folder" else 1)
    os.close(held)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_every_way_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nothing closes is read by its path, folders are listed, what is not there is no way."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("secret")
    assert way_to(tmp_path / "secret") == "by its path"
    assert way_to(tmp_path) == "by its path"
    assert way_to(tmp_path / "nothing") == ""
    assert list(tmp_path.iterdir()) == [tmp_path / "secret"]


@root_only
def test_an_assignment_among_declared_packages_is_refused(tmp_path: Path, assignment: Path) -> None:
    """What lies inside a package that student code may import is open to it, whatever the wall."""
    python = ordinary_python(assignment)
    if python is None:
        pytest.skip("no interpreter of this version beside this one")
    (packages,) = (assignment / "venv" / "lib").glob("python*/site-packages")
    info = packages / "course-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: course\nVersion: 1.0\n")
    (info / "RECORD").write_text("course/__init__.py,,\n")
    ignored = shutil.ignore_patterns("venv")
    shutil.copytree(assignment, packages / "course", ignore=ignored)
    (packages / "course" / "__init__.py").write_text("")
    rubric = packages / "course" / "rubric.yaml"
    rubric.write_text(rubric.read_text() + "\npackages: [torch, numpy, course]\n")
    command = [str(python), "-m", "grader", str(assignment / "class"), "--rubric", str(rubric)]
    command += ["--out", str(tmp_path / "results")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert str(packages / "course" / "solutions") in done.stderr
