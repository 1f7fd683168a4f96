"""Staged files that somebody touches while they are examined cost nobody a point."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.disturbances import contents, make_class

DEEDS = ("remove-files", "close-files", "close-for-a-moment", "close-area", "change-files")


@pytest.fixture(scope="module")
def series() -> dict[str, dict[str, bytes]]:
    """The results of an undisturbed run, and of one with each deed."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="altered-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        disturbed = make_class(folder / "small", students=3)
        for deed in ("", *DEEDS):
            armed = [f"{deed} s1"] if deed else []
            results = folder / f"results-{deed}"
            done = disturbed.grade(results, *armed, environment={"TMPDIR": name})
            assert done.returncode == 0, done.stdout + done.stderr
            assert disturbed.left() == ""
            found[deed] = contents(results)
    return found


@pytest.mark.parametrize("deed", DEEDS)
def test_the_results_are_those_of_an_undisturbed_run(
    series: dict[str, dict[str, bytes]], deed: str
) -> None:
    """Whose files were touched, in whatever way, is examined again; the bytes are the same."""
    assert series[deed] == series[""]
