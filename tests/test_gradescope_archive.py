"""The archive: what Gradescope and Unix want of it, and the wheel inside."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import io
import json
import os
import re
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from grader.attempts import attempt_id
from grader.errors import ArchiveError, AssignmentError
from grader.gradescope.archive import archive_bytes, requirements, unix_text
from grader.gradescope.export import export_results
from grader.gradescope.wheel import DISTRIBUTION, build_wheel
from grader.model import AttemptScore, Scorecard
from grader.results import Results
from grader.rubric import Rubric, load_rubric
from tests.corpus_run import ROOT, RUBRIC
from tests.scenarios import SUITE
from tests.support import grade, small_assignment

HERE = ROOT / "grader" / "gradescope"
RIGHT = "DEED = 'right'\n\n\ndef answer(x):\n    return x\n"

ASKS_FOR_RIGHT = """
from grader.examiner.student import Student

LOOKED_FOR = ("DEED",)


def test_right(student: Student) -> None:
    assert student.constant("DEED") == "right", "Not right."
"""


def built(rubric: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(archive_bytes(load_rubric(rubric), rubric)))


def own_assignment(folder: Path, solution: str = RIGHT) -> Path:
    """An instructor's own assignment beside its rubric; the rubric's path."""
    rubric = small_assignment(folder, SUITE)
    (folder / "solutions" / "answer.py").write_text(solution)
    (folder / "assignments" / "answer.py").write_text("DEED = None\n")
    (folder / "suites" / "helper.txt").write_text("data of the suite")
    (folder / "suites" / "__pycache__").mkdir()
    (folder / "suites" / "__pycache__" / "test_answer.pyc").touch()
    (folder / "results").mkdir()
    (folder / "results" / "grades.csv").write_text("somebody's")
    return rubric


def test_scripts_stand_at_the_root_and_may_be_run() -> None:
    """Both have run bits, a shebang in their first bytes, and no carriage return."""
    archive = built(RUBRIC)
    for name in ("setup.sh", "run_autograder"):
        assert archive.getinfo(name).external_attr >> 16 == stat.S_IFREG | 0o755
        assert archive.read(name).startswith(b"#!/usr/bin/env bash\n")
    for name in ("setup.sh", "run_autograder", "requirements.txt"):
        assert b"\r" not in archive.read(name)


def test_a_checkout_with_other_line_ends_gives_unix_scripts(tmp_path: Path) -> None:
    """Carriage returns and a byte order mark break a shebang: they are taken out."""
    script = tmp_path / "setup.sh"
    script.write_bytes(b"\xef\xbb\xbf#!/bin/sh\r\necho\r\n")
    assert unix_text(script) == b"#!/bin/sh\necho\n"


@pytest.mark.parametrize("name", ["setup.sh", "run_autograder"])
def test_scripts_are_valid(name: str) -> None:
    """Bash can read them to their end."""
    subprocess.run(["bash", "-n", HERE / name], check=True)


def test_the_assignment_keeps_its_layout() -> None:
    """Rubric, stubs, solutions and suites lie as they lie beside the rubric."""
    names = built(RUBRIC).namelist()
    for name in (
        "rubric.yaml",
        "assignments/milestone1_layernorm.py",
        "solutions/milestone2_ffn.py",
        "grader/suites/test_milestone3_encoder_block.py",
    ):
        assert f"assignment/{name}" in names


def test_an_own_assignment_is_packed_and_nothing_else_beside_it(tmp_path: Path) -> None:
    """Of the folder of an instructor's own rubric, only what the rubric names."""
    archive = built(own_assignment(tmp_path / "course"))
    packed = {name for name in archive.namelist() if name.startswith("assignment/")}
    assert packed == {
        "assignment/rubric.yaml",
        "assignment/assignments/answer.py",
        "assignment/solutions/answer.py",
        "assignment/suites/test_answer.py",
        "assignment/suites/helper.txt",
    }
    archive.extractall(tmp_path / "unpacked")
    assert load_rubric(tmp_path / "unpacked" / "assignment" / "rubric.yaml").points == 10


@pytest.mark.parametrize("value", ["../elsewhere", "absolute", "."])
def test_what_does_not_lie_beside_the_rubric_is_refused(tmp_path: Path, value: str) -> None:
    """The archive could not hold it at the same place, or would hold everything."""
    rubric = own_assignment(tmp_path / "course")
    (tmp_path / "elsewhere").mkdir()
    value = str(tmp_path / "elsewhere") if value == "absolute" else value
    text = rubric.read_text().replace("suites: suites", f"suites: suites\nsolutions: {value}")
    rubric.write_text(text)
    with pytest.raises(AssignmentError, match=r"solutions: .*beside the rubric"):
        built(rubric)


def test_the_same_files_give_the_same_bytes() -> None:
    """No time of day and no order of a file system is in it."""
    assert build_wheel() == build_wheel()
    rubric = load_rubric(RUBRIC)
    assert archive_bytes(rubric, RUBRIC) == archive_bytes(rubric, RUBRIC)


def test_the_wheel_holds_the_grader_without_an_assignment() -> None:
    """Package, data files and metadata are in it, each as RECORD tells; no suite and solution."""
    archive = built(RUBRIC)
    (name,) = (name for name in archive.namelist() if name.endswith(".whl"))
    wheel = zipfile.ZipFile(io.BytesIO(archive.read(name)))
    names = wheel.namelist()
    for wanted in ("grader/cli.py", "grader/examiner/pytest.ini", "grader/gradescope/setup.sh"):
        assert wanted in names
    assert not [name for name in names if "suites/" in name or "assignment/" in name]
    (record,) = (name for name in names if name.endswith("/RECORD"))
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
    assert rows.keys() == set(names)
    for file, (digest, size) in rows.items():
        if file != record:
            content = wheel.read(file)
            encoded = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            assert (digest, size) == (f"sha256={encoded.decode()}", str(len(content)))
    entry_points = record.replace("RECORD", "entry_points.txt")
    assert b"grade = grader.__main__:main" in wheel.read(entry_points)


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12"])
def test_the_named_versions_are_those_the_project_allows(python: str) -> None:
    """For each Python, every dependency but torch is named once, in a version that fits."""
    lines = (HERE / "requirements.txt").read_text().splitlines()
    locked: dict[str, str] = {}
    environment = {"python_version": python, "python_full_version": f"{python}.0"}
    for line in lines:
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate(environment):
                assert requirement.name not in locked
                locked[requirement.name] = str(requirement.specifier).removeprefix("==")
    for wanted in map(Requirement, importlib.metadata.requires(DISTRIBUTION) or ()):
        if wanted.name != "torch" and wanted.marker is None:  # extras have one
            assert SpecifierSet(str(wanted.specifier)).contains(locked[wanted.name.lower()])


def test_the_cpu_build_of_torch_is_the_makefiles() -> None:
    """One version is tested, and its label keeps pip from a CUDA build."""
    script = (HERE / "setup.sh").read_text()
    found = re.search(r"TORCH:=(torch==\S+)\}", script)
    assert found is not None
    assert found.group(1).endswith("+cpu")
    assert f"'{found.group(1)}'" in (ROOT / "Makefile").read_text()


def test_the_command_proves_the_solution_and_writes(tmp_path: Path) -> None:
    """An instructor's own assignment; a warning where tests are hidden."""
    rubric = own_assignment(tmp_path / "course")
    rubric.write_text(rubric.read_text() + "gradescope: {visibility: after_published}\n")
    done = grade("gradescope", "own.zip", "--torch-index", "pip", "--rubric", rubric, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The solution earns 10 of 10 points." in done.stdout
    assert "hides the total" in done.stderr
    assert "setup.sh" in zipfile.ZipFile(tmp_path / "own.zip").namelist()


def test_the_address_of_torch_is_asked_for_and_written_into_the_script(rubric: Rubric) -> None:
    """Without it the image would not be built; nothing but an address gets into the script."""
    done = grade("gradescope", "x.zip", "--rubric", RUBRIC)
    assert done.returncode == 2
    assert "--torch-index ADDRESS" in done.stderr
    assert not Path("x.zip").exists()
    address = "https://builds.example.org/whl/cpu"
    with zipfile.ZipFile(io.BytesIO(archive_bytes(rubric, RUBRIC, address))) as archive:
        assert f': "${{TORCH_INDEX={address}}}"' in archive.read("setup.sh").decode()


@pytest.mark.parametrize(
    "address", ["cpu", "https://x/$(id)", 'https://x/"', "https://x y", "-i x"]
)
def test_what_is_no_address_does_not_get_into_the_script(rubric: Rubric, address: str) -> None:
    """The script runs as root in the image."""
    with pytest.raises(ArchiveError, match="not the address"):
        archive_bytes(rubric, RUBRIC, address)


def test_a_solution_that_loses_points_gives_no_archive(tmp_path: Path) -> None:
    """What it loses is named, and nothing is written."""
    rubric = own_assignment(tmp_path / "course", RIGHT.replace("'right'", "'wrong'"))
    done = grade("gradescope", "own.zip", "--torch-index", "pip", "--rubric", rubric, cwd=tmp_path)
    assert done.returncode == 1
    assert "answer/right (failed): The number is wrong." in done.stderr
    assert not (tmp_path / "own.zip").exists()


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    """The message says what to give."""
    done = grade("gradescope", tmp_path, "--rubric", RUBRIC)
    assert done.returncode == 2
    assert "is a folder" in done.stderr


@pytest.mark.parametrize(
    ("python", "says"),
    [
        ("#!/bin/sh\nexit 1\n", "Python 3.10 or later is needed"),
        ('#!/bin/sh\n[ "$1" = -m ] && exit 1\nexit 0\n', "while making a virtual environment"),
    ],
)
def test_setup_fails_with_a_readable_message(tmp_path: Path, python: str, says: str) -> None:
    """The last lines of the build say what was being done, and what is wrong."""
    fake = tmp_path / "python"
    fake.write_text(python)
    fake.chmod(0o755)
    shutil.copyfile(HERE / "setup.sh", tmp_path / "setup.sh")
    environment = {"PYTHON": str(fake), "ROOT": str(tmp_path / "root"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", tmp_path / "setup.sh"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "*** The autograder was not built, while" in done.stderr
    assert says in done.stderr


BARE_PYTHON = """#!/bin/sh
case "$2" in
  *ensurepip*) exit 1 ;;
  *print*) echo python3.10 ;;
esac
"""


@pytest.mark.parametrize(
    ("fails", "told"),
    [("update", "packages are out of reach"), ("install", "python3.10-venv could not be")],
)
def test_a_build_without_ubuntus_packages_names_the_step(
    tmp_path: Path, fails: str, told: str
) -> None:
    """Python was found by then; what is missing is its module `venv`."""
    apt_get = f'#!/bin/sh\ncase " $* " in *" {fails} "*) exit 100 ;; esac\n'
    for name, text in (("python", BARE_PYTHON), ("apt-get", apt_get)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHON": str(tmp_path / "python"),
        "ROOT": str(tmp_path),
    }
    done = subprocess.run(
        ["bash", HERE / "setup.sh"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "while installing what makes virtual environments" in done.stderr
    assert told in done.stderr


def test_export_writes_a_file_for_each_submission(tmp_path: Path) -> None:
    """Results of a class as Gradescope's autograder would have told them, from saved scorecards."""
    rubric = own_assignment(tmp_path / "course")
    for student, deed in (("ann", "right"), ("bo", "wrong"), ("chen", "divide")):
        (tmp_path / "class" / student).mkdir(parents=True)
        text = RIGHT.replace("'right'", repr(deed))
        (tmp_path / "class" / student / "answer.py").write_text(text)
    for name in ("answer.py", "old/answer.py"):
        (tmp_path / "class" / "tie" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "class" / "tie" / name).write_text(RIGHT + f"# {name}\n")
    options = ("--rubric", rubric)
    assert grade("class", *options, cwd=tmp_path).returncode == 1
    done = grade("export", "gradescope", "results", "--into", "files", *options, cwd=tmp_path)
    assert done.returncode == 1
    assert "4 files are in files" in done.stdout
    found = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "files").iterdir()}
    assert {name: results.get("score") for name, results in found.items()} == {
        "ann": 10.0,
        "bo": 5.0,
        "chen": None,
        "tie": None,
    }
    assert "tests" not in found["chen"]
    assert "Several files could be answer.py" in found["tie"]["tests"][0]["output"]
    assert not [name for name, results in found.items() if "Nothing was" in results["output"]]


@pytest.mark.parametrize(
    ("attempts", "told"),
    [
        ({1: "Two tie.", 2: "Two tie."}, "Two tie."),
        ({1: "Two tie.", 2: "A notebook."}, "Two tie. A notebook."),
        ({1: None, 2: "A notebook."}, "A notebook."),
        ({1: "", 2: "A notebook."}, ""),
        ({}, "Of the one."),
    ],
)
def test_export_tells_a_students_own_problem_in_any_attempt(
    tmp_path: Path, rubric: Rubric, attempts: dict[int, str | None], told: str
) -> None:
    """With `attempts: best` the report of the student is that of an attempt; `None` has a score."""
    results = Results(tmp_path / "results")
    card = Scorecard(
        student="ann",
        status="needs-attention",
        score=None,
        max_score=100.0,
        milestones=(),
        attempts=tuple(
            AttemptScore(
                number=number,
                submitted=None,
                status="graded" if problem is None else "needs-attention",
                score=5.0 if problem is None else None,
                counts=False,
            )
            for number, problem in attempts.items()
        ),
    )
    results.save_scorecard(card, "")
    problems = {attempt_id("ann", number): problem for number, problem in attempts.items()}
    for name, problem in (problems or {"ann": "Of the one."}).items():
        facts = {"problem": problem} if problem else {}
        examination = {"student": name, "expected": [], "notes": {}, "facts": facts}
        results.save_report(name, {"tests": [], "examination": examination})
    assert export_results(results, rubric, tmp_path / "files") == (1, ["ann"])
    found = json.loads((tmp_path / "files" / "ann.json").read_text())
    assert ("tests" in found) == bool(told)
    assert told in found["output"].replace("\\", "")


def test_export_of_no_results_says_what_to_give(tmp_path: Path) -> None:
    """Nothing is written."""
    done = grade("export", "gradescope", tmp_path, "--into", tmp_path / "x", "--rubric", RUBRIC)
    assert done.returncode == 2
    assert "holds no graded students" in done.stderr
    assert not (tmp_path / "x").exists()


def test_lint_warns_of_hidden_tests(tmp_path: Path) -> None:
    """The assignment proves itself all the same."""
    rubric = small_assignment(tmp_path, ASKS_FOR_RIGHT)
    (tmp_path / "solutions" / "answer.py").write_text(RIGHT)
    (tmp_path / "assignments" / "answer.py").write_text("DEED = 'none'\n")
    rubric.write_text(rubric.read_text() + "gradescope: {visibility: after_due_date}\n")
    done = grade("lint", "--quick", "--rubric", rubric)
    assert done.returncode == 0, done.stderr
    assert "Warning: Gradescope hides the total" in done.stderr


def test_declared_packages_are_installed_in_the_container_too() -> None:
    """What the rubric lets student code import is added in the version that is here."""
    assert requirements(("torch", "numpy")) == unix_text(HERE / "requirements.txt")
    added = requirements(("torch", "Hypothesis")).removeprefix(requirements(("torch",)))
    version = importlib.metadata.version("hypothesis")
    assert f"hypothesis=={version}" in added.decode().splitlines()
