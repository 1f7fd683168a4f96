"""`grade SUBMISSIONS`: a class."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from grader.batch import ClassRun, counts
from grader.commands.options import (
    ExtensionsOption,
    JsonOption,
    RubricOption,
    available_cpus,
    default_rubric,
    print_json,
    say,
    walls_to_use,
)
from grader.errors import ExitStatus
from grader.examiner.client import Nursery
from grader.intake.extensions import load_extensions
from grader.intake.layouts import find_submissions
from grader.model import Scorecard
from grader.report.console import ClassProgress, class_table, console
from grader.report.gradebook import UNKNOWN, late_cell
from grader.results import Results
from grader.rubric import Rubric, load_rubric


def grade(
    submissions: Annotated[Path, Parameter(help="Folder with one subfolder per student.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Results folder.")] = Path("results"),
    rubric: RubricOption = None,
    extensions: ExtensionsOption = None,
    jobs: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=1),
            help="Submissions at the same time; default: one for each processor.",
        ),
    ] = None,
    fresh: Annotated[bool, Parameter(help="Examine unchanged submissions again.")] = False,
    trust_submissions: Annotated[
        bool, Parameter(help="Go on where nothing keeps student code from your files.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Grade a folder of submissions.  Goes on where an earlier run has stopped."""
    walls = walls_to_use(trust_submissions)
    rubric_path = rubric or default_rubric()
    with Nursery() as nursery:
        loaded = load_rubric(rubric_path)
        found = find_submissions(submissions, loaded, out)
        more_time = load_extensions(extensions, loaded, found)
        Results(out).check_writable()
        with ClassProgress(len(found)) as progress:
            run = ClassRun(
                loaded,
                rubric_path,
                Results(out),
                jobs or available_cpus(),
                walls,
                fresh,
                on_card=lambda card, new: progress.advance(),
                extensions=more_time,
            )
            try:
                cards = run.grade(nursery, found)
            except KeyboardInterrupt:
                return _interrupted(progress.done, len(found))
    _show_class(cards, loaded, out, as_json)
    attention = counts(cards)["needs-attention"]
    return ExitStatus.NEEDS_ATTENTION if attention else ExitStatus.DONE


def _interrupted(done: int, total: int) -> int:
    say(
        f"grade: interrupted after {done} of {total} submissions. What is graded is kept: run "
        "the same command again to go on."
    )
    return ExitStatus.INTERRUPTED


def _show_class(cards: Sequence[Scorecard], rubric: Rubric, out: Path, as_json: bool) -> None:
    if as_json:
        summary = [card.model_dump(mode="json") for card in cards]
        print_json({"results": str(out), "counts": counts(cards), "students": summary})
        return
    shown = console(sys.stdout)
    shown.print(class_table(cards, rubric))
    for card in cards:
        if card.problem:
            shown.print(f"{card.student} needs attention: {card.problem}", markup=False)
    unknown = sum(late_cell(card) == UNKNOWN for card in cards)
    if unknown:
        shown.print(
            f"Of {unknown} submissions nobody knows when they were handed in; nothing was taken "
            "from them. Times may stand in submissions.csv."
        )
    shown.print(f"\nFeedback, scores and gradebook.csv are in {out}", markup=False)
