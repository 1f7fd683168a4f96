"""Names that come from outside, made safe for folders and matched with the assignment's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath

MAX_ID = 64
NOISE_FOLDERS = frozenset(
    {"__macosx", "__pycache__", ".git", ".ipynb_checkpoints", ".venv", "venv"}
)
# What browsers and platforms append to a name that exists already.
DUPLICATE_SUFFIX = re.compile(r"(?: ?\(\d+\)|[-_ ]\d{1,2}|[-_ ]copy(?:[-_ ]?\d+)?)$", re.IGNORECASE)


def is_noise(part: str) -> bool:
    """Tell whether a file or folder of this name is never part of a submission."""
    return part.startswith((".", "~")) or part.lower() in NOISE_FOLDERS


def is_test_file(name: str) -> bool:
    """Tell whether a file is a test of the student's (or the public ones), not an answer."""
    return name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")


def canonical_file(name: str, wanted: Sequence[str]) -> str | None:
    """The assignment's file that a name stands for, whatever its case and duplicate suffix."""
    stem = _plain_stem(name)
    for file in wanted:
        if stem is not None and stem.lower() == PurePosixPath(file).stem.lower():
            return file
    return None


def split_owner(name: str, wanted: Sequence[str]) -> tuple[str, str] | None:
    """Split a name such as `jdoe_milestone1_layernorm.py` into owner and assignment's file.

    The owner may also stand behind: `milestone1_layernorm_jdoe.py`.
    """
    stem = _plain_stem(name)
    if stem is None:
        return None
    for file in wanted:
        word = PurePosixPath(file).stem.lower()
        if stem[-len(word) :].lower() == word and name[: len(stem) - len(word)].strip(" _-."):
            return name[: len(stem) - len(word)].rstrip(" _-."), file
        if stem[: len(word) + 1].lower() == f"{word}_" and stem[len(word) + 1 :].strip(" _-."):
            return PurePosixPath(name).stem.strip()[len(word) + 1 :].strip(" _-."), file
    return None


def _plain_stem(name: str) -> str | None:
    """Stem of a Python file with plain separators and without a duplicate suffix.

    It has the length of the part of the name that it stands for.
    """
    path = PurePosixPath(name)
    if path.suffix.lower() != ".py":
        return None
    return DUPLICATE_SUFFIX.sub("", path.stem.strip()).replace(" ", "_").replace("-", "_")


def safe_id(name: str, taken: set[str]) -> str:
    """A folder name for a student: plain ASCII, short, and not taken yet (case ignored)."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9._@+-]+", "-", plain).strip("-.")[:MAX_ID] or "student"
    candidate = slug
    number = 2
    while candidate.lower() in taken:
        candidate = f"{slug}-{number}"
        number += 1
    taken.add(candidate.lower())
    return candidate
