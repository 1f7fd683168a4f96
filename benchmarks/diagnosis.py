"""What naming a mistake costs: faulty submissions of the corpus against correct ones."""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path

from benchmarks.measuring import process_tree
from grader.batch import setup_of
from grader.commands.options import default_rubric
from grader.examiner.client import Nursery
from grader.examiner.messages import Job
from grader.intake.layouts import single_submission
from grader.intake.staging import StagingArea, read_sources
from grader.rubric import load_rubric

REPEATS = 2


def diagnosis_cost(corpus: Path) -> dict[str, float]:
    """Processor time of one submission, correct and faulty, in one nursery, in turn.

    Args:
        corpus: folder of submissions; those whose names begin with `bad-` are faulty.
    """
    faulty = sorted(path for path in corpus.iterdir() if path.name.startswith("bad-"))
    rubric = load_rubric(default_rubric())
    correct = rubric.root / rubric.solutions
    more = []
    with Nursery() as nursery, tempfile.TemporaryDirectory() as name, StagingArea() as staging:
        nursery.configure(setup_of(rubric, 1))
        nursery.wait_until_ready()
        for path in faulty:
            milestone = next(f for f in path.iterdir() if f.suffix == ".py")
            folder = Path(name) / path.name
            folder.mkdir()
            for file in correct.glob("milestone*.py"):
                source = milestone if file.name == milestone.name else file
                (folder / file.name).write_bytes(source.read_bytes())
            more.append(_cpu(nursery, staging, folder) - _cpu(nursery, staging, correct))
    ordered = sorted(more)
    return {
        "faulty submissions": len(more),
        "more CPU than a correct one, median s": round(statistics.median(more), 3),
        "the same, 95 of 100 below, s": round(ordered[int(0.95 * len(ordered))], 3),
    }


def _cpu(nursery: Nursery, staging: StagingArea, folder: Path) -> float:
    """Processor seconds of one examination, of the nursery and all below it."""
    submission = single_submission(folder, load_rubric(default_rubric()))
    with tempfile.TemporaryDirectory() as name:
        job = Job(
            student="measured",
            folder=str(staging.stage(read_sources(submission))),
            candidates=submission.candidates,
            report=f"{name}/report.json",
            log=f"{name}/log.txt",
            facts={},
        )
        before = _tree_seconds()
        for _ in range(REPEATS):
            nursery.submit(job)
            nursery.next_done()
        return (_tree_seconds() - before) / REPEATS


def _tree_seconds() -> float:
    """Processor seconds of all processes below this one, and of those that they waited for."""
    ticks = 0
    for pid in process_tree(os.getpid()):
        if pid != os.getpid():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")
