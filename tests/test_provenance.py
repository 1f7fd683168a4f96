"""What an examination depends on, and saying what of it has changed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader import __version__, provenance
from grader.provenance import Changes
from grader.results import Results
from grader.rubric import Rubric, load_rubric
from grader.sandbox.policy import ALL_WALLS, LANDLOCK, UID
from tests.disturbances import make_class
from tests.support import read_json, small_assignment

WITHOUT_FILE_WALLS = tuple(wall for wall in ALL_WALLS if wall not in (LANDLOCK, UID))
NOW = {"torch": "2.13.0", "Python": "3.11", "the hidden suite test_a.py": "f" * 64}


@pytest.fixture
def small(tmp_path: Path) -> Rubric:
    """A small assignment."""
    return load_rubric(small_assignment(tmp_path / "small", "def test_one(): pass\n"))


def rewritten(small: Rubric, file: str, change: Callable[[str], str]) -> Rubric:
    """The assignment after a change of one file."""
    path = small.root / file
    path.write_text(change(path.read_text() if path.exists() else ""))
    return load_rubric(small.root / "rubric.yaml")


CHANGED = {
    "the hidden suite test_answer.py": ("suites/test_answer.py", lambda text: text + "\n"),
    "the suites' helper helper.py": ("suites/helper.py", lambda text: "X = 1\n"),
    "the packages": ("rubric.yaml", lambda text: "packages: [torch]\n" + text),
    "the limit memory_mb": ("rubric.yaml", lambda text: "limits: {memory_mb: 999}\n" + text),
    "the file or suite of answer": (
        "rubric.yaml", lambda text: text.replace("answer.py\n", "answers.py\n", 1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("part", CHANGED)
def test_a_changed_file_changes_the_part_of_its_name(small: Rubric, part: str) -> None:
    """And no other part."""
    before = provenance.provenance(small, ALL_WALLS)
    now = provenance.provenance(rewritten(small, *CHANGED[part]), ALL_WALLS)
    assert {name for name, value in now.items() if before.get(name) != value} == {part}


def test_versions_and_walls_are_parts(small: Rubric, monkeypatch: pytest.MonkeyPatch) -> None:
    """The grader's, torch's and Python's minor version; a patch of Python changes nothing."""
    monkeypatch.setattr(provenance, "torch_version", lambda: "9.9")
    monkeypatch.setattr("platform.python_version_tuple", lambda: ("3", "10", "12"))
    found = provenance.provenance(small, ALL_WALLS)
    versions = {"the grader": __version__, "torch": "9.9", "Python": "3.10"}
    assert versions.items() <= found.items()
    without = provenance.provenance(small, WITHOUT_FILE_WALLS)
    assert (found | {"the wall around files": "missing"}) == without


def test_points_and_titles_are_no_part(small: Rubric) -> None:
    """They are applied to saved reports."""
    before = provenance.provenance(small, ALL_WALLS)
    dearer = rewritten(small, "rubric.yaml", lambda text: text.replace("points: 10", "points: 11"))
    assert provenance.provenance(dearer, ALL_WALLS) == before


def notice(total: int, *before: dict[str, str]) -> str:
    changes = Changes(NOW)
    for saved in before:
        changes.add(saved)
    return changes.notice(total)


@pytest.mark.parametrize(
    ("before", "total", "told"),
    [
        ([NOW, NOW], 2, ""),
        ([], 3, ""),
        ([NOW | {"torch": "2.12.0"}] * 3, 3,
         "Torch (2.12.0, now 2.13.0) has changed: all 3 submissions are graded again."),
        ([NOW | {"the hidden suite test_a.py": "0" * 64}, NOW], 2,
         "The hidden suite test_a.py has changed: 1 of 2 submissions are graded again."),
        ([NOW | {"torch": "1"}, NOW | {"Python": "3.9"}], 5,
         "Torch (1, now 2.13.0) and Python (3.9, now 3.11) have changed: 2 of 5 submissions are "
         "graded again."),
        ([NOW | {"the suites' helper gone.py": "0" * 64}], 1,
         "The suites' helper gone.py has changed: the submission is graded again."),
        ([NOW | dict.fromkeys("abcde", "1")], 2,
         "A, b, c and 2 more have changed: 1 of 2 submissions are graded again."),
        ([{}], 1, "The grader has changed: the submission is graded again."),
    ],
    ids=["nothing", "nobody", "all", "some", "two-parts", "gone", "many", "unknown"],
)  # fmt: skip
def test_a_notice_says_what_and_how_many(
    before: list[dict[str, str]], total: int, told: str
) -> None:
    """One sentence; values only where they are short."""
    assert notice(total, *before) == told


@pytest.mark.parametrize("saved", [{"torch": "1"}, None, "text", ["list"]])
def test_saved_provenance_is_read_from_the_report(tmp_path: Path, saved: object) -> None:
    """A report without it, or with something else in its place, is of another grader."""
    results = Results(tmp_path)
    examination = {"student": "ann", "expected": [], "notes": {}, "facts": {}, "provenance": saved}
    results.student("ann").mkdir(parents=True)
    results.report("ann").write_text(json.dumps({"tests": [], "examination": examination}))
    assert results.saved_provenance("ann", NOW) == (saved if isinstance(saved, dict) else {})
    assert results.saved_provenance("bob", NOW) == NOW


def mend_suite(folder: Path) -> None:
    """Change a comment of the hidden suite."""
    with (folder / "assignment" / "suites" / "test_answer.py").open("a") as stream:
        stream.write("# mended\n")


@dataclass(frozen=True)
class Runs:
    """A class graded; then with another suite, but killed; then to the end; then once more."""

    results: Path
    killed: subprocess.CompletedProcess[str]
    finished: subprocess.CompletedProcess[str]
    fresh: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Three students."""
    folder = tmp_path_factory.mktemp("provenance")
    small, results = make_class(folder, 3), folder / "results"
    assert small.grade(results).returncode == 0
    mend_suite(folder)
    killed = small.grade(results, "command s1")
    (folder / "class" / "s2" / "answer.py").write_text("NAME, POINTS = 's2', 3\ndef answer(): 1\n")
    finished = small.grade(results, options=("--json",))
    assert small.left() == ""
    mend_suite(folder)
    return Runs(results, killed, finished, small.grade(results, options=("--fresh",)))


def test_a_changed_suite_is_said_once(runs: Runs) -> None:
    """Before anything is graded, and what a killed run has done already is not counted again."""
    said = "The hidden suite test_answer.py has changed: {} submissions are graded again."
    assert told(runs.killed) == said.format("all 3")
    assert told(runs.finished) == said.format("2 of 3")


def told(done: subprocess.CompletedProcess[str]) -> str:
    assert max(map(len, done.stderr.splitlines())) <= 80
    return " ".join(done.stderr.split())


def test_what_is_up_to_date_is_told_to_programs(runs: Runs) -> None:
    """A count, and a flag for each student."""
    summary: Any = json.loads(runs.finished.stdout)
    assert summary["up_to_date"] == 1
    flags = {student["student"]: student["up_to_date"] for student in summary["students"]}
    assert flags == {"s0": True, "s1": False, "s2": False}


def test_fresh_examines_all_without_a_word(runs: Runs) -> None:
    """Nothing is up to date, whatever has changed."""
    assert (runs.fresh.returncode, runs.fresh.stderr) == (0, "")
    assert "up to date" not in runs.fresh.stdout


def test_what_a_run_depends_on_is_kept(runs: Runs) -> None:
    """In run.json, and in each report, which a killed run has too."""
    kept = read_json(runs.results / "run.json")["provenance"]
    assert {"the grader", "torch", "the hidden suite test_answer.py"} <= kept.keys()
    for path in runs.results.glob("students/*/report.json"):
        assert read_json(path)["examination"]["provenance"] == kept
