"""The installed files of the distributions that an assignment declares, from their own records."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement

from grader.errors import MissingPackageError

# Python's search paths as this process started with them, before a worker's are made of them.
SEARCHED = tuple(sys.path)
# Folders that by their name belong to one distribution as a whole.
OWNED_SUFFIXES = (".dist-info", ".egg-info", ".libs")
INIT_FILES = ("__init__.py", "__init__.pyi")


class Installed(NamedTuple):
    """What one or more distributions have put into the folders that Python searches.

    Attributes:
        roots: these folders.
        paths: files and folders of theirs; a folder stands for all that is below it.
        shared: folders that hold something of theirs, and perhaps something of others'.
        modules: names by which their modules are imported, up to the first dot.
    """

    roots: frozenset[Path]
    paths: tuple[Path, ...]
    shared: tuple[Path, ...]
    modules: frozenset[str]


def installed_files(packages: Sequence[str]) -> Installed:
    """What distributions and all that they depend on have installed.

    A folder counts as one distribution's where that has put an `__init__.py` into it, so that
    some 20,000 files need not be looked at one by one.

    Args:
        packages: names of distributions, as pip knows them.

    Raises:
        MissingPackageError: if one of these is not installed, or has no record of its files.
    """
    roots: set[Path] = set()
    paths: dict[Path, None] = {}
    shared: dict[Path, None] = {}
    modules: set[str] = set()
    for distribution in with_dependencies(packages):
        root = Path(str(distribution.locate_file(""))).resolve()
        roots.add(root)
        for name in _covering(_tree(_recorded(distribution))):
            path = root / name
            paths[path] = None
            shared |= dict.fromkeys(p for p in path.parents if root in p.parents)
            modules.add(name.partition("/")[0].partition(".")[0])
    return Installed(frozenset(roots), tuple(paths), tuple(shared), frozenset(modules))


def with_dependencies(packages: Iterable[str]) -> list[Distribution]:
    """Distributions and, by their metadata, all that they need on this machine.

    Raises:
        MissingPackageError: if a named one is not installed; what is only needed by another may
            be missing, since it was installed without it.
    """
    found: dict[str, Distribution] = {}
    waiting = [(name, True) for name in reversed(list(packages))]
    while waiting:
        name, declared = waiting.pop()
        if canonical(name) in found:
            continue
        distribution = _distribution(name)
        if distribution is None:
            if declared:
                raise MissingPackageError(name)
            continue
        found[canonical(name)] = distribution
        waiting += [(needed, False) for needed in _needs(distribution)]
    return list(found.values())


def _distribution(name: str) -> Distribution | None:
    """A distribution where Python has searched from the start, whatever is searched now."""
    context = DistributionFinder.Context(name=name, path=list(SEARCHED))
    return next(iter(MetadataPathFinder.find_distributions(context)), None)


def canonical(name: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _needs(distribution: Distribution) -> Iterator[str]:
    for line in distribution.requires or ():
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement.name


def _recorded(distribution: Distribution) -> list[str]:
    """Paths of a distribution's files, relative to where it lies.

    Read as text: the standard library makes an object of each of 20,000 paths.

    Raises:
        MissingPackageError: if it has no record.
    """
    record = distribution.read_text("RECORD")
    if record is not None:
        names = [line.rsplit(",", 2)[0].strip('"') for line in record.splitlines()]
    else:  # Debian's packages, which keep their lists elsewhere
        listed = distribution.read_text("top_level.txt")
        if listed is None:
            raise MissingPackageError(distribution.name)
        here = Path(str(distribution.locate_file("")))
        names = [found for name in listed.split() for found in _top_level(here, name)]
    return [name for name in names if name and not name.startswith(("/", "../"))]


def _top_level(folder: Path, name: str) -> Iterator[str]:
    """The package or module of a name."""
    if (folder / name).is_dir():
        yield f"{name}/{INIT_FILES[0]}"
    yield from (found.name for found in folder.glob(f"{name}.*") if found.is_file())


Tree = dict[str, list[str]]


def _tree(names: Iterable[str]) -> Tree:
    """Paths below each first part; a file has nothing below it."""
    found: Tree = defaultdict(list)
    for name in names:
        first, _, rest = name.partition("/")
        if rest:
            found[first].append(rest)
        else:
            found.setdefault(first, [])
    return found


def _covering(tree: Tree) -> Iterator[str]:
    """The fewest files and folders that stand for all of a tree and for nothing else."""
    for name, below in tree.items():
        if not below or name.endswith(OWNED_SUFFIXES) or any(i in below for i in INIT_FILES):
            yield name
        elif name != "__pycache__":
            yield from (f"{name}/{inner}" for inner in _covering(_tree(below)))
