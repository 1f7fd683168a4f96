"""results.json: what Gradescope documents and nothing else, small, and always UTF-8."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from grader.errors import ResultsError
from grader.gradescope.results_format import (
    CUT,
    MAX_BYTES,
    FailedRun,
    GradescopeResults,
    TestCase,
    clean,
    parse_results,
    results_json,
)

# Every key that Gradescope documents, with a value of each kind.
DOCUMENTED: dict[str, Any] = {
    "score": 44.0,
    "execution_time": 136,
    "output": "Text",
    "output_format": "simple_format",
    "test_output_format": "text",
    "test_name_format": "text",
    "visibility": "after_due_date",
    "stdout_visibility": "visible",
    "extra_data": {},
    "tests": [
        {
            "score": 2.0,
            "max_score": 2.0,
            "status": "passed",
            "name": "A name",
            "name_format": "text",
            "number": "1.1",
            "output": "Lines\nof text",
            "output_format": "ansi",
            "tags": ["tag1", "tag2"],
            "visibility": "after_published",
            "extra_data": {"any": [1, None]},
        },
        {"name": "For information", "status": "failed"},
    ],
    "leaderboard": [
        {"name": "Accuracy", "value": 0.926},
        {"name": "Time", "value": 15.1, "order": "asc"},
        {"name": "Stars", "value": "*****"},
    ],
}


def changed(**changes: Any) -> str:
    return json.dumps({**DOCUMENTED, **changes})


def test_the_documented_example_is_read_and_written() -> None:
    """Every documented key comes through, and nothing else is added."""
    assert json.loads(results_json(parse_results(json.dumps(DOCUMENTED)))) == DOCUMENTED


@pytest.mark.parametrize(
    "document",
    [
        changed(scores=1),
        changed(score="44"),
        changed(score=True),
        changed(output_format="markdown"),
        changed(visibility="never"),
        changed(stdout_visibility="shown"),
        changed(tests=[{"status": "error"}]),
        changed(tests=[{"points": 2}]),
        changed(tests=[{"name_format": "latex"}]),
        changed(tests={}),
        changed(leaderboard=[{"name": "Time"}]),
        changed(leaderboard=[{"name": "Time", "value": 1, "order": "up"}]),
        '{"score": NaN}',
        '{"score": Infinity}',
        '{"visibility": "visible"}',
        "[]",
        "",
        "{",
    ],
)
def test_what_is_not_documented_is_refused(document: str) -> None:
    """Unknown keys, other types, other words, numbers that are none, and what is no object."""
    with pytest.raises(ValidationError):
        parse_results(document)


def test_results_have_a_score_or_tests() -> None:
    """The format wants one of them; a document of a failed run has neither and knows no score."""
    with pytest.raises(ValidationError):
        GradescopeResults(output="neither")
    assert isinstance(parse_results('{"output": "Failed."}'), FailedRun)
    with pytest.raises(ValidationError):
        FailedRun.model_validate({"output": "Failed.", "score": 0.0})


@given(st.text(st.characters()))
def test_any_text_is_written_as_utf8(text: str) -> None:
    """Lone surrogates, controls and NUL are replaced; everything else stays."""
    written = results_json(GradescopeResults(score=1.0, output=text))
    output = json.loads(written.decode("utf-8"))["output"]
    assert output == clean(text)
    assert not set(output) & {"\0", "\r", "\x1b", "\ud800"}


def test_long_outputs_are_cut_until_the_file_is_small() -> None:
    """Of 60 outputs of a megabyte together, each keeps its beginning and says that it was cut."""
    test = TestCase(score=1.0, name="One", output="müller " * 3_000)
    written = results_json(GradescopeResults(tests=(test,) * 60, output="x" * 500_000))
    assert len(written) <= MAX_BYTES
    results = json.loads(written)
    assert len(results["tests"]) == 60
    for output in (results["output"], *(test["output"] for test in results["tests"])):
        assert output.endswith(CUT)
        assert output.startswith(("xxx", "müller müller"))


def test_a_cut_never_ends_within_an_escape() -> None:
    """Half of an escape would make markup of what follows."""
    output = ("a" + "\\*" * 200_000) + "a"
    written = results_json(GradescopeResults(score=1.0, output=output))
    kept = json.loads(written)["output"].removesuffix(CUT)
    assert not kept.endswith("\\")


def test_what_cannot_be_small_is_an_error() -> None:
    """Too many tests are named as the reason."""
    tests = tuple(TestCase(score=1.0, name="n" * 300) for _ in range(1_000))
    with pytest.raises(ResultsError, match="one test for each criterion"):
        results_json(GradescopeResults(tests=tests))
