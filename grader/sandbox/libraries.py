"""Keeps the interpreter's libraries readable after the uid is dropped.

An interpreter in a private home (`/root`, mode 0700) cannot be reached any more by another
uid, and every import of a module not loaded yet would fail: a fault of the machine that would
look like the student's.  A directory that was opened before is still reachable through
`/proc/self/fd`, so the search paths are rewritten to such descriptors.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def open_libraries() -> tuple[int, ...]:
    """Make `sys.path` and the paths of loaded packages usable for any uid.

    Returns:
        Descriptors that have to stay open; none where all of it was readable anyway.
    """
    moved: dict[str, str] = {}
    descriptors = []
    for entry in sys.path:
        if os.path.isdir(entry) and not _reachable(Path(entry)):  # noqa: PTH112
            descriptor = os.open(entry, os.O_PATH | os.O_DIRECTORY)
            descriptors.append(descriptor)
            moved[entry] = f"/proc/self/fd/{descriptor}"
    if moved:
        sys.path[:] = [moved.get(entry, entry) for entry in sys.path]
        _rewrite_packages(moved)
        sys.path_importer_cache.clear()
    return tuple(descriptors)


def _reachable(path: Path) -> bool:
    """Tell whether everybody may enter and list a folder."""
    everybody = 0o001
    parents_open = all(parent.stat().st_mode & everybody for parent in path.resolve().parents)
    return parents_open and path.stat().st_mode & 0o005 == 0o005


def _rewrite_packages(moved: dict[str, str]) -> None:
    for module in list(sys.modules.values()):
        paths = getattr(module, "__path__", None)
        if isinstance(paths, list):
            paths[:] = [_moved_path(path, moved) for path in paths]


def _moved_path(path: str, moved: dict[str, str]) -> str:
    for old, new in moved.items():
        if path.startswith(old + os.sep):
            return new + path[len(old) :]
    return path
