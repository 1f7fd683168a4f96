"""`grade SUBMISSIONS`: a class."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from grader.batch import ClassRun, counts
from grader.cluster.executor import Cluster
from grader.commands.options import (
    JsonOption,
    RubricOption,
    default_rubric,
    print_json,
    say,
    walls_to_use,
)
from grader.cpus import available_cpus
from grader.errors import ClusterError, ExitStatus
from grader.executor import Local
from grader.intake.layouts import find_submissions
from grader.model import Scorecard
from grader.report.console import ClassProgress, class_table, console
from grader.results import Results
from grader.rubric import Rubric, load_rubric


def grade(
    submissions: Annotated[Path, Parameter(help="Folder with one subfolder per student.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Results folder.")] = Path("results"),
    rubric: RubricOption = None,
    jobs: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=1),
            help="Submissions at the same time; default: one for each processor available.",
        ),
    ] = None,
    fresh: Annotated[bool, Parameter(help="Examine unchanged submissions again.")] = False,
    trust_submissions: Annotated[
        bool, Parameter(help="Go on where nothing keeps student code from your files.")
    ] = False,
    scheduler: Annotated[
        str | None, Parameter(help="Examine on the Dask cluster at this address, not here.")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Grade a folder of submissions.  Goes on where an earlier run has stopped."""
    rubric_path = rubric or default_rubric()
    with executor_for(scheduler, jobs, trust_submissions) as executor:
        loaded = load_rubric(rubric_path)
        found = find_submissions(submissions, loaded, out)
        Results(out).check_writable()
        with ClassProgress(len(found)) as progress:
            run = ClassRun(
                loaded,
                rubric_path,
                Results(out),
                fresh,
                on_card=lambda card, new: progress.advance(),
            )
            try:
                cards = run.grade(executor, found)
            except KeyboardInterrupt:
                return _interrupted(progress.done, len(found))
    _show_class(cards, loaded, out, as_json)
    attention = counts(cards)["needs-attention"]
    return ExitStatus.NEEDS_ATTENTION if attention else ExitStatus.DONE


def executor_for(scheduler: str | None, jobs: int | None, trust: bool) -> Local | Cluster:
    """Where to examine.

    Raises:
        ContainmentError: if that is this machine, and nothing here keeps files out of reach.
        ClusterError: if jobs are asked for on a cluster, whose workers' threads decide.
    """
    if scheduler is None:
        return Local(jobs or available_cpus(), walls_to_use(trust))
    if jobs is not None:
        raise ClusterError(
            "--jobs is for this machine; a cluster examines as many at a time as its workers have "
            "threads.",
            "Leave --jobs out, or start workers with another --nthreads.",
        )
    return Cluster(scheduler, trust, say)


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
    shown.print(f"\nFeedback, scores and gradebook.csv are in {out}", markup=False)
