"""Gradescope's export: `submission_metadata.yml` beside a folder for each submission.

It is written by Ruby, whose symbols are keys with a colon in front: `:submitters`, `:created_at`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from grader.errors import SubmissionsError
from grader.intake.deliveries import Delivery
from grader.located_yaml import yaml_problem
from grader.model import UNTIMED, Person, Timing
from grader.text import printable
from grader.times import parse_time

METADATA = "submission_metadata.yml"
# How Gradescope calls the folder that it packs.
EXPORT = re.compile(r"assignment_\d+_export.*")
# A safe loader that leaves every value as it is written: an id such as 0200 stays a text.
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def gradescope_deliveries(folder: Path, entries: Sequence[os.DirEntry[str]]) -> list[Delivery]:
    """Every submission that an export's metadata lists, and folders that it does not list.

    Raises:
        SubmissionsError: if the file cannot be read.
    """
    listed = _metadata(folder / METADATA)
    folders = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
    deliveries = []
    for name in sorted(listed.keys() | folders):
        entry = listed.get(name)
        entry = entry if isinstance(entry, dict) else {}
        delivery = Delivery(name, name, people=tuple(_people(entry)), timing=_timing(entry))
        if not delivery.people:
            delivery.notes.append("Gradescope's export names nobody who handed this in.")
        if name in folders:
            delivery.entries.append((folder / name, ""))
        else:
            delivery.problem = f"The export has no folder {printable(name)}: download it again."
        deliveries.append(delivery)
    return deliveries


def _metadata(path: Path) -> dict[str, Any]:
    remedy = "Download the export again, or remove this file to grade the folders by their names."
    try:
        found = yaml.load(path.read_text(encoding="utf-8-sig"), Loader=LOADER)  # noqa: S506
    except OSError as error:
        raise SubmissionsError(f"{path} cannot be read: {error.strerror}.", remedy) from error
    except yaml.YAMLError as error:
        raise SubmissionsError(f"{path}: {yaml_problem(error)}.", remedy) from error
    except (UnicodeDecodeError, RecursionError) as error:
        reason = "is not UTF-8 text" if isinstance(error, ValueError) else "is nested without end"
        raise SubmissionsError(f"{path} {reason}.", remedy) from error
    if not isinstance(found, dict):
        raise SubmissionsError(f"{path} lists no submissions.", remedy)
    return {str(name): entry for name, entry in found.items()}


def _people(entry: dict[str, Any]) -> Iterator[Person]:
    submitters = entry.get(":submitters")
    for submitter in submitters if isinstance(submitters, list) else []:
        if not isinstance(submitter, dict):
            continue
        name, number, email = (
            printable(str(submitter.get(key) or "")).strip() for key in (":name", ":sid", ":email")
        )
        wish = number or email or name
        if wish:
            yield Person(student=wish, name=name or wish, email=email, number=number)


def _timing(entry: dict[str, Any]) -> Timing:
    text = entry.get(":created_at")
    if not isinstance(text, str) or not text.strip():
        return UNTIMED
    moment = parse_time(text)
    return Timing(submitted=moment, unread="" if moment else printable(text.strip()))
