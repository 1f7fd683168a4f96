"""The commands.  The only place that turns an error into an exit status."""

from __future__ import annotations

import difflib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter, validators
from pydantic_core import to_json

from grader import __version__
from grader.batch import ClassRun, counts
from grader.doctor import doctor_table, doctor_verdict, probe_walls
from grader.errors import (
    AssignmentError,
    ContainmentError,
    ExitStatus,
    GraderError,
    ResultsError,
)
from grader.examiner.client import Nursery
from grader.intake.layouts import find_submissions, single_submission
from grader.intake.names import canonical_file
from grader.lint import lint_problems
from grader.model import Scorecard
from grader.proof import SEEDS, Proof, prove
from grader.report.console import (
    ClassProgress,
    changes_table,
    class_table,
    console,
    feedback_text,
)
from grader.rescore import Rescored, rescore, save_rescored
from grader.results import Results
from grader.rubric import Rubric, load_rubric
from grader.sandbox.confinement import available_walls
from grader.sandbox.policy import FILE_WALLS

app = App(
    name="grade",
    version=__version__,
    help="Grade submissions of a PyTorch assignment: contained, fast, and with reasons.",
    default_parameter=Parameter(negative=()),
)

RubricOption = Annotated[
    Path | None, Parameter(name=["--rubric"], help="The rubric; default: the assignment's own.")
]
JsonOption = Annotated[bool, Parameter(name=["--json"], help="Print JSON for programs.")]


QuickOption = Annotated[
    bool, Parameter(name=["--quick"], help="Stubs and solutions only, no variants of them.")
]


@app.default
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
            )
            try:
                cards = run.grade(nursery, found)
            except KeyboardInterrupt:
                return _interrupted(progress.done, len(found))
    _show_class(cards, loaded, out, as_json)
    attention = counts(cards)["needs-attention"]
    return ExitStatus.NEEDS_ATTENTION if attention else ExitStatus.DONE


@app.command
def check(
    path: Annotated[Path, Parameter(help="Your folder, or one file.")] = Path(),
    /,
    *,
    rubric: RubricOption = None,
    as_json: JsonOption = False,
) -> int:
    """Check your own files: points and what to look at, at once."""
    with Nursery() as nursery, tempfile.TemporaryDirectory(prefix="grade-check-") as folder:
        rubric_path = rubric or default_rubric()
        loaded = load_rubric(rubric_path)
        submission = single_submission(path, loaded)
        run = ClassRun(loaded, rubric_path, Results(Path(folder)), 1, available_walls())
        (card,) = run.grade(nursery, [submission])
    card = _only_the_file(card, path, loaded)
    if as_json:
        _print_json(card.model_dump(mode="json"))
    else:
        console(sys.stdout).print(feedback_text(card))
        if card.problem:
            console(sys.stdout).print(card.problem, markup=False)
    return ExitStatus.NEEDS_ATTENTION if card.status == "needs-attention" else ExitStatus.DONE


def _only_the_file(card: Scorecard, path: Path, rubric: Rubric) -> Scorecard:
    """The scorecard, cut down to one milestone where one milestone's file was asked for."""
    file = canonical_file(path.name, [m.file for m in rubric.milestones])
    if not path.is_file() or file is None or card.score is None:
        return card
    wanted = next(milestone.id for milestone in rubric.milestones if milestone.file == file)
    (kept,) = (milestone for milestone in card.milestones if milestone.id == wanted)
    update = {"milestones": (kept,), "score": kept.score, "max_score": kept.max_score}
    return card.model_copy(update=update)


@app.command
def lint(*, rubric: RubricOption = None, quick: QuickOption = False) -> int:
    """Prove the assignment: stubs earn nothing, solutions all, each mistake is caught and named."""
    rubric_path = rubric or default_rubric()
    with Nursery() as nursery, tempfile.TemporaryDirectory(prefix="grade-lint-") as folder:
        loaded = load_rubric(rubric_path)
        subjects = [
            single_submission(loaded.root / name, loaded).model_copy(update={"student": name})
            for name in (loaded.stubs, loaded.solutions)
        ]
        run = ClassRun(
            loaded, rubric_path, Results(Path(folder)), available_cpus(), available_walls()
        )
        stubs, solutions = run.grade(nursery, subjects)
    problems = lint_problems(stubs, solutions)
    proof = None if quick or problems else _prove(loaded)
    if proof is not None:
        problems += proof.problems
    if problems:
        raise AssignmentError(
            f"{rubric_path}: the assignment does not prove itself:\n"
            + "\n".join(f"  {problem}" for problem in problems),
            "Mend the stub, the solution or the hidden test that is named.",
        )
    out = console(sys.stdout)
    out.print(f"Stubs earn 0 of {stubs.max_score:g} points, solutions {solutions.score:g}.")
    out.print("Every hidden test is counted by one criterion.")
    if proof is not None and proof.variants:
        out.print(
            f"{proof.variants} variants of the solutions, each with one choice made otherwise, are "
            f"noticed by a test and named ({proof.examined} examinations)."
        )
    return ExitStatus.DONE


def _prove(rubric: Rubric) -> Proof:
    with ExitStack() as stack:

        def on_start(count: int) -> Callable[[], None]:
            return stack.enter_context(ClassProgress(count)).advance

        return prove(rubric, available_cpus(), SEEDS, on_start)


@app.command
def score(
    results: Annotated[Path, Parameter(help="Results folder of a run.")],
    /,
    *,
    rubric: RubricOption = None,
    yes: Annotated[
        bool, Parameter(name=["--yes"], help="Also where somebody loses points.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Score the saved reports with the rubric as it is now.  Nothing is run again."""
    rubric_path = rubric or default_rubric()
    loaded, saved = load_rubric(rubric_path), Results(results)
    found = rescore(saved, loaded, rubric_path)
    changed = [one for one in found if one.changed]
    _show_changes(changed, as_json)
    losing = [one.after.student for one in changed if one.loses]
    if losing and not yes:
        raise ResultsError(
            f"Nothing was written: {len(losing)} of {len(found)} students would lose points.",
            "If that is meant, add --yes.",
        )
    save_rescored(saved, loaded, found)
    attention = any(one.after.status == "needs-attention" for one in found)
    return ExitStatus.NEEDS_ATTENTION if attention else ExitStatus.DONE


def _show_changes(changed: Sequence[Rescored], as_json: bool) -> None:
    rows = [
        (one.after.student, one.before.score if one.before else None, one.after.score)
        for one in changed
    ]
    if as_json:
        keys = ("student", "before", "now")
        _print_json([dict(zip(keys, row, strict=True)) for row in rows])
    elif rows:
        console(sys.stdout).print(changes_table(rows))
    else:
        console(sys.stdout).print("No score changes.")


@app.command
def doctor(*, as_json: JsonOption = False) -> int:
    """Try every wall around student code on this machine, and say what stands."""
    probes = probe_walls()
    if as_json:
        _print_json([probe.model_dump() for probe in probes])
    else:
        console(sys.stdout).print(doctor_table(probes))
        console(sys.stdout).print(doctor_verdict(probes), markup=False)
    return ExitStatus.DONE if all(probe.stands for probe in probes) else ExitStatus.NEEDS_ATTENTION


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
    package = Path(__file__).resolve().parent
    candidates = (
        Path("rubric.yaml"),
        package.parent / "rubric.yaml",
        package / "assignment" / "rubric.yaml",
    )
    return next((path for path in candidates if path.is_file()), candidates[-1])


def available_cpus() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; every error of ours becomes a message and a status."""
    try:
        status = app(
            arguments, exit_on_error=False, print_error=False, result_action="return_value"
        )
        sys.stdout.flush()
    except GraderError as error:
        _say(f"grade: {error}")
        return error.exit_status
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.NEEDS_ATTENTION
    except OSError as error:
        _say(
            f"grade: {error.strerror or error}: {error.filename or 'a file'}\n"
            "What is graded already is kept: mend this and run the same command again."
        )
        return ExitStatus.NEEDS_ATTENTION
    except CycloptsError as error:
        _say(f"grade: {error}\n{_command_hint(arguments)}See: grade --help")
        return ExitStatus.WRONG_USAGE
    except KeyboardInterrupt:
        _say("grade: interrupted. Run the same command again to go on.")
        return ExitStatus.INTERRUPTED
    return int(status or 0)


def _command_hint(arguments: Sequence[str] | None) -> str:
    """A guess at a mistyped command."""
    words = list(arguments if arguments is not None else sys.argv[1:])
    commands = ["check", "doctor", "lint", "score"]
    near = difflib.get_close_matches(words[0], commands, n=1) if words else []
    return f"Is the command {near[0]!r} meant?\n" if near and words[0] not in commands else ""


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


def _interrupted(done: int, total: int) -> int:
    _say(
        f"grade: interrupted after {done} of {total} submissions. What is graded is kept: run "
        "the same command again to go on."
    )
    return ExitStatus.INTERRUPTED


def _show_class(cards: Sequence[Scorecard], rubric: Rubric, out: Path, as_json: bool) -> None:
    if as_json:
        summary = [card.model_dump(mode="json") for card in cards]
        _print_json({"results": str(out), "counts": counts(cards), "students": summary})
        return
    shown = console(sys.stdout)
    shown.print(class_table(cards, rubric))
    for card in cards:
        if card.problem:
            shown.print(f"{card.student} needs attention: {card.problem}", markup=False)
    shown.print(f"\nFeedback, scores and gradebook.csv are in {out}", markup=False)


def _print_json(value: object) -> None:
    sys.stdout.write(to_json(value, indent=2).decode() + "\n")
