"""Which libraries a worker may read, and how it reaches them after its uid was dropped.

An interpreter in a private home (`/root`, mode 0700) cannot be reached any more by another
uid, and every import of a module not loaded yet would fail: a fault of the machine that would
look like the student's.  A directory that was opened before is still reachable through
`/proc/self/fd`, so the search paths are rewritten to such descriptors.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from grader.sandbox.policy import SYSTEM_PATHS

PACKAGE = Path(__file__).resolve().parents[1]


class Libraries(NamedTuple):
    """Descriptors of libraries, opened before any right is given up.

    Attributes:
        reached: folders that `sys.path` names by descriptor; they stay open.
        readable: files and folders that may be read.
    """

    reached: tuple[int, ...]
    readable: tuple[int, ...]


def open_libraries() -> Libraries:
    """Open what workers may read, and make `sys.path` and loaded packages usable for any uid."""
    hidden = hidden_paths()
    roots = [
        entry
        for entry in sys.path
        if os.path.isdir(entry) and Path(entry).resolve() != checkout()  # noqa: PTH112
    ]
    readable = tuple(os.open(path, os.O_PATH) for path in readable_paths(roots, hidden))
    moved: dict[str, str] = {}
    reached = []
    for entry in roots:
        if not _reachable(Path(entry)):
            descriptor = os.open(entry, os.O_PATH | os.O_DIRECTORY)
            reached.append(descriptor)
            moved[entry] = f"/proc/self/fd/{descriptor}"
    sys.path[:] = [moved.get(entry, entry) for entry in roots]
    _rewrite_packages(moved)
    _fill_finders()
    return Libraries(tuple(reached), readable)


def hidden_paths() -> tuple[Path, ...]:
    """What no worker may read although it may lie among the libraries: the grader itself.

    The package brings hidden tests, rubric and solutions; in a checkout they lie beside it, and
    only an environment that was made there is left.
    """
    root = checkout()
    if root is None:
        return (PACKAGE,)
    environment = Path(sys.prefix).resolve()
    kept = {environment, *environment.parents}
    return tuple(path for path in sorted(root.iterdir()) if path.resolve() not in kept)


def checkout() -> Path | None:
    """The folder of the checkout that this grader runs from, if it does."""
    return PACKAGE.parent if (PACKAGE.parent / "rubric.yaml").is_file() else None


def readable_paths(roots: Iterable[str], hidden: Sequence[Path]) -> list[Path]:
    """Files and folders below the roots and of the system, with everything hidden left out.

    A folder that holds something hidden is replaced by what else it holds.
    """
    found: dict[Path, None] = {}
    for root in (*roots, *SYSTEM_PATHS):
        path = Path(root).resolve()
        if path.exists():
            found |= dict.fromkeys(_without(path, hidden))
    return [path for path in found if not any(parent in found for parent in path.parents)]


def _without(path: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    if any(secret == path or secret in path.parents for secret in hidden):
        return
    if not any(path in secret.parents for secret in hidden):
        yield path
        return
    for child in sorted(path.iterdir()):
        if not child.is_symlink():
            yield from _without(child, hidden)


def _fill_finders() -> None:
    """Have Python list its import folders now; later nobody may list one in part hidden."""
    sys.path_importer_cache.clear()
    importlib.machinery.PathFinder.find_spec("no_module_has_this_name")


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
