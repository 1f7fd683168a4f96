"""What the names of downloaded folders and files tell: whose they are, and when they came.

Brightspace: `39786-640693 - Jane Doe - Oct 10, 2025 1022 AM/`, a folder for each attempt.
Blackboard: `Milestone 1_jdoe_attempt_2025-10-03-23-59-59_milestone1_layernorm.py`, and a text
file of the same attempt that tells the name.
Canvas: `doejane_LATE_1234_98765_milestone1_layernorm.py`: user, then a number for each file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from grader.model import Timing
from grader.text import printable

BRIGHTSPACE = re.compile(r"(?P<number>\d+)-\d+ - (?P<name>.+) - (?P<time>.+)", re.ASCII)
BRIGHTSPACE_TIME = re.compile(
    r"(?P<month>[a-z]{3})[a-z]*\.? (?P<day>\d{1,2}), (?P<year>\d{4}) "
    r"(?P<hour>\d{1,2}?)(?P<minute>\d{2})? ?(?P<half>[ap]m)?",
    re.ASCII | re.IGNORECASE,
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Moodle's names are not read here, and a student chooses how one of them ends.
BLACKBOARD = re.compile(
    r"(?!.*_assignsubmission_)(?P<student>.+_(?P<user>[^_]+))_attempt_"
    r"(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<rest>.+)|\.txt)",
    re.ASCII,
)
BLACKBOARD_NAME = re.compile(r"Name: *(?P<name>.+?) *\((?P<user>[^()]+)\)")
# Names are written small and without spaces.  Real numbers of files are long: `ann_12_34_...` is
# a name of somebody's own making.
CANVAS = re.compile(
    r"(?P<student>(?P<name>[^\sA-Z-]+?)(?P<late>_(?:LATE|late))?_(?P<number>\d+))_\d{3,}_(?P<rest>.+)"
)
CANVAS_ANONYMOUS = re.compile(
    r"(?P<late>(?:LATE|late)_)?(?P<student>(?P<name>anon_\w{5}))_\d{3,}_(?P<rest>.+)"
)
HEAD_BYTES = 4096


@dataclass(frozen=True)
class Named:
    """What a name tells.

    Attributes:
        name: of the owner, as the platform writes it.
        student: equal for everything that one student handed in, and for nothing else.
        attempt: tells attempts of one student apart; empty where the platform gives only one.
        rest: name of the file inside the submission; empty for a folder.
        timing: when it was handed in.
        user: the platform's name or number of the user.
    """

    name: str
    student: str
    attempt: str
    rest: str
    timing: Timing
    user: str = ""


def read_name(name: str, folder: bool) -> Named | None:
    """What the name of a folder or file tells; `None` if no platform writes such names."""
    if folder:
        return _brightspace(name)
    # A student chooses how a Canvas name ends: that end must not pass for one of Blackboard's.
    return _canvas(name) or _blackboard(name)


def _brightspace(text: str) -> Named | None:
    found = BRIGHTSPACE.fullmatch(text)
    if found is None:
        return None
    moment = _brightspace_time(found["time"])
    unread = "" if moment else printable(found["time"])
    timing = Timing(submitted=moment, unread=unread)
    student = f"{found['number']} {found['name']}"
    return Named(found["name"], student, found["time"], "", timing, found["number"])


def _brightspace_time(text: str) -> datetime | None:
    """The time in a folder's name, whose minutes follow the hour without a colon: 922 AM."""
    found = BRIGHTSPACE_TIME.fullmatch(text.strip())
    if found is None or found["month"].lower() not in MONTHS:
        return None
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    month = MONTHS.index(found["month"].lower()) + 1
    try:
        return datetime(
            int(found["year"]), month, int(found["day"]), hour, int(found["minute"] or 0)
        )
    except ValueError:
        return None


def _blackboard(text: str) -> Named | None:
    found = BLACKBOARD.fullmatch(text)
    if found is None:
        return None
    try:
        timing = Timing(submitted=datetime.strptime(found["time"], "%Y-%m-%d-%H-%M-%S"))
    except ValueError:
        timing = Timing(unread=found["time"])
    rest = found["rest"] or ""
    return Named(found["user"], found["student"], found["time"], rest, timing, found["user"])


def blackboard_name(path: Path) -> tuple[str, str] | None:
    """Name and user name of a student, from the first line of an attempt's text file.

    Unlike the names of files it tells user names with underscores apart from the assignment's.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return None
    found = BLACKBOARD_NAME.match(head.partition("\n")[0])
    return (found["name"], found["user"]) if found else None


def _canvas(text: str) -> Named | None:
    found = CANVAS_ANONYMOUS.fullmatch(text) or CANVAS.fullmatch(text)
    if found is None:
        return None
    number = found.groupdict().get("number", "")
    student = f"{found['name']} {number}"
    timing = Timing(marked_late=bool(found["late"]))
    return Named(found["name"], student, "", found["rest"], timing, number)
