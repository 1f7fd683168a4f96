"""`grade check`: a student's own files."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from grader.batch import ClassRun
from grader.commands.options import (
    JsonOption,
    RubricOption,
    SeedOption,
    default_rubric,
    print_json,
)
from grader.errors import ExitStatus
from grader.executor import Local
from grader.intake.layouts import single_submission
from grader.intake.names import canonical_file
from grader.model import Scorecard
from grader.report.console import console, feedback_text
from grader.results import Results
from grader.rubric import Rubric, load_rubric
from grader.sandbox.confinement import available_walls
from grader.sandbox.policy import FILE_WALLS
from grader.text import visible


def check(
    path: Annotated[Path, Parameter(help="Your folder, or one file.")] = Path(),
    /,
    *,
    rubric: RubricOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> int:
    """Check your own files: points and what to look at, at once."""
    walls = available_walls()
    # Where nothing can keep files out of reach, people may still check what they wrote themselves.
    executor = Local(1, walls, trusted=not set(FILE_WALLS) & set(walls))
    with executor, tempfile.TemporaryDirectory(prefix="grade-check-") as folder:
        rubric_path = rubric or default_rubric()
        loaded = load_rubric(rubric_path)
        submission = single_submission(path, loaded)
        run = ClassRun(loaded, rubric_path, Results(Path(folder)), seed=seed)
        (card,) = run.grade(executor, [submission])
    card = _only_the_file(card, path, loaded)
    if as_json:
        print_json(card.model_dump(mode="json"))
    else:
        console(sys.stdout).print(feedback_text(card))
        if card.problem:
            console(sys.stdout).print(visible(card.problem), markup=False)
    return ExitStatus.NEEDS_ATTENTION if card.status == "needs-attention" else ExitStatus.DONE


def _only_the_file(card: Scorecard, path: Path, rubric: Rubric) -> Scorecard:
    """The scorecard, cut down to one milestone where one milestone's file was asked for."""
    file = canonical_file(path.name, [m.file for m in rubric.milestones])
    if not path.is_file() or file is None or card.score is None:
        return card
    wanted = next(milestone.id for milestone in rubric.milestones if milestone.file == file)
    (kept,) = (milestone for milestone in card.milestones if milestone.id == wanted)
    update = {"milestones": (kept,), "score": kept.score, "max_score": kept.max_score}
    return card.model_copy(update={**update, "late": None})
