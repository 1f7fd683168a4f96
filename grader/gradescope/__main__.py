"""What setup.sh and run_autograder start: `python -m grader.gradescope run` and `check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from grader.errors import GraderError
from grader.gradescope import run as running

app = App(name="python -m grader.gradescope")


@app.command
def run(
    *,
    root: Annotated[Path, Parameter(help="Gradescope's folder.")] = Path("/autograder"),
    seconds: Annotated[int, Parameter(help="For the whole run.")] = 420,
) -> int:
    """Grade the submission and write results.json."""
    return running.run(running.Layout(root), seconds)


@app.command
def check(rubric: Path, /) -> int:
    """Grade the solution, as a submission is graded."""
    try:
        print(running.check(rubric))  # noqa: T201
    except GraderError as error:
        print(f"grade: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(app(result_action="return_value"))
