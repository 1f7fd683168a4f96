"""Files: writing them whole or not at all, naming them in errors, and digests of what they hold."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# How the names of files end that are still being written.
PARTIAL = ".part"


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all: temporary file, fsync, rename.

    Raises:
        OSError: if that fails; nothing is left behind then, and an old file stays as it was.
    """
    with naming(path):
        _write_atomically(path, content)


def _write_atomically(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(PARTIAL, f".{path.name}.", path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            if content:  # an empty file has nothing to lose
                os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have an error of the file system say which file it is about; a failed write does not."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def fingerprints(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """What tells whether somebody has touched a folder's files since: permissions, times, contents.

    A change back shows too, since nobody can set the time of a file's last change of status.

    Args:
        folder: its own fingerprint stands under the name `.`.
        names: of files in it; the folders between count too.
    """
    every = {"."}
    for name in names:
        every.add(name)
        while (name := name.rpartition("/")[0]) and name not in every:
            every.add(name)
    return {name: _fingerprint(f"{folder}/{name}") for name in sorted(every)}


def _fingerprint(path: str) -> str:
    """Nothing where it cannot be read: what was staged can."""
    try:
        found = os.lstat(path)
        content = b""
        if stat.S_ISREG(found.st_mode):
            with open(path, "rb", buffering=0) as stream:  # noqa: PTH123  # in half of the time
                content = stream.read()
    except OSError:
        return ""
    told = (found.st_mode, found.st_ino, found.st_ctime_ns, found.st_size)
    return f"{told} {hashlib.sha256(content).hexdigest()}"


def digest_of(parts: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 over named byte strings, in the given order."""
    whole = hashlib.sha256()
    for name, content in parts:
        encoded = name.encode("utf-8", "surrogateescape")
        whole.update(f"{len(encoded)}:{len(content)}:".encode())
        whole.update(encoded)
        whole.update(content)
    return whole.hexdigest()
