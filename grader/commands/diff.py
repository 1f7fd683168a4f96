"""`grade diff`: two results folders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter, validators

from grader.commands.options import print_json
from grader.diff import ClassDiff, diff_classes
from grader.errors import ExitStatus
from grader.report.console import console
from grader.report.differences import (
    differences_csv,
    differences_json,
    differences_table,
    rubric_sentences,
    summary_sentence,
)
from grader.results import Results

FORMATS = Group("Formats", validator=validators.MutuallyExclusive())  # type: ignore[no-untyped-call]


def diff(
    old: Annotated[Path, Parameter(help="Results folder of one run.")],
    new: Annotated[Path, Parameter(help="Results folder of another run.")],
    /,
    *,
    as_json: Annotated[
        bool, Parameter(name=["--json"], group=FORMATS, help="Print JSON for programs.")
    ] = False,
    as_csv: Annotated[
        bool, Parameter(name=["--csv"], group=FORMATS, help="Print CSV for spreadsheets.")
    ] = False,
) -> int:
    """Compare two results folders: which scores and statuses differ.

    Exit status: 0 nothing differs, 1 something does, 2 one of them cannot be compared.
    """
    found = _compare(Results(old), Results(new))
    if as_json:
        print_json({"old": str(old), "new": str(new), **differences_json(found)})
    elif as_csv:
        sys.stdout.write(differences_csv(found))
    else:
        _show(found)
    return ExitStatus.CHANGED if found else ExitStatus.DONE


def _compare(old: Results, new: Results) -> ClassDiff:
    before, after = old.scorecards(), new.scorecards()
    found = diff_classes(before, after)
    before.check()
    after.check()
    return found


def _show(found: ClassDiff) -> None:
    shown = console(sys.stdout)
    for sentence in rubric_sentences(found.rubric):
        shown.print(sentence, markup=False)
    if found.students:
        shown.print(differences_table(found))
    shown.print(summary_sentence(found))
