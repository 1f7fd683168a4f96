"""The files of a submission as they were handed in: which lines there are.

What a worker says of a line is a claim, and a number of nine digits can spell something out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


class HandedIn:
    """Lines of a submission's files, read when somebody asks.

    Args:
        folder: its staged files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: dict[str, frozenset[int]] = {}

    def has_line(self, file: str, line: int, candidates: Mapping[str, list[str]]) -> bool:
        """Whether a line with something on it has that number.

        Args:
            file: name of a file, without its folders.
            line: from 1.
            candidates: paths of the submission's files, by such names.
        """
        return any(line in self._of(path) for path in candidates.get(file, ()))

    def _of(self, path: str) -> frozenset[int]:
        """Numbers of the lines that are not blank; none of a file that cannot be read."""
        if path not in self._lines:
            try:
                lines = (self._folder / path).read_bytes().splitlines()
            except OSError:
                lines = []
            self._lines[path] = frozenset(n for n, text in enumerate(lines, 1) if text.strip())
        return self._lines[path]
