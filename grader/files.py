"""Files: writing them whole or not at all, naming them in errors, and digests of what they hold."""

from __future__ import annotations

import hashlib
import os
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


def digest_of(parts: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 over named byte strings, in the given order."""
    whole = hashlib.sha256()
    for name, content in parts:
        encoded = name.encode("utf-8", "surrogateescape")
        whole.update(f"{len(encoded)}:{len(content)}:".encode())
        whole.update(encoded)
        whole.update(content)
    return whole.hexdigest()
