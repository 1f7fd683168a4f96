"""`grade score`: saved reports under a changed rubric."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from grader.commands.options import (
    ExtensionsOption,
    JsonOption,
    RubricOption,
    default_rubric,
    print_json,
)
from grader.errors import ExitStatus, ResultsError
from grader.intake.extensions import load_extensions
from grader.report.console import changes_table, console
from grader.rescore import Rescored, Rescoring, saved_class
from grader.results import Results
from grader.rubric import load_rubric


def score(
    results: Annotated[Path, Parameter(help="Results folder of a run.")],
    /,
    *,
    rubric: RubricOption = None,
    extensions: ExtensionsOption = None,
    yes: Annotated[
        bool, Parameter(name=["--yes"], help="Also where somebody loses points.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Score the saved reports with the rubric as it is now.  Nothing is run again."""
    rubric_path = rubric or default_rubric()
    loaded, saved = load_rubric(rubric_path), Results(results)
    saved.class_list()
    with saved.claimed():
        submissions = saved_class(saved)
        more_time = load_extensions(extensions, loaded, submissions)
        again = Rescoring(saved, loaded, rubric_path, submissions, more_time)
        found = again.compare()
        _show_changes([one for one in found if one.changed], as_json)
        _check_nobody_loses(found, yes)
        again.save()
    attention = any(one.after.status == "needs-attention" for one in found)
    return ExitStatus.NEEDS_ATTENTION if attention else ExitStatus.DONE


def _check_nobody_loses(found: Sequence[Rescored], meant: bool) -> None:
    losing = sum(one.loses for one in found)
    if losing and not meant:
        raise ResultsError(
            f"Nothing was written: {losing} of {len(found)} students would lose points.",
            "If that is meant, add --yes.",
        )


def _show_changes(changed: Sequence[Rescored], as_json: bool) -> None:
    rows = [
        (one.student, one.before.score if one.before else None, one.after.score) for one in changed
    ]
    if as_json:
        keys = ("student", "before", "now")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
    elif rows:
        console(sys.stdout).print(changes_table(rows))
    else:
        console(sys.stdout).print("No score changes.")
