"""Versions of what an examination depends on.  Nothing is imported to find them out."""

from __future__ import annotations

import functools
import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

from grader import __version__
from grader.files import digest_of

PACKAGE = Path(__file__).parent
# Assignments, which have digests of their own; the second is the first's place in a wheel.
NOT_CODE = ("suites", "assignment")


@functools.cache
def torch_version() -> str:
    """Version of the installed torch, without importing it."""
    return importlib.metadata.version("torch")


@functools.cache
def code_digest() -> str:
    """Digest of the grader's own code and data: tells two states of one version apart."""

    def parts() -> Iterator[tuple[str, bytes]]:
        for path in sorted(PACKAGE.rglob("*")):
            name = path.relative_to(PACKAGE)
            if path.suffix in (".py", ".yaml", ".ini") and name.parts[0] not in NOT_CODE:
                yield name.as_posix(), path.read_bytes()

    return digest_of(parts())


def versions() -> dict[str, str]:
    """What must be equal on two machines that examine the same class, by a name for people."""
    try:
        torch = torch_version()
    except importlib.metadata.PackageNotFoundError:
        torch = "none"
    return {
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "torch": torch,
        "grader": __version__,
        "code of the grader": code_digest()[:12],
    }
