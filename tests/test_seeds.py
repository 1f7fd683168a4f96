"""Inputs and weights are each run's own secret, and no score hangs on which they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
import torch

from grader.batch import setup_of
from grader.examiner.checks import Draw
from grader.examiner.client import Nursery
from grader.examiner.messages import Job
from grader.intake.layouts import single_submission
from grader.intake.staging import StagingArea, read_sources
from grader.report.feedback import feedback_markdown
from grader.results import Results
from grader.rubric import Rubric
from grader.sandbox.policy import WorkerPolicy
from grader.seeds import SEED_BITS, new_seed
from tests.corpus_run import RUBRIC, case_names, grade_class
from tests.oracle import KNOWN_NUMBER, LARGE, MARK, RECORDER, ZEROS, table_source
from tests.seeds_run import changed_lines, differing, scorecards
from tests.support import copy_solutions, read_json

# Mistakes near a tolerance, with and without a name, alone and in pairs, and right code of both.
SUBSET = (
    "bad-block-attention-only", "bad-block-dropout-always-on", "bad-block-ffn-no-biases",
    "bad-block-keys-values-swapped", "bad-block-post-norm-relu", "bad-block-residual-halved",
    "bad-block-same-norm-two-names", "bad-block-torch-attention-tuple", "bad-ffn-gated",
    "bad-ffn-relu", "bad-ffn-sigmoid-gelu", "bad-ffn-tanh-gelu", "bad-ffn-transposed",
    "bad-layernorm-all-dimensions", "bad-layernorm-always-float32", "bad-layernorm-eps-clamped",
    "bad-layernorm-eps-hard-coded", "bad-layernorm-eps-left-out", "bad-layernorm-four-features",
    "bad-layernorm-naive-variance", "bad-layernorm-remembers-mean", "bad-layernorm-rounded",
    "bad-layernorm-unbiased-eps-outside", "ok-block-einsum-attention", "ok-whole-encoder-py",
)  # fmt: skip
SEEDS = (1, 2, new_seed())
MANY_SEEDS = range(20)


@pytest.fixture
def seed() -> Iterator[Callable[[int], None]]:
    """Sets the run's seed for draws of this process, until the test ends."""
    before = Draw.seed

    def set_to(number: int) -> None:
        Draw.seed = number

    yield set_to
    Draw.seed = before


def expect_same_scores(names: tuple[str, ...], seeds: tuple[int, ...], folder: Path) -> None:
    runs = dict(scorecards(names, seeds, folder))
    first = runs.pop(seeds[0])
    assert [(n, name) for n, cards in runs.items() for name in differing(first, cards)] == []


def test_no_score_hangs_on_the_seed(tmp_path: Path) -> None:
    """Varied cases have the same score.json, byte for byte, whatever the inputs and weights."""
    expect_same_scores(SUBSET, SEEDS, tmp_path)


@pytest.mark.slow
def test_no_score_of_the_whole_corpus_hangs_on_the_seed(tmp_path: Path) -> None:
    """The same for every case and many seeds."""
    expect_same_scores(tuple(case_names()), tuple(MANY_SEEDS), tmp_path)


def test_a_difference_between_seeds_would_be_seen() -> None:
    """The lines that are not the same are told, for each case."""
    first, other = {"a": "1\n2\n", "b": "3\n"}, {"a": "1\n4\n", "b": "3\n"}
    assert differing(first, other) == {"a": ["-2", "+4"]}
    assert changed_lines("x\n", "x\n") == []


def test_a_new_seed_cannot_be_guessed() -> None:
    """Seeds are long, and no two are equal."""
    seeds = {new_seed() for _ in range(100)}
    assert len(seeds) == 100
    assert SEED_BITS >= 64
    assert max(seeds).bit_length() > SEED_BITS - 16


def test_a_draw_follows_from_seed_test_and_place(seed: Callable[[int], None]) -> None:
    """Equal ones give equal values; another seed, test or place gives others."""

    def drawn(number: int, test: str = "a") -> list[float]:
        seed(number)
        draw = Draw(test)
        return torch.cat([draw.normal(3), draw.normal(3), draw.tokens(3)]).tolist()

    assert drawn(1) == drawn(1)
    assert not {*drawn(1)} & {*drawn(2)}
    assert not {*drawn(1)} & {*drawn(1, "b")}
    assert len({*drawn(1)}) == 9


def test_fixed_draws_know_no_seed(seed: Callable[[int], None]) -> None:
    """They are equal in every run, and unlike those of any run."""
    seed(1)
    fixed, own = Draw("a", fixed=True).normal(3), Draw("a").normal(3)
    seed(2)
    assert torch.equal(fixed, Draw("a", fixed=True).normal(3))
    assert not torch.equal(fixed, own)


@pytest.mark.parametrize("number", range(20))
def test_no_token_is_nearly_constant(seed: Callable[[int], None], number: int) -> None:
    """Means and deviations are near those asked for, and not all the same."""
    seed(number)
    x = Draw("tokens").tokens(50, 4, mean=2.0, std=3.0)
    deviations, means = x.std(-1, correction=0) / 3, (x.mean(-1) - 2) / 3
    assert bool(((deviations > 0.89) & (deviations < 1.11)).all())
    assert bool((means.abs() <= 0.51).all())
    assert deviations.std() > 0.02
    assert means.std() > 0.1


@dataclass(frozen=True)
class Runs:
    """What came of a recorder, then of a table of all that it was asked, in the next run.

    Attributes:
        folder: holds `first` and `second`, each with a class and results.
        seeds: of both.
        points: of milestone 1, by student.
    """

    folder: Path
    seeds: tuple[str, str]
    points: dict[str, float]

    def results(self, run: str) -> Results:
        """Of one run."""
        return Results(self.folder / run / "results")


def graded(folder: Path, sources: dict[str, str], *options: str) -> dict[str, float]:
    """Points of milestone 1 for some submissions of one class."""
    for student, source in sources.items():
        path = folder / "class" / student / "milestone1_layernorm.py"
        path.parent.mkdir(parents=True)
        path.write_text(source, encoding="utf-8")
    given = ("--rubric", str(RUBRIC), "--jobs", "1", *options)
    summary = grade_class(folder / "class", folder / "results", *given)
    return {card["student"]: card["milestones"][0]["score"] for card in summary["students"]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Two runs with seeds of their own."""
    folder = tmp_path_factory.mktemp("oracle")
    points = graded(folder / "first", {"recorder": RECORDER})
    log = Results(folder / "first" / "results").log("recorder")
    table = table_source(log)
    points |= graded(folder / "second", {"table": table, "zeros": ZEROS})
    first, second = (Results(folder / run / "results").load_run() for run in ("first", "second"))
    return Runs(folder, (first["seed"], second["seed"]), points)


def test_all_that_one_run_tells_earns_nothing_in_the_next(runs: Runs) -> None:
    """A table of every input with its right answer earns what zeros do."""
    assert runs.points["recorder"] == 30
    assert runs.points["table"] == runs.points["zeros"]


def test_the_table_would_earn_everything_with_the_same_seed(runs: Runs, tmp_path: Path) -> None:
    """So the recorder has missed nothing, and `--seed` repeats a run with all its inputs."""
    table = table_source(runs.results("first").log("recorder"))
    points = graded(tmp_path, {"table": table}, "--seed", runs.seeds[0])
    assert points == {"table": 30}


def test_a_run_keeps_its_seed_where_the_instructor_finds_it(runs: Runs) -> None:
    """In run.json and in each report; two runs have two seeds."""
    assert runs.seeds[0] != runs.seeds[1]
    report = runs.results("second").load_report("table")
    assert report["examination"]["seed"] == runs.seeds[1]


def test_no_student_sees_the_seed(runs: Runs, rubric: Rubric) -> None:
    """Neither in what students are given nor in what was printed."""
    results = runs.results("first")
    own = results.student("recorder")
    names = ("feedback.md", "score.json", "log.txt", "submission.json")
    said = [(own / name).read_text() for name in names]
    card = results.read_scorecard("recorder")
    said += [feedback_markdown(card, rubric), card.model_dump_json()]
    assert not any(runs.seeds[0] in text or '"seed"' in text for text in said)
    assert MARK in said[2]


def test_a_worker_does_not_hold_the_seed(runs: Runs) -> None:
    """No policy tells it, and none of the large numbers in its memory is it."""
    assert "seed" not in {field.name for field in fields(WorkerPolicy)}
    told = runs.results("first").log("recorder").read_text().split(LARGE)[1].splitlines()[0]
    assert KNOWN_NUMBER in told
    assert runs.seeds[0] not in told


def test_what_is_up_to_date_is_not_examined_with_another_seed(runs: Runs) -> None:
    """The seed is no part of what a result depends on; run.json keeps that of the results."""
    folder = runs.folder / "second"
    before = runs.results("second").report("table").read_bytes()
    given = ("--rubric", str(RUBRIC), "--jobs", "1", "--seed", "7")
    summary = grade_class(folder / "class", folder / "results", *given)
    assert summary["up_to_date"] == 2
    assert runs.results("second").report("table").read_bytes() == before
    assert runs.results("second").load_run()["seed"] == runs.seeds[1]


def variants_run(seeds: int) -> str:
    """What `tests.variants_run` says at the end, where nothing hangs on the seed."""
    command = [sys.executable, "-m", "tests.variants_run", "--seeds", str(seeds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize("seeds", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_no_verdict_on_a_known_mistake_hangs_on_the_seed(seeds: int) -> None:
    """Each test of each variant of the solutions, and each diagnosis, is the same."""
    assert variants_run(seeds).endswith(f"{seeds} seeds, 0 differences")


def test_a_nursery_that_is_kept_serves_runs_with_different_seeds(
    tmp_path: Path, rubric: Rubric
) -> None:
    """Each job is examined with its own seed, whatever was rehearsed before."""
    submission = single_submission(copy_solutions(tmp_path / "solution"), rubric)
    passed = {}
    with StagingArea() as staging, Nursery() as nursery:
        nursery.configure(setup_of(rubric, seed=3))
        nursery.wait_until_ready()
        for own in (None, 5, 3):
            report = tmp_path / "report.json"
            nursery.submit(
                Job(
                    student="s",
                    folder=str(staging.stage(read_sources(submission))),
                    candidates=submission.candidates,
                    report=str(report),
                    log=str(tmp_path / "log.txt"),
                    facts={},
                    seed=own,
                )
            )
            assert nursery.next_done() == ("s", 0)
            told = read_json(report)
            assert told["examination"]["seed"] == str(own or 3)
            passed[own] = told["summary"]["passed"]
    assert len(set(passed.values())) == 1
