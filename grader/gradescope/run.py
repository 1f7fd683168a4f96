"""What runs in Gradescope's container: one submission in, results.json out."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.batch import ClassRun
from grader.errors import (
    AssignmentError,
    ContainmentError,
    DeadlineError,
    ExitStatus,
    GraderError,
    ReportError,
)
from grader.executor import Local
from grader.files import write_atomically
from grader.gradescope.conversion import (
    Circumstances,
    failed_run,
    graded_results,
    refused_results,
)
from grader.gradescope.metadata import read_metadata
from grader.gradescope.results_format import FailedRun, GradescopeResults, results_json
from grader.intake.archives import regular_files, unpacked
from grader.intake.extensions import load_extensions
from grader.intake.layouts import single_submission
from grader.lint import losing
from grader.model import Scorecard, Submission
from grader.results import Results
from grader.rubric import Limits, Rubric, load_rubric
from grader.sandbox.confinement import available_walls
from grader.sandbox.policy import FILE_WALLS
from grader.text import printable

# What the processes of the grader take themselves, measured as PSS with some room, in MB.
OWN_MEMORY_MB = 448
LEAST_MEMORY_MB = 256  # for the student's code
DEFAULT_CONTAINER_MB = 768
# Where a container's limit stands, with control groups of version 2 and 1.
MEMORY_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
# Of the whole run, what is left to start and to write: a quarter, and never more than this.
SPARE_SECONDS = 120
# With less, slow but right work would run out of time.
LEAST_EXAMINATION_SECONDS = 60
MAX_LOG_CHARACTERS = 20_000


@dataclass(frozen=True)
class Layout:
    """Gradescope's folders below one root."""

    root: Path

    @property
    def submission(self) -> Path:
        """What the student handed in."""
        return self.root / "submission"

    @property
    def metadata(self) -> Path:
        """What Gradescope tells about it."""
        return self.root / "submission_metadata.json"

    @property
    def results(self) -> Path:
        """What Gradescope reads in the end."""
        return self.root / "results" / "results.json"

    @property
    def rubric(self) -> Path:
        """The assignment, as the archive has brought it."""
        return self.root / "source" / "assignment" / "rubric.yaml"


def run(layout: Layout, seconds: int) -> int:
    """Grade the submission; whatever happens, results.json is valid and whole at the end.

    Args:
        layout: Gradescope's folders.
        seconds: for the whole run.

    Returns:
        0 if the submission was graded or refused, 1 if our side failed.
    """
    try:
        with deadline(seconds):
            write_results(layout, _results(layout, seconds))
    except GraderError as error:
        return _failed(layout, str(error))
    except Exception:
        return _failed(layout, traceback.format_exc())
    return ExitStatus.DONE


def check(rubric_path: Path) -> str:
    """Grade the solution as a submission is graded; a sentence on what came of it.

    Raises:
        AssignmentError: if it does not earn every point.
    """
    rubric = load_rubric(rubric_path)
    with tempfile.TemporaryDirectory(prefix="grade-check-") as folder:
        copy = Path(folder) / "submission"
        shutil.copytree(rubric.root / rubric.solutions, copy)
        submission = single_submission(copy, rubric)
        card = grade_one(submission, rubric, rubric_path, Path(folder))
        if card.score is not None:
            results_json(graded_results(card, rubric, Circumstances()))
    losses = [card.problem] if card.problem else list(losing(card))
    if losses or card.score is None:
        raise AssignmentError(
            f"{rubric_path}: the solution does not earn every point:\n"
            + "\n".join(f"  {loss}" for loss in losses),
            "Mend what is named; `grade lint` shows more.",
        )
    walls = ", ".join(available_walls())
    return f"The solution earns {card.score:g} of {card.max_score:g} points. Walls: {walls}."


def grade_one(submission: Submission, rubric: Rubric, rubric_path: Path, folder: Path) -> Scorecard:
    """Grade one submission by the pipeline that grades a class.

    Args:
        submission: sorted out.
        rubric: the assignment.
        rubric_path: its file, for messages.
        folder: for everything that is written besides.

    Raises:
        ContainmentError: if nothing keeps files out of reach.
        TableError: if the extensions beside the rubric are wrong.
        GraderError: if the grader cannot work.
    """
    walls = available_walls()
    if not set(FILE_WALLS) & set(walls):
        raise ContainmentError(
            "Nothing here keeps student code from the hidden tests: it does not run as root, and "
            "there is no Landlock.",
            "Run it as Gradescope does: as root in the container.",
        )
    extensions = load_extensions(None, rubric, [submission], whole_class=False)
    results = Results(folder / "results")
    run = ClassRun(rubric, rubric_path, results, walls, extensions=extensions)
    with Local(1, walls) as executor:
        (card,) = run.grade(executor, [submission])
    return card


def _results(layout: Layout, seconds: int) -> GradescopeResults | FailedRun:
    started = time.monotonic()
    rubric = load_rubric(layout.rubric)
    rubric = rubric.model_copy(update={"limits": fitted_limits(rubric.limits, seconds)})
    metadata, oddity = read_metadata(layout.metadata)
    if oddity:
        _tell(oddity)
    files = tuple(handed_in(layout.submission))
    write_results(layout, failed_run(files))  # replaced as soon as more is known
    with tempfile.TemporaryDirectory(prefix="grade-gradescope-") as name:
        (Path(name) / "files").mkdir()
        folder, notes = unpacked(layout.submission, Path(name) / "files")
        submission = single_submission(folder, rubric, known_single=True)
        submission = replace(
            submission,
            notes=(*submission.notes, *notes),
            people=metadata.people,
            timing=metadata.timing,
        )
        if submission.problem:
            return refused_results(" ".join((submission.problem, *notes)), files)
        card = grade_one(submission, rubric, layout.rubric, Path(name))
        results = Results(Path(name) / "results")
        _tell(f"random inputs of this run: --seed {results.load_run().get('seed')}")
        _show_log(results.log(submission.student))
    if card.score is None:
        raise ReportError(card.problem, "Run the autograder again; if it stays, `grade lint`.")
    _tell(f"{card.score:g} of {card.max_score:g} points")
    took = round(time.monotonic() - started, 1)
    return graded_results(card, rubric, Circumstances(metadata, files, took))


def fitted_limits(limits: Limits, seconds: int, container_mb: int | None = None) -> Limits:
    """The rubric's limits, lowered to what the container and the whole run leave.

    Args:
        limits: of the rubric.
        seconds: for the whole run.
        container_mb: what all processes may use; `None` asks the kernel.

    Raises:
        DeadlineError: if the whole run leaves too little time to examine anybody fairly.
    """
    container_mb = container_memory_mb() if container_mb is None else container_mb
    memory = max(LEAST_MEMORY_MB, container_mb - OWN_MEMORY_MB)
    longest = seconds - min(SPARE_SECONDS, seconds // 4)
    if longest < min(LEAST_EXAMINATION_SECONDS, limits.submission_seconds):
        raise DeadlineError(
            f"{seconds} seconds for the whole run leave {longest} for the examination, which is "
            "too little.",
            f"Set SECONDS_AT_MOST in run_autograder to 80 or more; {LEAST_EXAMINATION_SECONDS} "
            "seconds must be left.",
        )
    update = {
        "memory_mb": min(limits.memory_mb, memory),
        "submission_seconds": min(limits.submission_seconds, longest),
    }
    return limits.model_copy(update=update)


def container_memory_mb() -> int:
    """Memory that the container may use, in MB; Gradescope's default where nobody says."""
    for path in MEMORY_LIMITS:
        try:
            return min(int(path.read_text()) >> 20, 1 << 20)
        except (OSError, ValueError):  # `max` is no number: there is no limit
            continue
    return DEFAULT_CONTAINER_MB


def handed_in(folder: Path) -> Iterator[str]:
    """Names of what a student handed in, relative to the folder and fit to be shown."""
    for path in regular_files(folder):
        yield printable(str(path.relative_to(folder)))


def write_results(layout: Layout, results: GradescopeResults | FailedRun) -> None:
    """Write results.json, whole or not at all."""
    write_atomically(layout.results, results_json(results))


@contextmanager
def deadline(seconds: int) -> Iterator[None]:
    """Raise `DeadlineError` in what runs inside once the time is over."""

    def over(number: int, frame: object) -> None:
        raise DeadlineError(
            f"The autograder was not done after {seconds} seconds.",
            "The machine is slow or stuck: run it again, or give it a larger container.",
        )

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _failed(layout: Layout, why: str) -> int:
    """Tell instructors why, and students that it is not their fault."""
    _tell(f"the autograder failed:\n{why}")
    try:
        write_results(layout, failed_run(tuple(handed_in(layout.submission))))
    except Exception as error:  # run_autograder has left one that says the same
        _tell(f"results.json could not be written: {error}")
    return ExitStatus.NEEDS_ATTENTION


def _show_log(path: Path) -> None:
    """Show instructors what the submission printed."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[-MAX_LOG_CHARACTERS:]
    except OSError:
        return
    if text.strip():
        lines = [printable(line) for line in text.split("\n")]
        _tell("\n".join(["what the submission printed:", *lines]))


def _tell(text: str) -> None:
    """Tell instructors something: on standard output, which Gradescope shows to them only."""
    words = f"grade: {text}\n".encode(sys.stdout.encoding, "replace")
    sys.stdout.buffer.write(words)
    sys.stdout.flush()
