"""Questions asked ahead: when they are put, and which answers count."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from grader.errors import WorkerTimeoutError
from grader.examiner.checks import Draw
from grader.examiner.child import DISTURBED, MAX_JOBS, Child
from grader.examiner.exchange import Exchange
from grader.examiner.foresight import Answered, Foresight, Plan, form_of
from grader.examiner.launch import launch_early
from grader.examiner.messages import Job
from grader.examiner.questions import Asked, BuildQuestion, CallQuestion, RunQuestion, plain
from grader.examiner.transport import Rehearsed, Transport
from grader.sandbox.vocabulary import Built, Constant, Fault, Faulted
from tests.support import copy_solutions, grade, read_json, small_assignment

ONES, TWOS = torch.ones(2), torch.full((2,), 2.0)
NORM = CallQuestion("norm")
BUILD = BuildQuestion("FFN", (("d", 4),))
RUN = RunQuestion(BUILD)


def built(name: str = "w", requires_grad: bool = True) -> Answered:
    """The answer to `BUILD`: a module with one parameter of shape (2,)."""
    claim = {"name": name, "key": "t0", "requires_grad": requires_grad}
    reply = Built.model_validate(
        {"reply": "built", "handle": 0, "parameters": [claim], "buffers": [], "children": []}
    )
    return reply, {"t0": ONES}


def answer(value: int) -> Answered:
    """An answer that can be told from others."""
    return Constant(reply="constant", value=value), {}


def raised() -> Answered:
    """The answer of a module that raised."""
    return Faulted(reply="faulted", fault=Fault(kind="ValueError", message="")), {}


def planned(*asked: Asked) -> Foresight:
    """Foresight of a solution that is a module of the form of `built()`."""
    form = form_of(*built())  # type: ignore[arg-type]
    assert form is not None
    return Foresight(Plan(asked, {BUILD: form}))


def test_all_of_a_stage_is_due_once_and_only_for_a_planned_question() -> None:
    """A question that the solutions were not asked brings nothing ahead."""
    first, second = Asked(NORM, ONES), Asked(NORM, TWOS)
    foresight = planned(first, second)
    assert foresight.due(Asked(NORM, torch.zeros(2))) == []
    assert foresight.due(second) == [first, second]
    assert foresight.due(first) == []


def test_an_answer_is_given_once_and_only_for_equal_tensors() -> None:
    """A test that asks twice must get two answers."""
    foresight = planned()
    asked = Asked(NORM, ONES)
    foresight.keep([asked, asked], [answer(1), answer(2)])
    assert foresight.take(Asked(NORM, ONES.double())) is None
    assert foresight.take(Asked(NORM, ONES, upstream=ONES)) is None
    assert foresight.take(Asked(CallQuestion("other"), ONES)) is None
    found = [foresight.take(Asked(NORM, ONES.clone())) for _ in range(3)]
    assert found == [answer(1), answer(2), None]


def test_weights_belong_to_a_question() -> None:
    """The same input with other weights is another question."""
    foresight = planned()
    foresight.keep([Asked(RUN, ONES, state={"w": ONES})], [answer(1)])
    assert foresight.take(Asked(RUN, ONES, state={"w": TWOS})) is None
    assert foresight.take(Asked(RUN, ONES)) is None
    assert foresight.take(Asked(RUN, ONES, state={"w": ONES.clone()})) == answer(1)


@pytest.mark.parametrize(("module", "alike"), [(built(), True), (built("v"), False),
                                               (built("w", False), False)])  # fmt: skip
def test_a_module_is_run_ahead_only_if_it_is_like_the_solution_s(
    module: Answered, alike: bool
) -> None:
    """Weights are sent by name, so the names must be known."""
    build, run = Asked(BUILD), Asked(RUN, ONES, state={"w": ONES})
    foresight = planned(build, run)
    assert foresight.due(run) == []  # the module is not known yet
    foresight.keep([build], [module])
    assert foresight.due(run) == ([run] if alike else [])


def test_answers_after_one_that_raised_do_not_count() -> None:
    """Nobody knows which weights the module holds then."""
    foresight = planned()
    runs = [Asked(RUN, x, state={"w": ONES}) for x in (ONES, TWOS, torch.zeros(2))]
    foresight.keep(runs, [answer(1), raised(), answer(3)])
    assert [foresight.take(run) for run in runs] == [answer(1), raised(), None]


def job(student: str, trusted: bool = False) -> Job:
    """A job for a child that looks at its name only."""
    empty: dict[str, str] = {}
    return Job(student=student, folder="", candidates={}, report="", log="", facts=empty,
               trusted=trusted)  # fmt: skip


def obey(given: Job, last_try: bool) -> int:
    """What the children of these tests do."""
    if given.student == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if given.student == "raise":
        raise ValueError("on purpose")
    return 0 if last_try else DISTURBED


@pytest.fixture
def child() -> Child:
    """A child."""
    return Child(obey, lambda: None)


def test_a_child_does_one_job_after_the_other(child: Child) -> None:
    """It tells how each ended, and ends when nobody needs it."""
    statuses = []
    for last_try in (True, False):
        child.give(job("anna"), last_try, 10)
        statuses.append(child.done())
    assert statuses == [(job("anna"), 0), (job("anna"), DISTURBED)]
    assert not child.spent
    assert child.bury() == 0


@pytest.mark.parametrize(("deed", "status"), [("die", -signal.SIGKILL), ("raise", 71)])
def test_a_child_that_ends_leaves_its_job(child: Child, deed: str, status: int) -> None:
    """The job can be given to another one."""
    child.give(job(deed), True, 10)
    assert child.done() == (job(deed), None)
    assert child.bury() == status


def test_a_child_is_spent_after_many_jobs_or_one_of_trusted_code(child: Child) -> None:
    """Trusted code runs in the child itself."""
    for _ in range(MAX_JOBS):
        assert not child.spent
        child.give(job("anna"), True, 10)
        child.done()
    assert child.spent
    child.bury()
    other = Child(obey, lambda: None)
    other.give(job("solution", trusted=True), True, 10)
    other.done()
    assert other.spent
    other.bury()


@pytest.mark.parametrize("words", [[], ["--help"], ["check", "-h"], ["score", "results"]])
def test_nothing_is_started_early_that_is_not_needed(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Help and commands that examine nothing answer at once."""
    started: list[Callable[[], None]] = []
    monkeypatch.setattr("grader.examiner.launch._launch", lambda: started.append(print))
    launch_early(words)
    assert not started


def test_results_do_not_depend_on_who_was_examined_before(tmp_path: Path) -> None:
    """Submissions of a class share a child of the examiner; alone they get the same bytes."""
    crowd = tmp_path / "class"
    for student in ("a-first", "b-broken", "c-last"):
        copy_solutions(crowd / student)
    (crowd / "b-broken" / "milestone2_ffn.py").write_text(
        "import torch\ntorch.set_default_dtype(torch.float64)\nPREDICTED_PARAMETERS = 148\n"
        "class FFN(torch.nn.Module):\n    def __init__(self, d_model, d_ff):\n"
        "        super().__init__()\n        self.w1 = torch.nn.Linear(d_model, d_ff)\n"
        "    def forward(self, x):\n        raise ValueError(str(x.shape))\n"
    )
    assert grade(crowd, "--out", tmp_path / "together", "--jobs", "1").returncode == 0
    for student in ("b-broken", "c-last"):
        alone = tmp_path / f"{student}-class"
        alone.mkdir()
        (crowd / student).rename(alone / student)
        grade(alone, "--out", tmp_path / student)
        score = Path("students") / student / "score.json"
        assert (tmp_path / student / score).read_bytes() == (
            tmp_path / "together" / score
        ).read_bytes()
    report = read_json(tmp_path / "together" / "students" / "c-last" / "report.json")
    assert len(report["tests"]) == len(report["examination"]["expected"])


def test_a_tensor_of_a_payload_that_is_missing_gives_no_form() -> None:
    """What a worker claims is not believed."""
    reply, _ = built()
    empty: dict[str, Tensor] = {}
    assert isinstance(reply, Built)
    assert form_of(reply, empty) is None


FIXTURES = """
import pytest

from grader.examiner.student import Student

LOOKED_FOR = ("answer",)


@pytest.fixture(scope="module")
def seen() -> list[str]:
    return []


def test_first(student: Student, seen: list[str]) -> None:
    seen.append("x")
    assert seen == ["x"]


def test_second(student: Student) -> None:
    assert student.constant("ANSWER") == 1
"""


def test_what_a_suite_sets_up_is_torn_down_between_submissions(tmp_path: Path) -> None:
    """Nothing of one submission is there in the next, though both are examined by one child."""
    rubric = small_assignment(tmp_path / "small", FIXTURES)
    for student in ("anna", "bert", "cleo"):
        (tmp_path / "class" / student).mkdir(parents=True)
        text = "ANSWER = 1\n\ndef answer(x):\n    return x\n"
        (tmp_path / "class" / student / "answer.py").write_text(text)
    options = ("--rubric", rubric, "--out", tmp_path / "results", "--jobs", "1", "--json")
    done = grade(tmp_path / "class", *options)
    assert [card["score"] for card in json.loads(done.stdout)["students"]] == [10.0] * 3


def test_large_draws_are_not_kept() -> None:
    """A student chooses how many parameters a module has."""
    kept = Draw("size").weights({"w": (10, 10)})["w"]
    assert Draw("size").weights({"w": (10, 10)})["w"] is kept
    large = Draw("size").weights({"w": (1000, 1000)})["w"]
    again = Draw("size").weights({"w": (1000, 1000)})["w"]
    assert again is not large
    assert torch.equal(again, large)


class Recorded:
    """A transport that answers builds, and keeps what runs are sent."""

    counted_seconds = 0.0
    generation = 0
    fresh = True

    def __init__(self) -> None:
        self.sent: list[dict[str, Tensor]] = []

    def ask(self, question: dict[str, Any], tensors: dict[str, Tensor]) -> Answered:
        """Answer as a worker would."""
        if question["question"] == "build":
            return built()
        keys = question.get("parameters", {})
        self.sent.append({name: tensors[key] for name, key in keys.items()})
        return answer(0)

    def restart(self) -> None:
        """Nothing runs."""

    def end(self) -> None:
        """Nothing runs."""


def test_a_question_gets_the_weights_that_it_knows_of() -> None:
    """What was asked ahead has set others; they are put back to what the module was built with."""
    transport = Recorded()
    exchange = Exchange(cast(Transport, transport), "answer.py")
    for state in ({}, {"w": TWOS}, {"w": TWOS}, {}):
        exchange.ask([Asked(RUN, ONES, state=state)])
    sent = [[(name, value.tolist()) for name, value in one.items()] for one in transport.sent]
    assert sent == [[], [("w", [2.0, 2.0])], [], [("w", [1.0, 1.0])]]


def test_a_solution_that_never_ends_does_not_keep_the_class_waiting(tmp_path: Path) -> None:
    """It is rehearsed in the nursery itself, which nobody would kill for it."""
    (tmp_path / "answer.py").write_text("def answer(x):\n    while True:\n        pass\n")
    transport = Rehearsed(tmp_path, 2.0)
    load = {"question": "load", "file": "answer.py", "definitions_only": False}
    transport.ask(load, {})
    words, tensors = plain(Asked(CallQuestion("answer"), ONES), "0.", None, {})
    with pytest.raises(WorkerTimeoutError):
        transport.ask({**words, "file": "answer.py"}, tensors)
    transport.end()
