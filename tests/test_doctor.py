"""`grade doctor`, and refusing to grade without any wall around the file system."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader import cli, doctor
from grader.commands import options
from grader.cpus import available_cpus
from grader.errors import ContainmentError
from grader.sandbox.confinement import available_walls
from grader.sandbox.policy import ALL_WALLS, FILE_WALLS, LANDLOCK, UID
from tests.corpus_run import ROOT


def test_probes_agree_with_what_the_kernel_says() -> None:
    """A wall that is available stands when it is tried, and the other way round."""
    standing = {probe.wall for probe in doctor.probe_walls() if probe.stands}
    assert standing == set(available_walls())


def test_probe_notices_a_wall_that_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wall that is put up without an error but stops nothing is reported as missing."""
    for half in ("prepare", "confine"):
        monkeypatch.setattr(doctor, half, lambda *ignored: None)
    standing = {probe.wall for probe in doctor.probe_walls() if probe.stands}
    assert standing <= {"descriptors", UID}  # these two attempts put their wall up themselves


def test_probe_notices_a_wall_that_cannot_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wall that the kernel refuses is reported as missing, with what that means."""

    def refuse(*ignored: object) -> None:
        raise OSError("not here")

    monkeypatch.setattr(doctor, "confine", refuse)
    probes = doctor.probe_walls()
    assert not any(probe.stands for probe in probes)
    assert {probe.meaning for probe in probes} == set(doctor.WITHOUT.values())


def test_command_prints_table_and_json() -> None:
    """The table names every wall in at most 80 columns; --json gives the same to programs."""
    table = _grade("doctor")
    assert all(wall in table.stdout for wall in ALL_WALLS)
    assert re.search(rf"^{available_cpus()} submissions? (is|are) examined", table.stdout, re.M)
    assert max(map(len, table.stdout.splitlines())) <= 80
    walls = json.loads(_grade("doctor", "--json").stdout)
    assert [probe["wall"] for probe in walls] == [*ALL_WALLS, doctor.ANSWERS]


def test_no_file_wall_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without uid and Landlock the command refuses and names two ways out."""
    monkeypatch.setattr(options, "available_walls", lambda: ("limits", "seccomp"))
    with pytest.raises(ContainmentError, match=r"container or as root.*--trust-submissions"):
        options.walls_to_use(trust=False)
    assert options.walls_to_use(trust=True) == ("limits", "seccomp")


@pytest.mark.parametrize("wall", FILE_WALLS)
def test_one_file_wall_is_enough(monkeypatch: pytest.MonkeyPatch, wall: str) -> None:
    """Either of the two walls around files will do."""
    monkeypatch.setattr(options, "available_walls", lambda: (wall,))
    assert options.walls_to_use(trust=False) == (wall,)


def test_refusal_is_a_message_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The refusal ends with status 2 and leaves no results folder."""
    monkeypatch.setattr(options, "available_walls", lambda: ())
    out = tmp_path / "results"
    assert cli.run([str(ROOT / "tests" / "sample_class"), "--out", str(out)]) == 2
    assert "grade doctor" in capsys.readouterr().err
    assert not out.exists()


def test_trust_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trusted grading stands in run.json and in the notes of every student."""
    walls = tuple(wall for wall in ALL_WALLS if wall not in (UID, LANDLOCK))
    monkeypatch.setattr(options, "available_walls", lambda: walls)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "one").mkdir()
    arguments = [str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--trust-submissions"]
    assert cli.run(arguments) == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["trusted"] is True
    assert LANDLOCK not in run["isolation"]
    assert "--trust-submissions" in (tmp_path / "out" / "gradebook.csv").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_run_names_the_walls_in_force(tmp_path: Path) -> None:
    """run.json lists every wall that stood."""
    (tmp_path / "class" / "one").mkdir(parents=True)
    _grade(str(tmp_path / "class"), "--out", str(tmp_path / "out"))
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["isolation"] == ["own process", *available_walls(), "deadlines"]
    assert run["trusted"] is False


def _grade(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grader", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
