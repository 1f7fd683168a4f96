"""`grade diff`: folders in, a table, JSON or CSV and an exit status out."""

from __future__ import annotations

import csv
import io
import json
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from grader.commands.diff import diff as diff_command
from grader.errors import ResultsError
from grader.model import (
    Scorecard,
)
from grader.results import Results
from tests.scorecards import FULL, NEW, OLD
from tests.support import grade


def write(folder: Path, cards: Mapping[str, Scorecard]) -> Path:
    """A results folder with these scorecards."""
    for student, saved in cards.items():
        named = saved.model_copy(update={"student": student})
        Results(folder).save_scorecard(named, "# Feedback\n")
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two results folders."""
    return write(tmp_path / "old", OLD), write(tmp_path / "new", NEW)


def test_the_command_tells_by_its_status_whether_something_differs(
    folders: tuple[Path, Path],
) -> None:
    """1 with the table, 0 with a sentence."""
    old, new = folders
    changed, same = grade("diff", old, new), grade("diff", old, old)
    assert (changed.returncode, same.returncode) == (1, 0)
    assert "5 of 6 students changed" in changed.stdout
    assert "cleo" in changed.stdout
    assert "\x1b" not in changed.stdout
    assert same.stdout == "No student's score or status has changed (5 in all).\n"
    assert changed.stderr == same.stderr == ""


def test_two_scorecards_are_in_memory_and_each_is_read_once(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The two of one student, however large the classes are."""
    read: list[weakref.ref[Scorecard]] = []
    alive = []
    really_read = Results._read_scorecard

    def watched(results: Results, student: str) -> Scorecard:
        card = really_read(results, student)
        read.append(weakref.ref(card))
        alive.append(sum(reference() is not None for reference in read))
        return card

    monkeypatch.setattr(Results, "_read_scorecard", watched)
    assert diff_command(*folders) == 1
    assert "5 of 6 students changed" in capsys.readouterr().out
    assert len(read) == len(OLD) + len(NEW)
    assert max(alive) == 2


def test_the_command_prints_json_or_csv(folders: tuple[Path, Path]) -> None:
    """Nothing else on stdout, and the same statuses; both at once are refused."""
    as_json, as_csv = (grade("diff", *folders, option) for option in ("--json", "--csv"))
    data: Any = json.loads(as_json.stdout)
    assert (data["old"], data["new"]) == tuple(map(str, folders))
    assert (as_json.returncode, as_csv.returncode) == (1, 1)
    assert len(list(csv.DictReader(io.StringIO(as_csv.stdout)))) == 9
    both = grade("diff", *folders, "--json", "--csv")
    assert (both.returncode, both.stdout) == (2, "")
    assert "--csv" in both.stderr


BROKEN = {
    "empty": (b"", "Invalid JSON"),
    "half": (b'{"format": 1, "student": "ann"', "Invalid JSON"),
    "other": (b"[]", "an object"),
    "another-format": (b'{"format": 2}', "format"),
    "not-utf8": (b"\xff\xfe{}", "Invalid JSON"),
    "nan": (FULL.model_dump_json().replace('"score":30.0', '"score":NaN').encode(), "score"),
    "extra": (FULL.model_dump_json().replace('"score":30.0', '"score":30.0,"x":1').encode(), "x"),
}


def test_broken_scorecards_are_all_named(tmp_path: Path) -> None:
    """Status 2, each with its reason; nothing is compared by half."""
    old, new = write(tmp_path / "old", OLD), write(tmp_path / "new", OLD)
    for name, (content, _) in BROKEN.items():
        path = new / "students" / name / "score.json"
        path.parent.mkdir()
        path.write_bytes(content)
    (new / "students" / "missing").mkdir()
    done = grade("diff", old, new)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    told = {line.split("/")[0].strip(): line for line in done.stderr.splitlines()}
    for name, (_, reason) in BROKEN.items():
        assert reason in told[name]
    assert "missing/score.json: No such file" in told["missing"]
    assert "Grade into that folder again" in done.stderr


@pytest.mark.parametrize(
    ("broken", "told"), [(["old"], "old"), (["new"], "new"), (["old", "new"], "old")]
)
def test_a_broken_scorecard_of_either_folder_is_told(
    tmp_path: Path, broken: list[str], told: str
) -> None:
    """With the folder that it lies in, the old one first; nobody is called added or removed."""
    folders = [write(tmp_path / name, OLD) for name in ("old", "new")]
    for name in broken:
        (tmp_path / name / "students" / "bob" / "score.json").write_bytes(b"")
    with pytest.raises(ResultsError, match=r"bob/score\.json") as raised:
        diff_command(*folders)
    assert f"{tmp_path / told}/students holds" in str(raised.value)


def test_many_broken_scorecards_are_counted(tmp_path: Path) -> None:
    """Ten are listed."""
    old = write(tmp_path / "old", OLD)
    for number in range(15):
        (old / "students" / f"s{number}").mkdir()
    done = grade("diff", old, old)
    assert done.stderr.count("/score.json") == 10
    assert "and 5 more" in done.stderr


@pytest.mark.parametrize("kind", ["absent", "file", "folder"])
def test_what_is_no_results_folder_is_wrong_usage(tmp_path: Path, kind: str) -> None:
    """A missing folder, a file, and a folder of something else."""
    other = tmp_path / kind
    if kind == "file":
        other.touch()
    elif kind == "folder":
        (other / "ann").mkdir(parents=True)
    done = grade("diff", write(tmp_path / "old", OLD), other)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{other} is no results folder" in done.stderr


def test_files_beside_the_students_are_nobody(tmp_path: Path) -> None:
    """A file that a file manager has left is no student."""
    old = write(tmp_path / "old", OLD)
    (old / "students" / ".DS_Store").touch()
    assert set(Results(old).scorecards()) == OLD.keys()
