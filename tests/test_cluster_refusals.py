"""Clusters and workers that are refused before anything is examined on them."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from grader import cli
from grader.batch import containment, setup_of
from grader.cluster import client, remote
from grader.cluster.executor import reason_to_refuse
from grader.errors import ClusterError
from grader.rubric import Rubric
from grader.sandbox.policy import ALL_WALLS, LANDLOCK, LIMITS, SECCOMP, UID
from tests.corpus_run import ROOT

SAMPLES = ROOT / "tests" / "sample_class"


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "127.0.0.1:1", "what://127.0.0.1:1", ""])
def test_an_address_that_does_not_answer(
    tmp_path: Path,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A message with the address and what it should look like, status 2, nothing written."""
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.3)
    out = tmp_path / "out"
    assert cli.run([str(SAMPLES), "--out", str(out), "--scheduler", address]) == 2
    words = capsys.readouterr().err
    assert f"No Dask scheduler answers at {address!r}" in words
    assert "tcp://HOST:8786" in words
    assert not out.exists()


def test_a_server_of_another_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes the connection and says nothing is not waited for without end."""
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterError, match="No Dask scheduler answers"):
            client.connect(address)


def test_without_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message with the command that installs it, which names what the extra names."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    out = tmp_path / "out"
    assert cli.run([str(SAMPLES), "--out", str(out), "--scheduler", "tcp://127.0.0.1:1"]) == 2
    words = capsys.readouterr().err
    assert f"python -m pip install '{client.REQUIREMENT}'" in words
    assert not out.exists()
    assert f'cluster = ["{client.REQUIREMENT}"]' in (ROOT / "pyproject.toml").read_text()


def test_jobs_and_scheduler_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    """The workers' threads decide; a number that does nothing would mislead."""
    assert cli.run([str(SAMPLES), "--jobs", "2", "--scheduler", "tcp://127.0.0.1:1"]) == 2
    assert "--nthreads" in capsys.readouterr().err


def test_dask_is_imported_for_a_cluster_only() -> None:
    """The command starts no slower for those who have none."""
    code = "import sys, grader.cli; print([n for n in ('dask', 'distributed') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("walls", "missing"),
    [
        (ALL_WALLS, ""),
        ((LANDLOCK, SECCOMP), ""),
        ((UID, SECCOMP), ""),
        ((LIMITS, SECCOMP), "the file system"),
        ((UID, LANDLOCK), "the network"),
    ],
)
def test_a_worker_needs_walls_around_files_and_network(
    walls: tuple[str, ...], missing: str
) -> None:
    """A scheduler runs what it is sent, so student code must not reach it."""
    answer = {"tests": [], "walls": list(walls)}
    assert bool(reason_to_refuse(answer, trusted=False)) == bool(missing)
    assert missing in reason_to_refuse(answer, trusted=False)
    assert reason_to_refuse(answer, trusted=True) == ""


def test_the_weakest_walls_are_recorded() -> None:
    """A wall counts that stood on every machine; files were open if they were on any."""
    both = containment([(LIMITS, UID), (LIMITS, LANDLOCK, SECCOMP)])
    assert both["isolation"] == ["own process", LIMITS, "deadlines"]
    assert both["trusted"] is False
    assert containment([ALL_WALLS, (LIMITS,)])["trusted"] is True


def test_a_suite_outside_its_folder_cannot_travel(tmp_path: Path, rubric: Rubric) -> None:
    """Only the suites' folder is sent; what lies elsewhere is refused by name."""
    setup = setup_of(rubric)
    outside = tmp_path / "test_outside.py"
    with pytest.raises(ClusterError, match=r"test_outside\.py lies outside"):
        remote.pack(setup.model_copy(update={"suites": (*setup.suites, str(outside))}))
