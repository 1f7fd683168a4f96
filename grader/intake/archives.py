"""Zip archives in a submission, opened without trusting a byte of them."""

from __future__ import annotations

import io
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.intake.layouts import MAX_DEPTH, MAX_FILE_BYTES, MAX_FILES
from grader.intake.names import is_noise
from grader.intake.owners import UNREAD_SUFFIXES
from grader.text import printable

ZIP = ".zip"
MAX_ARCHIVE_BYTES = 20 << 20
# Over all archives of a submission: names that are looked at, and bytes that come out of them.
MAX_MEMBERS = 10_000
MAX_UNPACKED_BYTES = 100 << 20
MAX_NESTING = 3
MAX_NOTES = 6
# How an entry of an archive's directory begins.
ENTRY = b"PK\x01\x02"
# Of the others, zipfile inflates as much as is packed, and no bound holds.
BOUNDED_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# What zipfile raises on files that are none, are damaged, encrypted, or packed in other ways.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    ValueError,  # also a name that is not in its own encoding
)


@dataclass
class Unpacking:
    """Unpacks archives into a folder, within bounds that hold for all of them together.

    Attributes:
        into: the folder.
        notes: which archives could not be opened, and what was left out.
        files: members written so far.
        members: names in the directories of the archives so far.
        unpacked_bytes: what came out of them so far.
    """

    into: Path
    notes: list[str] = field(default_factory=list)
    files: int = 0
    members: int = 0
    unpacked_bytes: int = 0

    def unpack(self, name: str, content: bytes, nesting: int = 1) -> None:
        """Write what an archive holds below a folder of the archive's name.

        An archive of which nothing can be had stays there as an empty file, so that its name is
        not forgotten.

        Args:
            name: the archive's path inside the submission, with `/` between the parts.
            content: its bytes.
            nesting: 1 for an archive that was handed in, 2 for one inside it.
        """
        before = self.files
        # Before zipfile makes an object of each; it may be more than there are, and never less.
        members = content.count(ENTRY)
        if self.members + members > MAX_MEMBERS:
            self._note(f"{printable(name)} was not opened: it holds too many files.")
        else:
            self.members += members
            self._open(name, content, nesting)
        if self.files == before:
            self._write(PurePosixPath(name), b"")

    def _open(self, name: str, content: bytes, nesting: int) -> None:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                for info in archive.infolist():
                    self._take(archive, info, name, nesting)
        except BROKEN:
            self._note(f"{printable(name)} is no zip archive that can be opened.")

    def _take(
        self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, nesting: int
    ) -> None:
        inside = _safe_name(info)
        if inside is None:
            return
        nested = inside.suffix.lower() == ZIP
        if self._is_too_much(info, nested, nesting):
            self._note(f"Not everything in {printable(name)} was unpacked.")
            return
        path = PurePosixPath(name) / inside
        content = self._content(archive, info)
        if content is None:
            self._note(
                f"{printable(str(path))} could not be unpacked: it is damaged, encrypted, or "
                "packed in an unusual way."
            )
        elif nested:
            self.unpack(str(path), content, nesting + 1)
        else:
            self._write(path, content)

    def _is_too_much(self, info: zipfile.ZipInfo, nested: bool, nesting: int) -> bool:
        largest = MAX_ARCHIVE_BYTES if nested else MAX_FILE_BYTES
        return (
            self.files >= MAX_FILES
            or info.file_size > min(largest, MAX_UNPACKED_BYTES - self.unpacked_bytes)
            or (nested and nesting >= MAX_NESTING)
        )

    def _content(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes | None:
        """A member's bytes, never more than the size that it tells; `None` if it is broken."""
        if info.compress_type not in BOUNDED_METHODS:
            return None
        self.unpacked_bytes += info.file_size
        try:
            with archive.open(info) as stream:
                return stream.read(info.file_size)
        except BROKEN:
            return None

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes[:] = [*self.notes[: MAX_NOTES - 1], note]

    def _write(self, name: PurePosixPath, content: bytes) -> None:
        self.files += 1
        target = self.into / name
        with suppress(OSError):  # a name that is a folder's too, or longer than names may be
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def _safe_name(info: zipfile.ZipInfo) -> PurePosixPath | None:
    """Where a member belongs, below the archive's folder; nothing if it is no file of interest."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    parts = PurePosixPath(info.filename.replace("\\", "/")).parts
    inside = PurePosixPath(*parts)
    wanted = inside.suffix.lower() in {".py", *UNREAD_SUFFIXES}
    odd = info.is_dir() or kind not in {0, stat.S_IFREG} or inside.is_absolute()
    if odd or not wanted or len(parts) > MAX_DEPTH or any(map(is_noise, parts)):  # `..` is noise
        return None
    return inside


def unpacked(folder: Path, into: Path) -> tuple[Path, list[str]]:
    """A submission's folder with its zip archives unpacked: itself, or a copy if it has any.

    Args:
        folder: what was handed in; stays as it is.
        into: an empty folder for the copy.

    Returns:
        The folder to go on with, and notes for the student.
    """
    found = list(regular_files(folder))
    archives = [path for path in found if path.suffix.lower() == ZIP]
    if not archives:
        return folder, []
    unpacking = Unpacking(into)
    for path in found:
        name = path.relative_to(folder).as_posix()
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path in archives and path.stat().st_size <= MAX_ARCHIVE_BYTES:
            unpacking.unpack(name, path.read_bytes())
        elif path.suffix.lower() == ".py":
            shutil.copyfile(path, target)
        elif path.suffix.lower() in UNREAD_SUFFIXES:
            target.touch()  # its name is all that is used
    return into, unpacking.notes


def regular_files(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Files below a folder as deep as submissions are looked at; no links and no noise."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:  # not there, or a path longer than the kernel takes
        return
    for entry in entries:
        mode = entry.lstat().st_mode
        if is_noise(entry.name):
            continue
        if stat.S_ISREG(mode):
            yield entry
        elif stat.S_ISDIR(mode) and depth < MAX_DEPTH:
            yield from regular_files(entry, depth + 1)
