"""Naming misconceptions: the texts that students read, and what a diagnosis may conclude."""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from grader.errors import RubricError, StudentFaultError
from grader.examiner.diagnosis import signs
from grader.examiner.diagnosis.finding import (
    Budget,
    EndedError,
    Finding,
    asked,
    conclude,
    fingerprint,
    repeated,
    same,
)
from grader.lesson.choices import MISCONCEPTIONS, Change
from grader.lesson.search import Explanation
from grader.misconceptions import OWN_FILE, known_texts, own_texts
from grader.model import Verdict

DIAGNOSIS = Path(signs.__file__).parent
# What stands in the solutions and would be copied from a message.
SOLUTION = ("unbiased=False", "keepdim", "self.attn(", "x + self.")


def chosen_ids() -> set[str]:
    """Ids of changed choices in the lesson's mathematics."""
    choices = [options for kind in MISCONCEPTIONS.values() for options in kind.values()]
    return {name for options in choices for name in options.values()}


def noted_ids() -> set[str]:
    """Ids that a diagnosis writes itself where it calls `note`."""
    calls = [
        node
        for path in DIAGNOSIS.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("note")
    ]
    return {name for call in calls for argument in call.args for name in words(argument) if name}


def words(value: ast.expr) -> Iterator[str]:
    """The literals that an expression may come to, those of calls inside it left out."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    choices = [value.body, value.orelse] if isinstance(value, ast.IfExp) else []
    for choice in [*choices, *(value.values if isinstance(value, ast.BoolOp) else [])]:
        yield from words(choice)


def sign_ids() -> set[str]:
    """Ids in the tables of `signs`, and literals in its functions that have an id's form."""
    tables = {name for _, name in signs.BY_TEXT} | {*signs.BY_KIND.values()}
    tables |= {*signs.BY_LINE.values()} | {*signs.CUTS}
    tree = ast.parse((DIAGNOSIS / "signs.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    inside = [node for function in functions for node in ast.walk(function)]
    literals = [n.value for n in inside if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return tables | {text for text in literals if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", text)}


def test_ids_are_found_in_the_source() -> None:
    """What the next test relies on: each of the three places gives ids known to be in it."""
    assert {"unbiased-variance", "post-norm"} <= chosen_ids()
    assert {"several-returned", "biases-missing", "state-between-calls"} <= noted_ids()
    assert {"moved-to-cuda", "no-grad", "printed-not-returned", "layers-in-list"} <= sign_ids()


def test_each_misconception_has_a_text_and_each_text_a_misconception() -> None:
    """A new choice or sign without a text fails here, and so does a text that nothing names."""
    assert set(known_texts()) == chosen_ids() | noted_ids() | sign_ids()


def test_no_text_stands_twice() -> None:
    """YAML would keep the last one and say nothing."""
    lines = OWN_FILE.read_text(encoding="utf-8").splitlines()
    counted = Counter(line for line in lines if re.fullmatch(r"[^\s#].*:", line))
    assert [line for line, count in counted.items() if count > 1] == []
    assert len(counted) == len(known_texts())


def test_texts_have_the_length_that_a_student_reads() -> None:
    """A message is a few sentences, a title fits a line of a list."""
    texts = known_texts().items()
    assert {name: len(t.message) for name, t in texts if not 80 <= len(t.message) <= 500} == {}
    assert {name: len(t.title) for name, t in texts if len(t.title) > 60} == {}


@pytest.mark.parametrize("piece", SOLUTION)
def test_no_text_holds_a_line_of_the_solution(piece: str) -> None:
    """A message says what is wrong and where to read; the line is the student's to write."""
    assert [n for n, t in known_texts().items() if piece in f"{t.title} {t.message}"] == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("eps-mising: {title: T, message: M}", "no such misconception: eps-mising"),
        ("eps-missing: {title: T, message: M, more: 1}", "eps-missing.more: "),
        ("eps-missing: {title: T}", "eps-missing.message: "),
        ("eps-missing: {title: 5, message: M}", "eps-missing.title: "),
        ("eps-missing: {title: '', message: M}", "eps-missing.title: "),
        ("eps-missing: only words", "eps-missing: "),
        ("- eps-missing", "valid dictionary"),
        ("", "valid dictionary"),
        ("eps-missing: [", "is not valid YAML: "),
        ("eps-missing: !!python/name:os.system ''", "is not valid YAML: "),
        (None, "cannot be read: "),
    ],
    ids=["unknown-id", "more-keys", "no-message", "number", "empty-title", "words", "list", "empty",
         "syntax", "python-object", "absent"],
)  # fmt: skip
def test_a_fault_in_an_instructor_s_texts_is_told(
    tmp_path: Path, content: str | None, problem: str
) -> None:
    """One problem, with the file that it is in."""
    path = tmp_path / "de.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(RubricError) as caught:
        own_texts(path)
    (found,) = caught.value.problems
    assert problem in found
    assert str(path) in str(caught.value)


WRONG = torch.tensor([[0.123, -4.567, 8.9]])


def explained(*names: str, reading: int = 0) -> Explanation:
    """An explanation with one change for each name."""
    return Explanation(tuple(Change("", name, "other", name) for name in names), reading)


def test_one_explanation_is_certain() -> None:
    """Its names are said, sorted, and nothing else."""
    found = conclude([explained("root-missing", "eps-missing")], [], lambda: [WRONG], wrong=True)
    assert found == Finding(names=("eps-missing", "root-missing"))


def test_readings_of_one_explanation_are_one() -> None:
    """Two readings of the parameters with the same names leave no doubt about the names."""
    left = [explained("eps-missing", reading=n) for n in range(2)]
    assert conclude(left, [], lambda: [WRONG], wrong=True) == Finding(names=("eps-missing",))


def test_signs_come_after_the_names_of_an_explanation() -> None:
    """What source and behaviour show is said besides; nothing is said twice."""
    found = conclude(
        [explained("eps-missing")], ["no-grad", "eps-missing"], lambda: [WRONG], wrong=True
    )
    assert found == Finding(names=("eps-missing", "no-grad"))


def test_a_sign_in_code_that_computes_what_the_lesson_does() -> None:
    """Right values with a cut gradient: the sign is all there is to say."""
    assert conclude([explained()], ["no-grad"], lambda: [WRONG], wrong=False) == Finding(
        ("no-grad",)
    )
    assert conclude([explained()], [], lambda: [WRONG], wrong=False) == Finding()


@pytest.mark.parametrize("signs_seen", [(), ("no-grad",)])
@pytest.mark.parametrize("count", [2, 3])
def test_a_few_alternatives_are_told_as_such(count: int, signs_seen: tuple[str, ...]) -> None:
    """Two or three single changes that compute the same: one of them it is."""
    names = ("a-first", "b-second", "c-third")[:count]
    left = [explained(name) for name in reversed(names)]
    found = conclude(left, signs_seen, lambda: [WRONG], wrong=True)
    assert found == Finding(names=signs_seen, either=names)


@pytest.mark.parametrize(
    "left",
    [
        [explained(f"name-{n}") for n in range(4)],
        [explained("a-first"), explained("b-second", "c-third")],
        [explained("a-first"), explained("b-second"), explained("c-third", "d-fourth")],
        [explained("a-first", "b-second"), explained("a-first", "c-third")],
        [],
    ],
    ids=["four", "one-and-pair", "two-and-pair", "pairs", "none"],
)
def test_too_much_doubt_names_nothing(left: list[Explanation]) -> None:
    """Many alternatives, or such as are no single change: signs, else a fingerprint, no names."""
    assert conclude(left, ["no-grad"], lambda: [WRONG], wrong=True) == Finding(("no-grad",))
    assert conclude(left, [], lambda: [WRONG], wrong=True) == Finding(
        fingerprint=fingerprint([WRONG])
    )
    assert conclude(left, [], lambda: [WRONG], wrong=False) == Finding()


def test_a_finding_is_plain_data() -> None:
    """It goes through JSON into the report as it is."""
    data = Finding(("a",), ("b", "c"), "0123456789ab").as_json()
    assert json.loads(json.dumps(data)) == {
        "names": ["a"],
        "either": ["b", "c"],
        "fingerprint": "0123456789ab",
    }


def test_answers_that_differ_by_rounding_have_one_fingerprint() -> None:
    """It is what a rubric's groups are keyed by: twelve hexadecimal digits."""
    one = fingerprint([WRONG, None])
    assert re.fullmatch("[0-9a-f]{12}", one)
    assert fingerprint([WRONG + 1e-6, None]) == one
    assert fingerprint([torch.zeros(3)]) == fingerprint([-torch.zeros(3)])


@pytest.mark.parametrize(
    "answers",
    [
        [WRONG + 0.1],
        [WRONG.flatten()],
        [WRONG.flip(1)],
        [None, WRONG],
        [WRONG, None],
        [WRONG, WRONG],
    ],
    ids=["values", "shape", "order", "raises-first", "raises-second", "twice"],
)
def test_different_answers_have_different_fingerprints(answers: list[Tensor | None]) -> None:
    """Values, shape, and which question was answered."""
    assert fingerprint(answers) != fingerprint([WRONG])


@pytest.mark.parametrize("answers", [[], [None], [None, None]])
def test_no_answer_has_no_fingerprint(answers: list[Tensor | None]) -> None:
    """Code that always raises would be one group, whatever it raises."""
    assert fingerprint(answers) == ""


def test_a_budget_counts_questions() -> None:
    """After the last one nothing is left."""
    budget = Budget(questions=2)
    budget.question()
    assert budget.left()
    budget.question()
    assert not budget.left()


def test_a_budget_counts_processor_time_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What passes between two milestones does not count; what two of them use adds up."""
    now = 10.0
    monkeypatch.setattr("grader.examiner.diagnosis.finding.time.process_time", lambda: now)
    budget = Budget(seconds=1.0)
    budget.start()
    now += 0.75
    assert budget.left()
    budget.stop()
    now += 100.0
    assert budget.left()
    budget.start()
    assert budget.left()
    now += 0.5
    assert not budget.left()
    budget.stop()
    assert not budget.left()


def test_a_question_is_counted_and_answered() -> None:
    """The answer comes back, or why there is none."""
    budget = Budget(questions=2)
    fault = StudentFaultError(Verdict.ERROR.value, "Stopped.")

    def raising() -> Tensor:
        raise fault

    assert asked(lambda: WRONG, budget) is WRONG
    assert asked(raising, budget) is fault
    assert not budget.left()


def test_nothing_is_asked_when_the_budget_is_spent() -> None:
    """The code is not bothered any more."""
    asked_for: list[int] = []

    def ask() -> Tensor:
        asked_for.append(1)
        return WRONG

    with pytest.raises(EndedError):
        asked(ask, Budget(questions=0))
    assert asked_for == []


@pytest.mark.parametrize("verdict", [Verdict.TIMEOUT, Verdict.CRASHED])
def test_code_that_does_not_come_back_ends_the_diagnosis(verdict: Verdict) -> None:
    """Each further question might cost as much."""

    def ask() -> Tensor:
        raise StudentFaultError(verdict.value, "Gone.")

    with pytest.raises(EndedError):
        asked(ask, Budget())


def values(*numbers: float, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.tensor(numbers, dtype=dtype)


@pytest.mark.parametrize(
    ("actual", "predicted", "expected"),
    [
        (values(1, 2), values(1, 2 + 1e-5), True),
        (values(1, 2), values(1, 2.01), False),
        (values(1, math.nan), values(1, math.nan), True),
        (values(math.nan, 1), values(1, math.nan), False),
        (values(1, math.nan), values(1, 0), False),
        (values(math.inf), values(math.inf), True),
        (values(math.inf), values(-math.inf), False),
        (values(1, 2), values(1, 2).view(1, 2), False),
        (values(1, 1), values(1), False),
        (values(1, 2, dtype=torch.float64), values(1, 2), True),
        (values(1, dtype=torch.float64), values(1 + 1e-5, dtype=torch.float64), False),
        (values(1, 2), values(1, 2, dtype=torch.float64), True),
        (values(1, 2, dtype=torch.float16), values(1, 2), False),
        (values(1, 2, dtype=torch.int64), values(1, 2), False),
    ],
)
def test_an_answer_is_what_was_predicted(actual: Tensor, predicted: Tensor, expected: bool) -> None:
    """Shape and values, each NaN in its place; by the answer's dtype, which has a tolerance."""
    assert same(actual, predicted) is expected


@pytest.mark.parametrize(
    ("first", "again", "expected"),
    [
        (values(1, 2), values(1, 2 + 1e-5), True),
        (values(1, 2), values(1, 2.1), False),
        (values(math.nan), values(math.nan), True),
        (values(1, 1), values(1), False),
        (values(1, dtype=torch.float16), values(1, dtype=torch.float16), True),
        (values(1, dtype=torch.float16), values(1.5, dtype=torch.float16), False),
        (values(1), values(1 + 1e-5, dtype=torch.float64), False),
    ],
)
def test_an_answer_is_repeated(first: Tensor, again: Tensor, expected: bool) -> None:
    """Up to rounding, for floats of any precision."""
    assert repeated(first, again) is expected
