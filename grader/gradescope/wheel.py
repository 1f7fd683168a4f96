"""A wheel of the grader that is running, made from its own files.

It is made from the package as it is imported and from the metadata that pip has installed, so it
comes out of a clone and of an installed wheel alike, and needs no build tool.  The assignment is
left out: the archive brings the one it is made for.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from grader.errors import AssignmentError
from grader.intake.names import is_noise

PACKAGE = Path(__file__).resolve().parents[1]
DISTRIBUTION = "encoder-block-grader"
LEFT_OUT = ("assignment", "suites")  # of the package's own folder
# https://packaging.python.org/en/latest/specifications/binary-distribution-format/
WHEEL = "Wheel-Version: 1.0\nGenerator: grade\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
METADATA_FILES = ("METADATA", "entry_points.txt")
# The same wheel from the same files: no time of day in it.
MOMENT = (1980, 1, 1, 0, 0, 0)
READ_ALL = 0o100644


def build_wheel() -> tuple[str, bytes]:
    """File name and content of the wheel.

    Raises:
        AssignmentError: if the grader runs without being installed.
    """
    try:
        distribution = importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError as error:
        raise AssignmentError(
            "The grader is not installed, so there is nothing to make its wheel of.",
            "Install it and run the command again: make setup, or pip install.",
        ) from error
    name = f"{DISTRIBUTION.replace('-', '_')}-{distribution.version}"
    files = [*package_files(), *_metadata(distribution, f"{name}.dist-info")]
    record = f"{name}.dist-info/RECORD"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in [*files, (record, _record(files, record))]:
            add_file(archive, file, content)
    return f"{name}-py3-none-any.whl", stream.getvalue()


def add_file(archive: zipfile.ZipFile, name: str, content: bytes, mode: int = READ_ALL) -> None:
    """Add a file with its rights as Unix keeps them, whatever machine this is."""
    info = zipfile.ZipInfo(name, MOMENT)
    info.create_system = 3  # Unix
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def package_files() -> Iterator[tuple[str, bytes]]:
    """Name and content of each file of the package, in order."""
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE)
        if path.is_file() and name.parts[0] not in LEFT_OUT and not any(map(is_noise, name.parts)):
            yield str(PurePosixPath(PACKAGE.name, *name.parts)), path.read_bytes()


def _metadata(
    distribution: importlib.metadata.Distribution, folder: str
) -> Iterator[tuple[str, bytes]]:
    for name in METADATA_FILES:
        yield f"{folder}/{name}", (distribution.read_text(name) or "").encode()
    yield f"{folder}/WHEEL", WHEEL.encode()


def _record(files: list[tuple[str, bytes]], own_name: str) -> bytes:
    """RECORD: each file with the digest and size by which pip knows it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for file, content in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        writer.writerow((file, f"sha256={digest}", len(content)))
    writer.writerow((own_name, "", ""))
    return stream.getvalue().encode()
