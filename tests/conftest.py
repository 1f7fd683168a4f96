"""Fixtures that several test files share; what is expensive runs once a session."""

from __future__ import annotations

import linecache
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

from grader.batch import setup_of
from grader.examiner.client import Nursery
from grader.examiner.messages import Job
from grader.intake.layouts import single_submission
from grader.intake.staging import StagingArea, read_sources
from grader.rubric import Rubric, load_rubric
from tests.corpus_run import RUBRIC, case_names, grade_cases
from tests.support import CorpusRun, Examined, copy_solutions, read_json

# Time says nothing about right or wrong, and the same tests run everywhere.
settings.register_profile("grader", deadline=None, derandomize=True, database=None)
settings.load_profile("grader")
set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "grader-hypothesis")


@pytest.fixture(scope="session")
def rubric() -> Rubric:
    """The assignment's own rubric."""
    return load_rubric(RUBRIC)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> CorpusRun:
    """The whole corpus, graded with the real command."""
    folder = tmp_path_factory.mktemp("corpus")
    return CorpusRun(folder, grade_cases(case_names(), folder))


@pytest.fixture(scope="session")
def solution(tmp_path_factory: pytest.TempPathFactory, rubric: Rubric) -> Examined:
    """The solutions, with a print at the top of one, examined through a nursery."""
    folder = tmp_path_factory.mktemp("solution")
    submission = single_submission(copy_solutions(folder / "solution"), rubric)
    with (submission.files[0].path).open("a", encoding="utf-8") as stream:
        stream.write('\nprint("printed by the solution")\n')
    with StagingArea() as staging, Nursery() as nursery:
        job = Job(
            student=submission.student,
            folder=str(staging.stage(read_sources(submission))),
            candidates=submission.candidates,
            report=str(folder / "report.json"),
            log=str(folder / "log.txt"),
            facts={"files": "3", "digest": "abc"},
        )
        nursery.configure(setup_of(rubric, jobs=1))
        tests = tuple(nursery.wait_until_ready())
        nursery.submit(job)
        assert nursery.next_done() == ("solution", 0)
    return Examined(tests, read_json(folder / "report.json"), (folder / "log.txt").read_text())


@pytest.fixture
def untouched_process() -> Iterator[None]:
    """Put back what loading and running student code changes in this process."""
    modules, finders, path = dict(sys.modules), list(sys.meta_path), list(sys.path)
    lines = dict(linecache.cache)
    random_state, dtype = torch.get_rng_state(), torch.get_default_dtype()
    yield
    for name in sys.modules.keys() - modules.keys():
        del sys.modules[name]
    sys.modules.update(modules)
    sys.meta_path[:], sys.path[:] = finders, path
    linecache.cache.clear()
    linecache.cache.update(lines)
    torch.set_rng_state(random_state)
    torch.set_default_dtype(dtype)
    torch.set_grad_enabled(True)
