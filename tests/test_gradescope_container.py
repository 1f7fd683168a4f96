"""The rehearsal: setup.sh and run_autograder for real, in a container like Gradescope's.

In every run the root shows this machine's interpreter and packages, so that setup.sh finds what
it would install.  The slow run makes a root of its own from the distribution's packages and
installs everything into it.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from grader.gradescope.results_format import FailedRun, parse_results
from grader.versions import torch_version
from tests.container import DEVICES, Container, Ran, bare_root, hand_in, packages, upload
from tests.corpus_run import RUBRIC
from tests.gradescope_run import case_names, expected_results, found_results, put_case, run_case
from tests.support import copy_solutions, grade, together

MOST_MB = 500
# Run in every run; the slow run takes all.
FEW = ("notebook-only", "wrong-names", "zip-in-zip")
KERNELS = ("landlock", "no-landlock")
# More than a rebuilt image takes on a slow mirror.
BUILD_SECONDS = 1_800

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="containers are made as root")


@dataclass(frozen=True)
class Autograder:
    """A container in which setup.sh has run, and how that went."""

    container: Container
    setup: Ran


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive, built by the real command."""
    path = tmp_path_factory.mktemp("archive") / "autograder.zip"
    done = grade("gradescope", path, "--torch-index", "pip", "--rubric", RUBRIC)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def autograder(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Autograder:
    """A root that shows this machine's packages, where setup.sh has run."""
    root = tmp_path_factory.mktemp("root")
    bare = bare_root(root)
    python = f"{sys.base_prefix}/bin/python{sys.version_info[0]}.{sys.version_info[1]}"
    environment = {
        "PYTHON": python,
        "TORCH": f"torch=={torch_version()}",
        "TORCH_INDEX": "",
        "PIP_NO_INDEX": "1",
    }
    container = Container(bare.root, bare.shown, environment)
    upload(container, archive)
    requirements = container.autograder / "source" / "requirements.txt"
    requirements.write_text("\n".join(installed(requirements.read_text())))
    show_packages(container)
    return Autograder(container, container.run("bash", "source/setup.sh", limited=False))


def installed(requirements: str) -> Iterator[str]:
    """The requirements in the versions that this environment has."""
    for name in dict.fromkeys(re.findall(r"^([\w.-]+)==", requirements, re.MULTILINE)):
        try:
            yield f"{name}=={importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            continue  # for other Pythons only


def show_packages(container: Container) -> None:
    """Let the environment that setup.sh makes find packages without installing them."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    site = container.autograder / "venv" / "lib" / version / "site-packages"
    site.mkdir(parents=True)
    folders = {Path(sysconfig.get_path("purelib")), *packages()}
    (site / "shown.pth").write_text("".join(f"{folder}\n" for folder in sorted(folders)))


def test_setup_grades_the_solution(autograder: Autograder) -> None:
    """setup.sh ends well, and says what the solution has earned and which walls stand."""
    assert autograder.setup.status == 0, autograder.setup.output
    assert "The solution earns 100 of 100 points. Walls: " in autograder.setup.output


@pytest.fixture(scope="module")
def installed_autograder(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Autograder:
    """A root made of the distribution's packages, into which setup.sh has installed everything."""
    root = tmp_path_factory.mktemp("distribution")
    root.chmod(0o755)
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    packages = "--include=python3,ca-certificates"
    command = ["debootstrap", "--variant=minbase", packages, release, str(root)]
    subprocess.run(command, check=True, capture_output=True, timeout=BUILD_SECONDS)
    for name in ("resolv.conf", "ssl/certs/ca-certificates.crt"):
        shutil.copyfile(Path("/etc") / name, root / "etc" / name)
    settings = pip_settings()
    shown = (*local_folders(settings.values()), *(Path("/dev") / name for name in DEVICES))
    container = Container(root, shown, {**settings, "TORCH_INDEX": ""})
    container.autograder.mkdir()
    upload(container, archive)
    return Autograder(container, container.run("bash", "source/setup.sh", limited=False))


def pip_settings() -> dict[str, str]:
    """How this machine's pip reaches its packages, as variables of the environment.

    An index on this disk is left out: it names files beside it, which are not shown.
    """
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    found = re.findall(r"^(?:global|:env:)\.([\w-]+)='(.*)'$", listing.stdout, re.MULTILINE)
    return {
        f"PIP_{name.upper().replace('-', '_')}": value
        for name, value in found
        if "file://" not in value
    }


def local_folders(values: Iterable[str]) -> set[Path]:
    """Files and folders of this machine that pip's settings name."""
    words = [word for value in values for word in value.split()]
    return {Path(word) for word in words if word.startswith("/") and Path(word).exists()}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("debootstrap") is None, reason="debootstrap is not installed")
@pytest.mark.parametrize("name", case_names())
def test_submission_gets_its_results_in_a_root_of_its_own(
    installed_autograder: Autograder, name: str, tmp_path: Path
) -> None:
    """Everything for real: packages from their registries, and nothing of this machine's."""
    assert installed_autograder.setup.status == 0, installed_autograder.setup.output
    container = installed_autograder.container
    ran = run_case(container, name, tmp_path / "submission")
    assert ran.status == 0, ran.output
    assert found_results(container) == expected_results(name)
    assert 0 < ran.peak_mb < MOST_MB


# Tries to read what is Gradescope's or the instructor's, then to use up the container's memory.
HOSTILE = """
import sys

PACKAGES = "/autograder/venv/lib/python%d.%d/site-packages" % sys.version_info[:2]
WANTED = (
    "/autograder/source/assignment/solutions/milestone1_layernorm.py",
    "/autograder/source/assignment/rubric.yaml",
    "/autograder/results/results.json",
    "/autograder/submission/milestone1_layernorm.py",
    "/autograder/submission_metadata.json",
    PACKAGES + "/grader/__init__.py",
)
for path in WANTED:
    try:
        open(path).close()
        print("BREACH", path)
    except PermissionError:
        print("HELD", path)


tried = False


def layernorm_scratch(x, eps=1e-5):
    global tried
    kept = []
    while not tried:
        try:
            kept.append(bytearray(b"x" * (16 << 20)))
        except MemoryError:
            tried = True
            print("REFUSED", len(kept) * 16)
"""


def put_hostile(container: Container, folder: Path) -> None:
    submission = copy_solutions(folder)
    (submission / "milestone1_layernorm.py").write_text(HOSTILE)
    hand_in(container, submission, b"{}")


def break_rubric(folder: Path) -> None:
    with (folder / "source" / "assignment" / "rubric.yaml").open("a") as stream:
        stream.write("\nsurprise: 1\n")


def break_suite(folder: Path) -> None:
    (suite,) = (folder / "source").rglob("test_milestone1_layernorm.py")
    suite.write_text("raise RuntimeError('the suite is broken')\n")


def break_python(folder: Path) -> None:
    (folder / "venv" / "bin" / "python").unlink()


def break_layout(folder: Path) -> None:
    shutil.rmtree(folder / "submission")


@dataclass(frozen=True)
class Fault:
    """Something of ours that is broken, and what an instructor must read then."""

    breaks: Callable[[Path], None]
    says: str


FAULTS = {
    "rubric": Fault(break_rubric, "surprise: is not a key of the rubric"),
    "suite": Fault(break_suite, "the suite is broken"),
    "python": Fault(break_python, "Was the image built to its end?"),
    "layout": Fault(break_layout, "submission"),
}


def put_fault(container: Container, folder: Path, name: str) -> None:
    hand_in(container, copy_solutions(folder), b"{}")
    FAULTS[name].breaks(container.autograder)


@dataclass(frozen=True)
class Finished:
    """A run of run_autograder, and the container that it has run in."""

    container: Container
    ran: Ran


def rehearse(
    autograder: Autograder,
    folder: Path,
    put: Callable[[Container, Path], None],
    *,
    limited: bool = True,
    landlock: bool = True,
) -> Finished:
    """Run run_autograder in a copy of the container.

    Args:
        autograder: where setup.sh has run.
        folder: for the copy.
        put: puts a submission into a container, made in a folder.
        limited: with Gradescope's default memory and processor.
        landlock: on a kernel that has it.
    """
    container = copy_container(autograder.container, folder / "root")
    put(container, folder / "submission")
    return Finished(
        container, container.run("./run_autograder", limited=limited, landlock=landlock)
    )


def copy_container(container: Container, root: Path) -> Container:
    """A container of its own, to be broken."""
    copy = Container(bare_root(root).root, container.shown, container.environment)
    copy.autograder.rmdir()
    shutil.copytree(container.autograder, copy.autograder, symlinks=True)
    return copy


@pytest.fixture(scope="module")
def runs(autograder: Autograder, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Finished]:
    """Every run, by name; a few at the same time, each in a container of its own."""
    assert autograder.setup.status == 0, autograder.setup.output

    def call(put: Callable[[Container, Path], None], **options: bool) -> Callable[[], Finished]:
        return partial(rehearse, autograder, tmp_path_factory.mktemp("run"), put, **options)

    calls = {name: call(partial(put_case, name=name)) for name in FEW}
    calls |= {wall: call(put_hostile, landlock=wall == "landlock") for wall in KERNELS}
    calls |= {name: call(partial(put_fault, name=name), limited=False) for name in FAULTS}
    return together(calls)


@pytest.mark.parametrize("name", FEW)
def test_submission_gets_its_results(runs: dict[str, Finished], name: str) -> None:
    """results.json is the expected one, and all processes together stay small."""
    found = runs[name]
    assert found.ran.status == 0, found.ran.output
    assert found_results(found.container) == expected_results(name)
    assert 0 < found.ran.peak_mb < MOST_MB


@pytest.mark.parametrize("kernel", KERNELS)
def test_student_code_reads_nothing_and_takes_nothing_down(
    runs: dict[str, Finished], kernel: str
) -> None:
    """It cannot open Gradescope's folders, and its greed costs its own points only."""
    found = runs[kernel]
    output = found.ran.output
    assert found.ran.status == 0, output
    assert "BREACH" not in output
    held = re.findall(r"^HELD (.+)$", output, re.MULTILINE)
    assert len(set(held)) == 6
    assert all((found.container.root / path.lstrip("/")).exists() for path in held)
    assert "REFUSED" in output  # by its own limit, before the container's is reached
    results = found_results(found.container)
    assert results["score"] == 70.0
    assert {t["status"] for t in results["tests"] if t["tags"] != ["layernorm"]} == {"passed"}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_our_fault_is_no_zero(runs: dict[str, Finished], name: str) -> None:
    """results.json has neither score nor tests, the status is not 0, and the log says why."""
    found = runs[name]
    assert found.ran.status != 0
    assert FAULTS[name].says in found.ran.output
    text = (found.container.autograder / "results" / "results.json").read_bytes()
    assert isinstance(parse_results(text), FailedRun)
    assert not {"score", "tests"} & json.loads(text).keys()
    assert FAULTS[name].says not in text.decode()
