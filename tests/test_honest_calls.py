"""Honest code finds every system call that it needs, under all walls."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from grader.sandbox.policy import LANDLOCK
from tests.honest_calls import wrong_in_a_worker
from tests.privileges import ordinary_python, run_as_in_container, run_as_ordinary_user

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def test_honest_code_runs() -> None:
    """Files, archives, databases, threads, training, event loops and signals work in a worker."""
    assert wrong_in_a_worker() == []


@root_only
def test_honest_code_runs_as_an_ordinary_user() -> None:
    """The same holds where the worker has no user of its own."""
    with tempfile.TemporaryDirectory(prefix="ordinary-") as name:
        folder = Path(name)
        python = ordinary_python(folder)
        if python is None:
            pytest.skip("no interpreter of this version that every user may run")
        out = folder / "out.json"
        # This interpreter's packages lie in the checkout's own environment, which is hidden to it.
        run_as_ordinary_user(python, ["-m", "tests.honest_calls", str(out), LANDLOCK], folder)
        assert json.loads(out.read_text()) == []


@root_only
def test_honest_code_runs_in_a_container(tmp_path: Path) -> None:
    """The same holds with a container's rights."""
    run_as_in_container(["-m", "tests.honest_calls", str(tmp_path / "out.json")])
    assert json.loads((tmp_path / "out.json").read_text()) == []
