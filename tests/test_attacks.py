"""The catalogue of attacks: none gets through, each would without its walls, nothing is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import pytest

from grader.sandbox.policy import ALL_WALLS, FIRST_UID, LANDLOCK, SHARED_FOLDERS, UID_COUNT
from tests.attack_run import attack_names, load_attack
from tests.corpus_run import ROOT
from tests.privileges import (
    ORDINARY_UID,
    ordinary_python,
    run_as_in_container,
    run_as_ordinary_user,
    run_without_landlock,
)

NAMES = attack_names()
BREACHES = [
    name for name in NAMES if load_attack(name).kind == "breach" and load_attack(name).walls
]
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="walls are proved as root")


def run(folder: Path, *options: str) -> dict[str, object]:
    """Run the catalogue in a process of its own, as an instructor's command would."""
    command = [sys.executable, "-m", "tests.attack_run", "--out", str(folder), *options]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads((folder / "result.json").read_text())
    return result


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What went wrong with each attack when the whole catalogue was graded as one class."""
    return run(tmp_path_factory.mktemp("catalogue"))


@pytest.fixture(scope="session")
def unwalled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Whether each breach gets through when its walls are left out and all others stand."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in BREACHES:
        groups[load_attack(name).walls].append(name)
    through: dict[str, object] = {}
    for walls, names in groups.items():
        folder = tmp_path_factory.mktemp("unwalled")
        through |= run(folder, "--without", ",".join(walls), *names)
    return through


@pytest.mark.parametrize("name", NAMES)
def test_attack_gains_nothing(catalogue: dict[str, object], name: str) -> None:
    """The attack does not get through, and the rest of the submission is graded as it deserves."""
    assert catalogue[name] == []


def test_neighbours_are_untouched(catalogue: dict[str, object]) -> None:
    """Honest submissions of the same class have the same score.json, to the last byte."""
    assert catalogue["honest"] == []


@root_only
@pytest.mark.parametrize("name", BREACHES)
def test_breach_gets_through_without_its_walls(unwalled: dict[str, object], name: str) -> None:
    """What stops the breach is the walls that it names, and nothing else."""
    assert unwalled[name] is True


# The whole catalogue runs as root above; elsewhere breaches are enough, and `make test-slow` takes
# all of it.
BREACHES_OR_ALL = pytest.mark.parametrize(
    "names", [BREACHES, pytest.param([], marks=pytest.mark.slow)], ids=["breaches", "all"]
)


@root_only
@BREACHES_OR_ALL
def test_ordinary_user_is_as_safe(names: list[str]) -> None:
    """Started as an ordinary user, Landlock and seccomp stop the catalogue alone."""
    with tempfile.TemporaryDirectory(prefix="ordinary-") as name:
        folder = Path(name)
        python = ordinary_python(folder)
        if python is None:
            pytest.skip("no interpreter of this version that every user may run")
        out = folder / "out"
        attack_run = ["-m", "tests.attack_run", "--out", str(out), *names]
        run_as_ordinary_user(python, attack_run, folder)
        assert failures_in(out) == {}


@root_only
@BREACHES_OR_ALL
def test_container_is_as_safe(tmp_path: Path, names: list[str]) -> None:
    """With the capabilities and system calls of a container the catalogue is stopped as well."""
    run_as_in_container(["-m", "tests.attack_run", "--out", str(tmp_path), *names])
    assert failures_in(tmp_path) == {}


@root_only
def test_root_without_landlock_is_as_safe(tmp_path: Path) -> None:
    """Without Landlock, users of their own stop every breach that it does not stop alone."""
    names = [name for name in BREACHES if load_attack(name).walls != (LANDLOCK,)]
    # Everybody may read this checkout, so without Landlock the command would refuse.
    trusting = ["-m", "tests.attack_run", "--trust", "--out", str(tmp_path)]
    attack_run = [sys.executable, *trusting, *names]
    done = run_without_landlock(attack_run)
    assert done.returncode == 0, done.stderr
    assert failures_in(tmp_path) == {}


@root_only
def test_ordinary_user_without_landlock_is_refused(tmp_path: Path) -> None:
    """Where nothing keeps files out of reach, the command says so, and the two ways out."""
    identity = ["setpriv", f"--reuid={ORDINARY_UID}", "--clear-groups"]
    with tempfile.TemporaryDirectory(prefix="ordinary-") as name:
        python = ordinary_python(Path(name))
        if python is None:
            pytest.skip("no interpreter of this version that every user may run")
        Path(name).chmod(0o777)
        command = [
            *identity,
            str(python),
            "-m",
            "grader",
            "tests/sample_class",
            "--out",
            f"{name}/r",
        ]
        done = run_without_landlock(command)
    assert done.returncode == 2
    assert "--trust-submissions" in done.stderr
    assert "container" in done.stderr


# One of each kind that a cold start could let through; `make test-slow` takes them all.
COLD = ("gc-search", "inherited-fds", "network")


@pytest.mark.parametrize(
    "names", [COLD, pytest.param((), marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_cold_workers_are_as_safe(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Workers started as new processes stop the catalogue as forked ones do."""
    wrong = run(tmp_path, "--cold", *names)
    assert {name: found for name, found in wrong.items() if found} == {}


def failures_in(folder: Path) -> dict[str, list[str]]:
    """What went wrong, without the attacks that did as they must."""
    result: dict[str, list[str]] = json.loads((folder / "result.json").read_text())
    return {name: wrong for name, wrong in result.items() if wrong}


def test_every_wall_is_proved_by_a_breach() -> None:
    """Leaving any wall out would be noticed by some attack."""
    named = {wall for name in BREACHES for wall in load_attack(name).walls}
    assert set(ALL_WALLS) - named <= {"no-new-privs"}, "no-new-privs has a test of its own"


def test_nothing_is_left(catalogue: dict[str, object], unwalled: dict[str, object]) -> None:
    """No process, file, shared memory or message queue of a worker's uid outlives the run."""
    uids = range(FIRST_UID, FIRST_UID + UID_COUNT)
    files = [p for folder in SHARED_FOLDERS for p in Path(folder).iterdir() if _uid(p) in uids]
    files += [p for f in SHARED_FOLDERS for p in Path(f).glob("grade-attack-*")]
    memory = [
        line
        for kind in ("shm", "msg", "sem")
        for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
        if any(str(uid) in line.split() for uid in uids)
    ]
    assert (files, memory) == ([], [])
    assert lingering_processes(uids) == set()


def lingering_processes(uids: range) -> set[str]:
    """Processes of some uids that stay; those of another run going on meanwhile come and go."""
    deadline = time.monotonic() + 30
    staying: set[str] | None = None
    while staying != set() and time.monotonic() < deadline:
        now = {p.name for p in Path("/proc").iterdir() if p.name.isdigit() and _uid(p) in uids}
        staying = now if staying is None else staying & now
    return staying or set()


def _uid(path: Path) -> int:
    try:
        return path.lstat().st_uid
    except OSError:
        return -1
