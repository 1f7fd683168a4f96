"""What an examination depends on besides the submission, part by part, and what of it changed."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence

from grader import __version__
from grader.files import digest_of
from grader.rubric import Rubric
from grader.sandbox.policy import FILE_WALLS
from grader.versions import torch_version

MAX_NAMED = 3
# Longer values are digests, which tell a reader nothing.
MAX_SHOWN = 24


def provenance(rubric: Rubric, walls: Sequence[str]) -> dict[str, str]:
    """Every part with its value, each under the name that a reader is told.

    Python counts by its minor version, since newer ones accept other syntax.  Points and texts of
    the rubric do not count: they are applied to saved reports.

    Args:
        rubric: the assignment.
        walls: the walls around each worker; whether one of them stands around files counts.
    """
    parts = {
        "the grader": __version__,
        "torch": torch_version(),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "the wall around files": "stands" if set(FILE_WALLS) & set(walls) else "missing",
    }
    parts["the packages"] = ", ".join(rubric.packages)
    for name, value in rubric.limits.model_dump().items():
        parts[f"the limit {name}"] = f"{value:g}"
    for milestone in rubric.milestones:
        parts[f"the file or suite of {milestone.id}"] = f"{milestone.file}, {milestone.suite}"
    for milestone in rubric.milestones:  # they say in which order the tests' questions are put
        solution = rubric.root / rubric.solutions / milestone.file
        if solution.is_file():
            parts[f"the solution of {milestone.id}"] = digest_of([("", solution.read_bytes())])
    for path in sorted(rubric.suite_folder.rglob("*.py")):
        name = path.relative_to(rubric.suite_folder).as_posix()
        kind = "the hidden suite" if path in rubric.suite_paths else "the suites' helper"
        parts[f"{kind} {name}"] = digest_of([("", path.read_bytes())])
    return parts


class Changes:
    """What has changed since the results of a class were saved.

    Args:
        now: the provenance of this run.

    Attributes:
        students: how many have results of another provenance.
    """

    def __init__(self, now: Mapping[str, str]) -> None:
        self._now = now
        self._parts: dict[str, None] = {}
        self.students = 0

    def add(self, before: Mapping[str, str]) -> None:
        """Take note of the provenance of one student's results."""
        parts = [part for part in {**before, **self._now} if self._value(part) != before.get(part)]
        if parts:
            self.students += 1
            told = [_told(part, before.get(part), self._value(part)) for part in parts]
            self._parts |= dict.fromkeys(told if before else ["the grader"])

    def notice(self, total: int) -> str:
        """What a reader is told; nothing if nothing has changed.

        Args:
            total: submissions of the class.
        """
        if not self._parts:
            return ""
        named, more = list(self._parts)[:MAX_NAMED], len(self._parts) - MAX_NAMED
        if more > 0:
            named.append(f"{more} more")
        what = ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else named[0]
        verb = "have" if len(named) > 1 else "has"
        who = f"all {total}" if self.students == total else f"{self.students} of {total}"
        if total == 1:
            return f"{what[0].upper()}{what[1:]} {verb} changed: the submission is graded again."
        return f"{what[0].upper()}{what[1:]} {verb} changed: {who} submissions are graded again."

    def _value(self, part: str) -> str | None:
        return self._now.get(part)


def _told(part: str, before: str | None, now: str | None) -> str:
    """A part, with its values where they are short."""
    if before is None or now is None or max(len(before), len(now)) > MAX_SHOWN:
        return part
    return f"{part} ({before}, now {now})"
