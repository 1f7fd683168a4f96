"""autograder.zip: everything that Gradescope needs to grade one assignment."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from grader.errors import ArchiveError, AssignmentError
from grader.gradescope.wheel import add_file, build_wheel
from grader.intake.extensions import TABLE as EXTENSIONS
from grader.intake.names import is_noise
from grader.rubric import Rubric
from grader.sandbox.distributions import canonical, with_dependencies

HERE = Path(__file__).resolve().parent
SETUP = "setup.sh"
SCRIPTS = (SETUP, "run_autograder")
REQUIREMENTS = "requirements.txt"
# Named in setup.sh, with where it comes from.
IN_SETUP = {"torch"}
ASSIGNMENT = "assignment"
RUBRIC_NAME = "rubric.yaml"
RUN_ALL = 0o100755
# The line of setup.sh that says where torch comes from, without and with an address.
UNSET_INDEX = b': "${TORCH_INDEX=}"'
SET_INDEX = ': "${TORCH_INDEX=%s}"'
# What a shell takes as it stands, between double quotes too.
ADDRESS = re.compile(r"[a-z]+://[A-Za-z0-9._~:/@%+,=-]+", re.ASCII)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def archive_bytes(rubric: Rubric, rubric_path: Path, torch_index: str = "") -> bytes:
    """The archive of an assignment; the same bytes from the same files.

    Args:
        rubric: the assignment.
        rubric_path: its file.
        torch_index: address of PyTorch's index of CPU builds; empty for where pip looks anyway.

    Raises:
        AssignmentError: if something that the rubric names does not lie beside it, or the grader
            is not installed.
        ArchiveError: if the address is none.
        MissingPackageError: if a package that student code may import is not installed here.
    """
    scripts = {name: unix_text(HERE / name) for name in SCRIPTS}
    scripts[SETUP] = _with_index(scripts[SETUP], torch_index)
    wheel, wheel_content = build_wheel()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in scripts.items():
            add_file(archive, name, content, RUN_ALL)
        add_file(archive, REQUIREMENTS, requirements(rubric.packages))
        add_file(archive, f"wheels/{wheel}", wheel_content)
        for name, content in _assignment_files(rubric, rubric_path):
            add_file(archive, f"{ASSIGNMENT}/{name}", content)
    return stream.getvalue()


def _with_index(setup: bytes, torch_index: str) -> bytes:
    """setup.sh with the address of the index written into it."""
    if torch_index and not ADDRESS.fullmatch(torch_index):
        raise ArchiveError(
            f"{torch_index!r} is not the address of a package index.",
            "Give one that begins with https://, without quotes or spaces in it.",
        )
    return setup.replace(UNSET_INDEX, (SET_INDEX % torch_index).encode(), 1)


def unix_text(path: Path) -> bytes:
    """A script as Unix runs it: without carriage returns and byte order mark."""
    return path.read_bytes().removeprefix(BYTE_ORDER_MARK).replace(b"\r\n", b"\n")


def requirements(packages: Sequence[str]) -> bytes:
    """What the container installs: what the grader needs, and what student code may import.

    Args:
        packages: distributions that the rubric declares; each comes in the version that is
            installed here, as does all that it needs.

    Raises:
        MissingPackageError: if one of them is not installed here.
    """
    known = unix_text(HERE / REQUIREMENTS)
    named = {canonical(line.partition("==")[0]) for line in known.decode().splitlines()}
    more = [
        f"{canonical(found.name)}=={found.version}\n"
        for found in with_dependencies(packages)
        if canonical(found.name) not in named | IN_SETUP
    ]
    return known + "".join(sorted(more)).encode()


def _assignment_files(rubric: Rubric, rubric_path: Path) -> Iterator[tuple[str, bytes]]:
    """The rubric, and what it names, at the same places relative to it."""
    yield RUBRIC_NAME, rubric_path.read_bytes()
    if (rubric.root / EXTENSIONS).is_file():
        yield EXTENSIONS, (rubric.root / EXTENSIONS).read_bytes()
    seen: set[str] = set()
    for key in ("stubs", "solutions", "suites", "messages"):
        value = getattr(rubric, key)
        if value is not None:
            for path in _files(_beside(rubric, key, value)):
                name = PurePosixPath(path.relative_to(rubric.root)).as_posix()
                if name not in seen:
                    seen.add(name)
                    yield name, path.read_bytes()


def _beside(rubric: Rubric, key: str, value: str) -> Path:
    """A path that the rubric names, as it is written there, but without `..`."""
    path = Path(os.path.normpath(rubric.root / value))
    if Path(value).is_absolute() or rubric.root not in path.parents:
        raise AssignmentError(
            f"{key}: {value} does not lie in a folder or file of its own beside the rubric, so the "
            "archive cannot hold it at the same place.",
            "Move it beside rubric.yaml and name it there by a relative path.",
        )
    return path


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for found in sorted(path.rglob("*")):
        if found.is_file() and not any(map(is_noise, found.relative_to(path).parts)):
            yield found
