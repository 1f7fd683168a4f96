"""Which libraries a worker may read and import, and how it reaches them after its uid was dropped.

A worker sees the standard library and the distributions that the assignment declares, and
nothing else of what lies in Python's folders: not the grader, which brings the hidden tests.

An interpreter in a private home (`/root`, mode 0700) cannot be reached any more by another
uid, and every import of a module not loaded yet would fail: a fault of the machine that would
look like the student's.  A directory that was opened before is still reachable through
`/proc/self/fd`, so the search paths are rewritten to such descriptors.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import stat
import sys
import sysconfig
import types
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from grader.packages import DEFAULT_PACKAGES
from grader.sandbox import landlock
from grader.sandbox.distributions import SEARCHED, Installed, installed_files
from grader.sandbox.policy import LIBRARY_FOLDERS, LIBRARY_PATTERNS, SYSTEM_PATHS

# Of the standard library's folder, besides the modules that Python lists itself.
EXTENSIONS_FOLDER = "lib-dynload"
BUILD_SETTINGS = "_sysconfigdata"
# What a worker's own code imports while it answers: the module that it has started as, and
# pydantic, which imports inside its functions.
OWN_MODULES = frozenset({"__main__", "__mp_main__", "pydantic", "pydantic_core"})
# Where Python keeps what is not its own.
PACKAGE_FOLDERS = ("site-packages", "dist-packages")


class Libraries(NamedTuple):
    """Descriptors of libraries, opened before any right is given up.

    Attributes:
        packages: the distributions that were declared.
        reached: folders that `sys.path` names by descriptor; they stay open.
        readable: files and folders that may be read, with the rights on each.
    """

    packages: tuple[str, ...]
    reached: tuple[int, ...]
    readable: tuple[tuple[int, landlock.Access], ...]


class DeclaredFinder(importlib.abc.MetaPathFinder):
    """Finds modules of the standard library and of declared distributions only.

    For any other name it answers that there is none, as on a machine where it is not installed,
    so that a student's own `yaml.py` is found.  What Python knows of its folders is never
    forgotten, as `importlib.invalidate_caches` would have it: a worker may not list them again.

    Args:
        names: of these modules, up to the first dot.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module as Python does, if it is one of those."""
        if path is None and fullname not in self._names:
            return None
        return importlib.machinery.PathFinder.find_spec(fullname, path, target)


def open_libraries(packages: Sequence[str] = DEFAULT_PACKAGES) -> Libraries:
    """Open what workers may read, and make `sys.path` and loaded packages usable for any uid.

    Args:
        packages: distributions that student code may import.

    Raises:
        MissingPackageError: if one of them is not installed.
    """
    installed = installed_files(packages)
    roots = search_paths(SEARCHED, installed)
    opened = [os.open(path, os.O_PATH) for path in readable_paths(installed)]
    readable = tuple((descriptor, _reading(descriptor)) for descriptor in opened)
    moved: dict[str, str] = {}
    reached = []
    for entry in roots:
        if not _reachable(Path(entry)):
            descriptor = os.open(entry, os.O_PATH | os.O_DIRECTORY)
            reached.append(descriptor)
            moved[entry] = f"/proc/self/fd/{descriptor}"
    sys.path[:] = [moved.get(entry, entry) for entry in roots]
    _rewrite_packages(moved)
    _fill_finders(_moved_path(str(folder), moved) for folder in installed.shared)
    names = installed.modules | {name.partition(".")[0] for name in standard_library()}
    names |= sys.stdlib_module_names
    others = [f for f in sys.meta_path if not _finds_by_path(f)]
    sys.meta_path[:] = [*others, DeclaredFinder(frozenset(names))]
    _forget_modules(names)
    return Libraries(tuple(packages), tuple(reached), readable)


def _reading(descriptor: int) -> landlock.Access:
    """Rights on a library: a single file cannot be listed."""
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        return landlock.READ
    return landlock.READ & landlock.ON_FILES


def search_paths(searched: Iterable[str], installed: Installed) -> list[str]:
    """Of Python's search paths those of its own library and of declared distributions."""
    own = _standard_folders()
    allowed = {*own, *(folder / EXTENSIONS_FOLDER for folder in own), *installed.roots}
    return [
        entry for entry in searched if Path(entry).resolve() in allowed and Path(entry).is_dir()
    ]


def readable_paths(installed: Installed) -> list[Path]:
    """Every file and folder that a worker may read, none below another."""
    found: dict[Path, None] = {}
    for folder in _standard_folders():
        found |= dict.fromkeys(folder / name for name in standard_library(folder))
    wanted = (*installed.paths, *system_libraries(LIBRARY_FOLDERS), *map(Path, SYSTEM_PATHS))
    found |= {path.resolve(): None for path in wanted if path.exists()}
    return [path for path in found if not any(parent in found for parent in path.parents)]


def standard_library(folder: Path | None = None) -> list[str]:
    """Names of the standard library's files and folders; without its tests and what is installed.

    Args:
        folder: of it; by default the one that holds its modules.
    """
    return [
        name
        for name in sorted(os.listdir(folder or _standard_folders()[0]))  # noqa: PTH208
        if name.partition(".")[0] in sys.stdlib_module_names
        or name == EXTENSIONS_FOLDER
        or name.startswith(BUILD_SETTINGS)
    ]


def system_libraries(folders: Iterable[str]) -> Iterator[Path]:
    """Shared libraries of the system, some of which are loaded late.

    A folder of them is taken as a whole unless Python keeps packages below it.
    """
    for folder in dict.fromkeys(Path(name).resolve() for name in folders):
        for pattern in LIBRARY_PATTERNS:
            yield from (
                found for found in sorted(folder.glob(pattern)) if not _holds_packages(found)
            )


def _holds_packages(path: Path) -> bool:
    return path.is_dir() and any(
        next(path.glob(f"{below}{name}"), None) is not None
        for below in ("", "*/")
        for name in PACKAGE_FOLDERS
    )


def _standard_folders() -> list[Path]:
    names = ("stdlib", "platstdlib")
    return list(dict.fromkeys(Path(sysconfig.get_path(n)).resolve() for n in names))


def _forget_modules(kept: Collection[str]) -> None:
    """Take modules that nobody declared out of `import`'s sight; who holds one already keeps it."""
    wanted = OWN_MODULES.union(kept)
    for name in list(sys.modules):
        if name.partition(".")[0] not in wanted:
            del sys.modules[name]


def _finds_by_path(finder: object) -> bool:
    return finder is importlib.machinery.PathFinder or isinstance(finder, DeclaredFinder)


def _fill_finders(folders: Iterable[str]) -> None:
    """Have Python list its import folders now; later nobody may list one that is shared."""
    sys.path_importer_cache.clear()
    for folder in (*sys.path, *folders):
        importlib.machinery.PathFinder.find_spec("no_module_has_this_name", [folder])


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
