"""Whose the folders and files of a class are, as their names say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.intake.deliveries import Delivery
from grader.intake.names import split_owner
from grader.intake.platforms import Named, blackboard_name, read_name
from grader.model import UNTIMED, Person, Timing
from grader.text import printable
from grader.times import parse_time

# What students hand in besides Python files, and what this version cannot open.
UNREAD_SUFFIXES = frozenset({".7z", ".gz", ".ipynb", ".rar", ".tar", ".tgz", ".zip"})
# nbgrader's folder of collected work: in any other folder a `timestamp.txt` may be the student's.
NBGRADER_FOLDER = "submitted"
STAMP = "timestamp.txt"


def find_deliveries(entries: Iterable[os.DirEntry[str]], wanted: Sequence[str]) -> list[Delivery]:
    """Entries of a class folder, put together by owner and time.

    Args:
        entries: real folders and files; links and others are passed over.
        wanted: the assignment's files.
    """
    found: dict[tuple[str, str], Delivery] = {}
    for entry in entries:
        folder = entry.is_dir(follow_symlinks=False)
        named = read_name(entry.name, folder)
        if not folder and not (entry.is_file(follow_symlinks=False) and _serves(entry.name, named)):
            continue
        delivery = _named(named) if named else _plain(entry, folder, wanted)
        key = (delivery.student, named.attempt if named else "")
        delivery = found.setdefault(key, delivery)
        if named and named.timing.marked_late:
            delivery.timing = named.timing
        _add(delivery, entry, folder, named, wanted)
    return list(found.values())


def _serves(name: str, named: Named | None) -> bool:
    """Whether a file can hold answers, or tells of an attempt."""
    suffix = Path(name).suffix.lower()
    return suffix in {".py", *UNREAD_SUFFIXES} or (named is not None and not named.rest)


def _named(named: Named) -> Delivery:
    name = printable(named.name)
    person = Person(student=named.name, name=name, number=named.user)
    return Delivery(named.name, named.student, people=(person,), timing=named.timing)


def _plain(entry: os.DirEntry[str], folder: bool, wanted: Sequence[str]) -> Delivery:
    if folder:
        return Delivery(entry.name, entry.name.casefold(), timing=_stamped(Path(entry.path)))
    owner, _ = split_owner(entry.name, wanted) or (Path(entry.name).stem, "")
    return Delivery(owner, owner.casefold())


def _add(
    delivery: Delivery,
    entry: os.DirEntry[str],
    folder: bool,
    named: Named | None,
    wanted: Sequence[str],
) -> None:
    """Take an entry into its delivery, under its name inside the submission."""
    if folder:
        delivery.entries.append((Path(entry.path), ""))
    elif named and named.rest:
        delivery.entries.append((Path(entry.path), named.rest))
    elif named:
        told = blackboard_name(Path(entry.path))
        if told:
            name, user = map(printable, told)
            delivery.people = (Person(student=user, name=name, number=user),)
    else:
        _, name = split_owner(entry.name, wanted) or ("", entry.name)
        delivery.entries.append((Path(entry.path), name))


def _stamped(folder: Path) -> Timing:
    """The time that nbgrader wrote when it collected `submitted/jdoe/ps1/`."""
    if folder.resolve().parent.name != NBGRADER_FOLDER:
        return UNTIMED
    stamps = sorted(folder.glob(f"*/{STAMP}"))
    if len(stamps) != 1 or stamps[0].is_symlink() or not stamps[0].is_file():
        return UNTIMED
    try:
        text = stamps[0].read_text(encoding="utf-8")[:100].strip()
    except (OSError, UnicodeDecodeError):
        text = ""
    moment = parse_time(text)
    return Timing(submitted=moment, unread="" if moment else printable(text) or STAMP)
