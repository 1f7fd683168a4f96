"""Submissions as Gradescope hands them over, each with its expected results.json.

`python -m tests.gradescope_run ROOT` runs all of them in a root where setup.sh has run, and writes
what came of them as the new expectation; read the difference before you keep it.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from grader.gradescope.results_format import FailedRun, parse_results
from tests.container import Container, Ran, hand_in
from tests.corpus_run import ROOT

CASES = ROOT / "tests" / "gradescope"
EXPECTED = "expected.json"


def case_names() -> list[str]:
    """All cases, sorted."""
    return sorted(path.parent.name for path in CASES.glob("*/case.yaml"))


def stage(name: str, folder: Path) -> None:
    """Build a case's submission."""
    case = yaml.safe_load((CASES / name / "case.yaml").read_text())
    folder.mkdir(parents=True)
    for target, source in case["files"].items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, folder / target)
    for archive in case.get("zipped", ()):
        pack(folder, archive)


def pack(folder: Path, archive: str) -> None:
    """Replace what a folder holds by one archive of it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for path in sorted(folder.rglob("*")):
            packed.write(path, path.relative_to(folder))
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / archive).write_bytes(stream.getvalue())


def metadata(name: str) -> bytes | None:
    """A case's submission_metadata.json, whatever it holds; `None` if it has none."""
    path = CASES / name / "metadata.json"
    return path.read_bytes() if path.is_file() else None


def put_case(container: Container, folder: Path, name: str) -> None:
    """Hand one case in, made in a folder."""
    stage(name, folder)
    hand_in(container, folder, metadata(name))


def run_case(container: Container, name: str, folder: Path) -> Ran:
    """Run one case; results.json lies in the container then."""
    put_case(container, folder, name)
    return container.run("./run_autograder")


def found_results(container: Container) -> dict[str, Any]:
    """The strictly checked results.json in a container, without how long it took."""
    text = (container.autograder / "results" / "results.json").read_bytes()
    parse_results(text)
    results: dict[str, Any] = json.loads(text)
    results.pop("execution_time", None)
    return results


def is_failure(container: Container) -> bool:
    """Whether results.json tells that our side failed."""
    text = (container.autograder / "results" / "results.json").read_bytes()
    return isinstance(parse_results(text), FailedRun)


def expected_results(name: str) -> dict[str, Any]:
    """A case's expectation."""
    results: dict[str, Any] = json.loads((CASES / name / EXPECTED).read_text())
    return results


def main(arguments: Sequence[str]) -> None:
    """Write the expectation of every case."""
    container = Container(Path(arguments[0]))
    for name in case_names():
        folder = container.root.parent / f"{name}-submission"
        ran = run_case(container, name, folder)
        shutil.rmtree(folder)
        print(f"{name}: status {ran.status}, {ran.peak_mb:.0f} MB\n{ran.output}")
        text = json.dumps(found_results(container), indent=1, ensure_ascii=False) + "\n"
        (CASES / name / EXPECTED).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
