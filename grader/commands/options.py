"""Options, paths and output that several commands share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators
from pydantic_core import to_json

from grader.errors import ContainmentError
from grader.sandbox.confinement import available_walls
from grader.sandbox.policy import FILE_WALLS
from grader.text import visible

RubricOption = Annotated[
    Path | None, Parameter(name=["--rubric"], help="The rubric; default: the assignment's own.")
]
ExtensionsOption = Annotated[
    Path | None,
    Parameter(
        name=["--extensions"],
        help="Students with more time; default: extensions.csv beside the rubric.",
    ),
]
SeedOption = Annotated[
    int | None,
    Parameter(
        name=["--seed"],
        validator=validators.Number(gte=0),
        help="Repeat a run with the random inputs that it had: the seed in its run.json.",
    ),
]
JsonOption = Annotated[bool, Parameter(name=["--json"], help="Print JSON for programs.")]


def walls_to_use(trust: bool) -> tuple[str, ...]:
    """The walls that this machine can give.

    Raises:
        ContainmentError: if none of them keeps files out of reach and that was not accepted.
    """
    walls = available_walls()
    if set(FILE_WALLS) & set(walls) or trust:
        return walls
    raise ContainmentError(
        "Nothing on this machine keeps student code from reading and changing your files: there "
        "is no Landlock, and without root no other user to run it as.",
        "Either grade in a container or as root, or accept it with --trust-submissions. "
        "`grade doctor` shows every wall.",
    )


def default_rubric() -> Path:
    """The rubric in the current folder, else the one that comes with the grader."""
    package = Path(__file__).resolve().parent.parent
    candidates = (
        Path("rubric.yaml"),
        package.parent / "rubric.yaml",
        package / "assignment" / "rubric.yaml",
    )
    return next((path for path in candidates if path.is_file()), candidates[-1])


def print_json(value: object) -> None:
    """Print a value as JSON, and nothing else, on stdout."""
    sys.stdout.write(to_json(value, indent=2).decode() + "\n")


def say(text: str) -> None:
    """Say something to whoever runs the command: on stderr, so that stdout stays for results."""
    sys.stderr.write(visible(text) + "\n")
