"""Proving the suites: every variant of a solution with one changed choice is noticed and named."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.batch import setup_of
from grader.examiner.client import Nursery
from grader.examiner.messages import Job, SuiteVariant
from grader.model import Verdict
from grader.results import Results
from grader.rubric import Milestone, Rubric
from grader.scoring import test_results

# How many seeds of the random numbers each variant is examined with.
SEEDS = 3


@dataclass(frozen=True)
class Proof:
    """What came of the variants.

    Attributes:
        variants: how many there were.
        examined: examinations, one for each variant and seed.
        problems: variants that no test noticed, or that were named wrongly or not at all.
    """

    variants: int
    examined: int
    problems: tuple[str, ...]


def prove(
    rubric: Rubric, jobs: int, seeds: Sequence[int], on_start: Callable[[int], Callable[[], None]]
) -> Proof:
    """Examine every variant of every suite, each with several seeds of the random numbers.

    Args:
        rubric: the assignment.
        jobs: variants examined at the same time.
        seeds: of the tests' random numbers.
        on_start: told how many examinations there will be; what it returns is called after each.
    """
    with Nursery() as nursery, tempfile.TemporaryDirectory(prefix="grade-prove-") as name:
        nursery.configure(setup_of(rubric, jobs).model_copy(update={"variants": True}))
        nursery.wait_until_ready()
        runs = [(variant, seed) for variant in nursery.variants for seed in seeds]
        advance = on_start(len(runs))
        results = Results(Path(name))
        for number, (variant, seed) in enumerate(runs):
            nursery.submit(_job(rubric, variant, seed, str(number), Path(name)))
        problems: dict[str, None] = {}
        for _ in runs:
            student, status = nursery.next_done()
            variant, seed = runs[int(student)]
            if status == 0:
                report = results.load_report(student)
                problems |= dict.fromkeys(_wrong_with(rubric, variant, seed, report))
            else:
                problems[f"{_title(rubric, variant)}: not examined (status {status})"] = None
            advance()
    return Proof(len(runs) // len(seeds), len(runs), tuple(problems))


def _job(rubric: Rubric, variant: SuiteVariant, seed: int, number: str, folder: Path) -> Job:
    milestone = _milestone(rubric, variant)
    source = folder / "sources" / number / milestone.file
    source.parent.mkdir(parents=True)
    source.write_text(variant.source, encoding="utf-8")
    results = Results(folder)
    return Job(
        student=number,
        folder=str(source.parent),
        candidates={milestone.id: (milestone.file,)},
        report=str(results.report(number)),
        log=str(results.log(number)),
        facts={},
        trusted=True,
        seed=seed,
    )


def _wrong_with(
    rubric: Rubric, variant: SuiteVariant, seed: int, report: dict[str, Any]
) -> Iterator[str]:
    """What is not as it must be with one variant."""
    milestone = _milestone(rubric, variant)
    title = f"{_title(rubric, variant)}, seed {seed}"
    own = [
        result
        for test, result in test_results(report).items()
        if test.startswith(f"{variant.suite}::")
    ]
    lost = [result.test for result in own if result.verdict is not Verdict.PASSED]
    if bool(lost) != bool(variant.names):
        yield f"{title}: " + (f"fails {lost[0]}" if lost else "no hidden test notices it")
    finding = report["examination"]["findings"].get(milestone.id, {})
    if "fault" in finding:
        yield f"{title}: the diagnosis failed: {finding['fault'].strip().splitlines()[-1]}"
    named = tuple(sorted(finding.get("names", ())))
    if named != variant.names:
        yield f"{title}: named {', '.join(named) or 'nothing'}"


def _title(rubric: Rubric, variant: SuiteVariant) -> str:
    what = " and ".join(variant.names) or "the lesson's own choices"
    return f"{_milestone(rubric, variant).id}: {what}"


def _milestone(rubric: Rubric, variant: SuiteVariant) -> Milestone:
    return next(m for m in rubric.milestones if m.suite == variant.suite)
