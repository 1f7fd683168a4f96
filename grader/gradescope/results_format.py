"""results.json as Gradescope documents it, as strict models.

Source: gradescope/autograder_samples, docs/specs.md and docs/leaderboards.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from grader.errors import ResultsError
from grader.model import Frozen, Visibility

MAX_BYTES = 200_000
# Lengths to which outputs are cut, one after the other, until the whole is small enough.
OUTPUT_LENGTHS = (20_000, 4_000, 1_000, 200, 40)
CUT = "\n\n(The rest is left out.)"
NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

Format = Literal["text", "html", "simple_format", "md", "ansi"]
Number = Annotated[float, Field(allow_inf_nan=False)]


def clean(text: str) -> str:
    """A text without what UTF-8, JSON or a page cannot show; line ends are plain ones."""
    return NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


Text = Annotated[str, AfterValidator(clean)]


class TestCase(Frozen):
    """One test of `tests`; without a score it is an information only."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    score: Number | None = None
    max_score: Number | None = None
    status: Literal["passed", "failed"] | None = None
    name: Text | None = None
    name_format: Format | None = None
    number: Text | None = None
    output: Text | None = None
    output_format: Format | None = None
    tags: tuple[Text, ...] | None = None
    visibility: Visibility | None = None
    extra_data: dict[str, Any] | None = None


class LeaderboardColumn(Frozen):
    """One quantity of the leaderboard."""

    name: Text
    value: Number | Text
    order: Literal["asc", "desc"] | None = None


class _Document(Frozen):
    execution_time: Number | None = None
    output: Text | None = None
    output_format: Format | None = None
    test_output_format: Format | None = None
    test_name_format: Format | None = None
    visibility: Visibility | None = None
    stdout_visibility: Visibility | None = None
    extra_data: dict[str, Any] | None = None


class GradescopeResults(_Document):
    """The contents of results.json."""

    score: Number | None = None
    tests: tuple[TestCase, ...] | None = None
    leaderboard: tuple[LeaderboardColumn, ...] | None = None

    @model_validator(mode="after")
    def _has_score_or_tests(self) -> GradescopeResults:
        if self.score is None and self.tests is None:
            raise ValueError("results need a score or tests")
        return self


class FailedRun(_Document):
    """The contents of results.json where our own side failed.

    It has neither `score` nor `tests`, of which the format requires one: no number is there that
    could be taken for a zero.
    """

    output: Text


def parse_results(text: str | bytes) -> GradescopeResults | FailedRun:
    """Read a results.json, strictly.

    Raises:
        pydantic.ValidationError: if it has an unknown key, a wrong type or an unknown word.
    """
    document = FailedRun if _is_failed(text) else GradescopeResults
    return document.model_validate_json(text)


def _is_failed(text: str | bytes) -> bool:
    found = re.search(rb'"(score|tests)"\s*:', text if isinstance(text, bytes) else text.encode())
    return found is None


def results_json(results: GradescopeResults | FailedRun) -> bytes:
    """The file's bytes: UTF-8, never more than 200 kB; long outputs are cut until it fits.

    Raises:
        ResultsError: if it does not fit even so.
    """
    for candidate in (results, *_shorter(results)):
        encoded = candidate.model_dump_json(exclude_none=True, indent=1).encode() + b"\n"
        if len(encoded) <= MAX_BYTES:
            return encoded
    raise ResultsError(
        f"results.json does not fit into {MAX_BYTES} bytes, however short its outputs are.",
        "Gradescope is given one test for each criterion: use fewer of them.",
    )


def _shorter(results: GradescopeResults | FailedRun) -> Iterator[GradescopeResults | FailedRun]:
    for length in OUTPUT_LENGTHS:
        update: dict[str, Any] = {"output": _cut(results.output, length)}
        if isinstance(results, GradescopeResults) and results.tests is not None:
            update["tests"] = tuple(
                test.model_copy(update={"output": _cut(test.output, length)})
                for test in results.tests
            )
        yield results.model_copy(update=update)


def _cut(output: str | None, length: int) -> str | None:
    if output is None or len(output) <= length:
        return output
    # Not within an escape: a backslash left alone would take what follows for plain text.
    return output[:length].rstrip("\\") + CUT
