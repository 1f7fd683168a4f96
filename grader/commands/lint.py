"""`grade lint`: proving the assignment."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from grader.batch import ClassRun
from grader.commands.options import RubricOption, SeedOption, default_rubric, say
from grader.cpus import available_cpus
from grader.errors import AssignmentError, ExitStatus
from grader.executor import Local
from grader.gradescope.conversion import visibility_warning
from grader.intake.layouts import single_submission
from grader.lint import lint_problems
from grader.proof import SEEDS, Proof, prove
from grader.report.console import ClassProgress, console
from grader.results import Results
from grader.rubric import Rubric, load_rubric
from grader.sandbox.confinement import available_walls
from grader.seeds import new_seed

QuickOption = Annotated[
    bool, Parameter(name=["--quick"], help="Stubs and solutions only, no variants of them.")
]


def lint(
    *, rubric: RubricOption = None, quick: QuickOption = False, seed: SeedOption = None
) -> int:
    """Prove the assignment: stubs earn nothing, solutions all, each mistake is caught and named."""
    rubric_path = rubric or default_rubric()
    first = new_seed() if seed is None else seed
    executor = Local(available_cpus(), available_walls())
    with executor, tempfile.TemporaryDirectory(prefix="grade-lint-") as folder:
        loaded = load_rubric(rubric_path)
        subjects = [
            replace(single_submission(loaded.root / name, loaded), student=name)
            for name in (loaded.stubs, loaded.solutions)
        ]
        run = ClassRun(loaded, rubric_path, Results(Path(folder)), seed=first)
        stubs, solutions = run.grade(executor, subjects)
    problems = lint_problems(stubs, solutions)
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
    if proof is not None and proof.variants:
        out.print(
            f"{proof.variants} variants of the solutions, each with one choice made otherwise, are "
            f"noticed by a test and named ({proof.examined} examinations)."
        )
    return ExitStatus.DONE


def _prove(rubric: Rubric, first: int) -> Proof:
    with ExitStack() as stack:

        def on_start(count: int) -> Callable[[], None]:
            return stack.enter_context(ClassProgress(count)).advance

        return prove(rubric, available_cpus(), range(first, first + SEEDS), on_start)
