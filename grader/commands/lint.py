"""`grade lint`: proving the assignment."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from grader.batch import ClassRun
from grader.commands.options import RubricOption, SeedOption, default_rubric, say
from grader.cpus import available_cpus
from grader.errors import AssignmentError, ExitStatus
from grader.executor import Local
from grader.gradescope.conversion import visibility_warning
from grader.hollow import Hollow, earned, earned_for_nothing, hollow_answers
from grader.intake.layouts import single_submission
from grader.lint import lint_problems
from grader.model import Scorecard, Submission
from grader.proof import SEEDS, Proof, prove
from grader.report.console import ClassProgress, console
from grader.report.feedback import points
from grader.results import Results
from grader.rubric import Rubric, load_rubric
from grader.sandbox.confinement import available_walls
from grader.seeds import new_seed

QuickOption = Annotated[
    bool,
    Parameter(name=["--quick"], help="Stubs and solutions only, no variants or hollow answers."),
]


def lint(
    *, rubric: RubricOption = None, quick: QuickOption = False, seed: SeedOption = None
) -> int:
    """Prove the assignment: stubs and hollow answers earn nothing, each mistake is named."""
    rubric_path = rubric or default_rubric()
    first = new_seed() if seed is None else seed
    executor = Local(available_cpus(), available_walls())
    with executor, tempfile.TemporaryDirectory(prefix="grade-lint-") as folder:
        loaded = load_rubric(rubric_path)
        hollow = [] if quick else list(hollow_answers(loaded))
        subjects = [
            replace(single_submission(loaded.root / name, loaded), student=name)
            for name in (loaded.stubs, loaded.solutions)
        ]
        subjects += _put(hollow, loaded, Path(folder) / "hollow")
        run = ClassRun(loaded, rubric_path, Results(Path(folder) / "results"), seed=first)
        stubs, solutions, *empty = run.grade(executor, subjects)
    told = {answer.title: card for answer, card in zip(hollow, empty, strict=True)}
    problems = lint_problems(stubs, solutions, told)
    proof = None if quick or problems else _prove(loaded, first)
    if proof is not None:
        problems += proof.problems
    if problems:
        raise AssignmentError(
            f"{rubric_path}: the assignment does not prove itself:\n"
            + "\n".join(f"  {problem}" for problem in problems),
            "Mend the stub, the solution or the hidden test that is named.",
        )
    warning = visibility_warning(loaded)
    if warning:
        say(warning)
    out = console(sys.stdout)
    out.print(f"Stubs earn 0 of {stubs.max_score:g} points, solutions {solutions.score:g}.")
    out.print("Every hidden test is counted by one criterion.")
    if told:
        _say_hollow(out, told)
    if proof is not None and proof.variants:
        out.print(
            f"{proof.variants} variants of the solutions, each with one choice made otherwise, are "
            f"noticed by a test and named ({proof.examined} examinations)."
        )
    return ExitStatus.DONE


def _put(answers: list[Hollow], rubric: Rubric, folder: Path) -> Iterator[Submission]:
    """Hollow answers as submissions."""
    for number, answer in enumerate(answers):
        place = folder / f"hollow-{number}"
        place.mkdir(parents=True)
        for name, source in answer.sources.items():
            (place / name).write_text(source, encoding="utf-8")
        yield single_submission(place, rubric)


def _say_hollow(out: Console, cards: Mapping[str, Scorecard]) -> None:
    most = max(map(earned, cards.values()))
    total = next(iter(cards.values())).max_score
    out.print(
        f"{len(cards)} hollow answers, which return their input, zeros, ones, random numbers or "
        f"twice the input, earn at most {points(most)} of {points(total)} points."
    )
    for title, card in cards.items():
        line = earned_for_nothing(title, card)
        if line:
            out.print(f"  {line}", markup=False)


def _prove(rubric: Rubric, first: int) -> Proof:
    with ExitStack() as stack:

        def on_start(count: int) -> Callable[[], None]:
            return stack.enter_context(ClassProgress(count)).advance

        return prove(rubric, available_cpus(), range(first, first + SEEDS), on_start)
