"""`grade export`: results in a platform's own format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from grader.commands.options import RubricOption, default_rubric
from grader.errors import ExitStatus
from grader.gradescope.export import export_results
from grader.report.console import console
from grader.results import Results
from grader.rubric import load_rubric


def export(
    platform: Annotated[Literal["gradescope"], Parameter(help="Whose format.")],
    results: Annotated[Path, Parameter(help="Results folder of a run.")],
    /,
    *,
    into: Annotated[Path, Parameter(help="Folder to write to, one file a submission.")],
    rubric: RubricOption = None,
) -> int:
    """Write what Gradescope's autograder would have told of each submission of a run."""
    loaded = load_rubric(rubric or default_rubric())
    written, failed = export_results(Results(results), loaded, into)
    console(sys.stdout).print(f"{written} files are in {into}", markup=False)
    for student in failed:
        console(sys.stdout).print(f"{student} needs attention: its file has no score", markup=False)
    return ExitStatus.NEEDS_ATTENTION if failed else ExitStatus.DONE
