"""`grade SUBMISSIONS`: a class."""

from __future__ import annotations

import itertools
import sys
import textwrap
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators
from pydantic_core import to_json

from grader.batch import ClassRun
from grader.cluster.executor import Cluster
from grader.commands.options import (
    ExtensionsOption,
    JsonOption,
    RubricOption,
    SeedOption,
    default_rubric,
    say,
    walls_to_use,
)
from grader.cpus import available_cpus
from grader.errors import ClusterError, ExitStatus
from grader.executor import Local
from grader.intake.extensions import load_extensions
from grader.intake.layouts import find_submissions
from grader.report.console import WIDTH, ClassProgress, class_table, console
from grader.results import Results, SavedCards
from grader.rubric import load_rubric
from grader.sandbox.policy import ALL_WALLS
from grader.text import visible

# Students in the table of a class; a longer one is read in the gradebook.
MAX_ROWS = 200


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
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> int:
    """Grade a folder of submissions.  Goes on where an earlier run has stopped."""
    rubric_path = rubric or default_rubric()
    # Trusted workers of a cluster may lack any wall, so none is counted on.
    on_cluster = () if trust_submissions else ALL_WALLS
    walls = on_cluster if scheduler else walls_to_use(trust_submissions)
    with executor_for(scheduler, jobs, walls, trust_submissions) as executor:
        loaded = load_rubric(rubric_path)
        found = find_submissions(submissions, loaded, out)
        more_time = load_extensions(extensions, loaded, found)
        Results(out).check_writable()
        with ClassProgress(len(found)) as progress:
            run = ClassRun(
                loaded,
                rubric_path,
                Results(out),
                walls,
                fresh,
                more_time,
                seed,
                on_card=lambda card, new: progress.advance(new),
                on_notice=_say_notice,
            )
            try:
                cards = run.grade(executor, found)
            except KeyboardInterrupt:
                return _interrupted(progress.done, len(found), fresh)
    if as_json:
        _print_class(run, cards)
    else:
        _show_class(run, cards)
    attention = run.summary.counts["needs-attention"]
    return ExitStatus.NEEDS_ATTENTION if attention else ExitStatus.DONE


def executor_for(
    scheduler: str | None, jobs: int | None, walls: tuple[str, ...], trust: bool
) -> Local | Cluster:
    """Where to examine.

    Raises:
        ClusterError: if jobs are asked for on a cluster, whose workers' threads decide.
    """
    if scheduler is None:
        return Local(
            jobs or available_cpus(), walls, say=lambda why: say(f"grade: {why}"), trusted=trust
        )
    if jobs is not None:
        raise ClusterError(
            "--jobs is for this machine; a cluster examines as many at a time as its workers have "
            "threads.",
            "Leave --jobs out, or start workers with another --nthreads.",
        )
    return Cluster(scheduler, trust, say)


def _interrupted(done: int, total: int, fresh: bool) -> int:
    again = "run the same command again to go on."
    if fresh:
        again = "run the command again without --fresh to keep it, or with --fresh to start anew."
    say(f"grade: interrupted after {done} of {total} submissions. What is graded is kept: {again}")
    return ExitStatus.INTERRUPTED


def _say_notice(text: str) -> None:
    say(textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def _print_class(run: ClassRun, cards: SavedCards) -> None:
    """The class as JSON, student by student: a large one is never in memory as a whole."""
    head = {
        "results": str(run.results.folder),
        "counts": run.summary.counts,
        "up_to_date": len(cards) - len(run.examined),
    }
    sys.stdout.write(to_json(head, indent=2).decode().removesuffix("\n}") + ',\n  "students": [')
    for number, card in enumerate(cards):
        told = {
            **card.model_dump(mode="json"),
            "up_to_date": card.student not in run.examined,
        }
        text = textwrap.indent(to_json(told, indent=2).decode(), "    ")
        sys.stdout.write(("," if number else "") + "\n" + text)
    sys.stdout.write("\n  ]\n}\n")


def _show_class(run: ClassRun, cards: SavedCards) -> None:
    shown = console(sys.stdout)
    shown.print(class_table(list(itertools.islice(cards, MAX_ROWS)), run.rubric))
    if len(cards) > MAX_ROWS:
        shown.print(f"and {len(cards) - MAX_ROWS} more, all in gradebook.csv")
    for student, problem in run.summary.problems:
        shown.print(visible(f"{student} needs attention: {problem}"), markup=False)
    if run.summary.times_unknown:
        shown.print(
            f"Of {run.summary.times_unknown} submissions nobody knows when they were handed in; "
            "nothing was taken from them. Times may stand in submissions.csv."
        )
    shown.print()
    up_to_date = len(cards) - len(run.examined)
    if up_to_date:
        shown.print(f"{up_to_date} up to date, {len(run.examined)} graded")
    shown.print(f"Feedback, scores and gradebook.csv are in {run.results.folder}", markup=False)
