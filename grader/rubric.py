"""The rubric: a YAML file in, a frozen `Rubric` out, or every fault of the file at once."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from grader.errors import RubricError
from grader.lateness import LateRules, Penalty
from grader.located_yaml import Located, Place, dotted, plain, sentence, yaml_problem
from grader.misconceptions import MisconceptionText, known_texts, own_texts
from grader.model import Visibility
from grader.needs import needs_problems
from grader.packages import DEFAULT_PACKAGES, packages_problems
from grader.text import perhaps
from grader.yaml_values import WHOLE_REASON, Points, Section, Share

# Fields of a rubric that are not written in its file.
NOT_IN_FILES = ("root", "texts")
# The column of Gradescope's leaderboard that is no milestone.
SCORE_COLUMN = "score"
Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
# As in PEP 508.
PackageName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", max_length=100)
]
PositiveInt = Annotated[int, Field(gt=0, le=1_000_000)]
Text = Annotated[str, Field(min_length=1, max_length=300)]
Show = Literal["name", "message", "details"]


class Limits(Section):
    """What one submission may use.

    Attributes:
        question_seconds: wall time for one answer of the student's code.
        submission_seconds: wall time for the whole examination.
        memory_mb: address space beyond what Python and torch take.
        output_kb: how much of its prints is kept.
    """

    question_seconds: PositiveInt = 10
    submission_seconds: PositiveInt = 120
    memory_mb: PositiveInt = 2048
    output_kb: PositiveInt = 64


class Criterion(Section):
    """A line of the rubric: some tests, and the points for passing them.

    Attributes:
        misconceptions: which part of the points the criterion keeps where a misconception alone
            explains what is wrong with the milestone.
        needs: ids of other criteria of the milestone; it counts only where each of them has
            earned something.
        visibility: when Gradescope shows it to students; `None`: as the section `gradescope` says.
    """

    id: Identifier
    title: Text
    points: Points
    tests: Annotated[tuple[Text, ...], Field(min_length=1, strict=False)]
    award: Literal["all", "proportional"] = "all"
    show: Show = "message"
    misconceptions: dict[str, Share] = Field(default_factory=dict)
    needs: Annotated[tuple[Text, ...], Field(strict=False)] = ()
    visibility: Visibility | None = None


class Milestone(Section):
    """One file of the assignment with the suite that examines it."""

    id: Identifier
    title: Text
    file: Text
    suite: Text
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, strict=False)]

    @property
    def points(self) -> Decimal:
        """The most that this milestone can bring."""
        return sum((criterion.points for criterion in self.criteria), Decimal(0))


class GradescopeSettings(Section):
    """What Gradescope is to show.

    Attributes:
        visibility: of every criterion that says nothing else.
        leaderboard: its columns: `score`, or a milestone's id; none, and there is no leaderboard.
    """

    visibility: Visibility = "visible"
    leaderboard: Annotated[tuple[Text, ...], Field(strict=False)] = ()


class Rubric(Section):
    """A whole rubric, valid in itself.

    Attributes:
        packages: distributions that student code may import, with all that they need.
        late: due times, and what late work costs.
        attempts: which of several attempts of a student counts: the newest, or the best after
            what lateness takes.
        messages: file with texts of misconceptions in place of the grader's own.
        groups: names that an instructor has given to groups of wrong answers, by fingerprint.
        root: the folder that its paths start from.
        texts: of all misconceptions, by id.
    """

    format: Literal[1]
    assignment: Identifier
    title: Text
    stubs: Text = "assignments"
    solutions: Text = "solutions"
    suites: Text = "grader/suites"
    limits: Limits = Limits()
    packages: Annotated[tuple[PackageName, ...], Field(strict=False)] = DEFAULT_PACKAGES
    gradescope: GradescopeSettings = GradescopeSettings()
    milestones: Annotated[tuple[Milestone, ...], Field(min_length=1, strict=False)]
    late: LateRules | None = None
    attempts: Literal["newest", "best"] = "newest"
    messages: Text | None = None
    groups: dict[Fingerprint, MisconceptionText] = Field(default_factory=dict)
    root: Annotated[Path, Field(exclude=True)] = Path()
    texts: Annotated[dict[str, MisconceptionText], Field(exclude=True)] = Field(
        default_factory=dict
    )

    @property
    def points(self) -> Decimal:
        """The most that a submission can reach."""
        return sum((milestone.points for milestone in self.milestones), Decimal(0))

    @property
    def suite_folder(self) -> Path:
        """Folder of the hidden suites."""
        return self.root / self.suites

    @property
    def suite_paths(self) -> tuple[Path, ...]:
        """The hidden suites, in the order of the milestones."""
        return tuple(self.suite_folder / milestone.suite for milestone in self.milestones)


def load_rubric(path: Path) -> Rubric:
    """Read and check a rubric file.

    Raises:
        RubricError: with every fault found, each with line and column where they are known.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise RubricError(str(path), [problem], "Check the path given with --rubric.") from error
    except UnicodeDecodeError as error:
        raise RubricError(str(path), ["is not UTF-8 text"]) from error
    return parse_rubric(text, path)


def parse_rubric(text: str, path: Path) -> Rubric:
    """Check the text of a rubric whose paths start from the folder of `path`.

    Raises:
        RubricError: with every fault found.
    """
    places: Located = {}
    problems: list[str] = []
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise RubricError(str(path), [yaml_problem(error)]) from error
    try:
        data = plain(root, (), places, problems) if root is not None else {}
    except RecursionError as error:
        raise RubricError(str(path), ["is nested without end"]) from error
    for key in NOT_IN_FILES:
        if isinstance(data, dict) and data.pop(key, None) is not None:
            place = places.get((key, "<key>"), (1, 1))
            problems.append(sentence(place, key, "is not a key of the rubric"))
    folder = path.resolve().parent
    rubric: Rubric | None = None
    try:
        rubric = Rubric.model_validate(data)
    except ValidationError as error:
        problems += [
            _validation_problem(detail, places)
            for detail in error.errors()
            if not (detail["type"] == "too_short" and detail["input"])  # its items are at fault
        ]
    problems += _inconsistencies(data, folder, places)
    if problems or rubric is None:
        raise RubricError(str(path), sorted(problems, key=_line_of))
    texts = known_texts() | (own_texts(folder / rubric.messages) if rubric.messages else {})
    return rubric.model_copy(update={"root": folder, "texts": texts})


def _line_of(problem: str) -> int:
    digits = re.match(r"line (\d+)", problem)
    return int(digits.group(1)) if digits else 0


def check_tests_counted(rubric: Rubric, path: Path, tests: Sequence[str]) -> None:
    """Check that every hidden test counts once and that every pattern matches one.

    Args:
        rubric: a valid rubric.
        path: its file, for the message.
        tests: ids of all collected tests, `<suite file>::<test name>`.

    Raises:
        RubricError: with each pattern that matches nothing and each test that does not count.
    """
    problems = []
    counted: dict[str, list[str]] = {test: [] for test in tests}
    for milestone in rubric.milestones:
        for criterion in milestone.criteria:
            for pattern in criterion.tests:
                matched = [test for test in tests if matches(test, milestone.suite, pattern)]
                for test in matched:
                    counted[test].append(f"{milestone.id}/{criterion.id}")
                if not matched:
                    names = [_test_name(t) for t in tests if t.startswith(milestone.suite + "::")]
                    problems.append(
                        f"milestone {milestone.id}, criterion {criterion.id}: the pattern "
                        f"{pattern!r} matches no test of {milestone.suite}"
                        + perhaps(pattern, names)
                    )
    for test, criteria in counted.items():
        if not criteria:
            problems.append(f"no criterion counts the test {test}")
        elif len(set(criteria)) > 1:
            problems.append(f"the test {test} counts twice: {', '.join(sorted(set(criteria)))}")
    if problems:
        raise RubricError(str(path), problems)


@functools.lru_cache(maxsize=4096)
def tests_of(suite: str, patterns: tuple[str, ...], tests: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the hidden tests that a criterion of a suite counts, in their order."""
    return tuple(
        test for test in tests if any(matches(test, suite, pattern) for pattern in patterns)
    )


def matches(test: str, suite: str, pattern: str) -> bool:
    """Tell whether a test id belongs to a milestone and its name fits a pattern.

    `*` and `?` stand for what they stand for in a shell; brackets stand for themselves, since
    pytest puts them around parameters.
    """
    place, _, name = test.partition("::")
    literal = pattern.replace("[", "[[]")
    return place == suite and fnmatch.fnmatchcase(name, literal)


def _test_name(test: str) -> str:
    return test.partition("::")[2]


def _validation_problem(detail: ErrorDetails, places: Located) -> str:
    location = tuple(detail["loc"])
    place = places.get((*location, "<key>")) or _nearest_place(location, places)
    kind = detail["type"]
    if kind == "extra_forbidden":
        fields = _section_at(location[:-1]).model_fields
        known = [key for key in fields if key not in NOT_IN_FILES]
        reason = "is not a key of the rubric" + perhaps(str(location[-1]), known)
    elif kind == "missing":
        reason = "is missing"
    elif kind == "literal_error":
        words = [str(word) for word in _literal_words(location)]
        reason = f"must be one of {', '.join(words)}, not {detail['input']!r}"
        reason += perhaps(str(detail["input"]), words)
    elif kind == WHOLE_REASON:
        reason = detail["msg"]
    else:
        message = detail["msg"].removeprefix("Value error, ")
        reason = f"{message[0].lower()}{message[1:]}, not {_short(detail['input'])}"
    return sentence(place, dotted(location), reason)


def _nearest_place(location: tuple[str | int, ...], places: Located) -> Place:
    for length in range(len(location), -1, -1):
        if location[:length] in places:
            return places[location[:length]]
    return (1, 1)


def _section_at(location: tuple[str | int, ...]) -> type[BaseModel]:
    """The model that describes the mapping at a path."""
    names = [part for part in location if isinstance(part, str)]
    by_name: dict[str, type[BaseModel]] = {
        "limits": Limits,
        "gradescope": GradescopeSettings,
        "milestones": Milestone,
        "criteria": Criterion,
        "late": LateRules,
        "penalty": Penalty,
    }
    if names[:1] == ["groups"]:
        return MisconceptionText
    return by_name[names[-1]] if names else Rubric


def _literal_words(location: tuple[str | int, ...]) -> Sequence[object]:
    field = _section_at(location[:-1]).model_fields[str(location[-1])]
    words = get_args(field.annotation)
    return [word for part in words if part is not type(None) for word in get_args(part) or (part,)]


def _inconsistencies(data: Any, folder: Path, places: Located) -> Iterator[str]:
    """Faults that only show when the parts are held against each other or the disk.

    Works on the plain data, of which some may be invalid, so that all faults show at once.
    """
    if not isinstance(data, dict):
        return
    milestones = data.get("milestones")
    milestones = milestones if isinstance(milestones, list) else []
    yield from _repeated(milestones, ("milestones",), places)
    for index, milestone in enumerate(milestones):
        criteria = milestone.get("criteria") if isinstance(milestone, dict) else None
        if isinstance(criteria, list):
            path = ("milestones", index, "criteria")
            yield from _repeated(criteria, path, places)
            yield from _unknown_misconceptions(criteria, path, places)
            yield from needs_problems(criteria, path, places)
    yield from _unknown_columns(data, milestones, places)
    yield from packages_problems(data.get("packages"), places)
    for key in ("stubs", "solutions", "suites"):
        value = data.get(key, Rubric.model_fields[key].default)
        if isinstance(value, str) and not (folder / value).is_dir():
            yield sentence(_nearest_place((key,), places), key, f"no such folder: {value}")
    suites = folder / str(data.get("suites", Rubric.model_fields["suites"].default))
    if suites.is_dir():
        yield from _missing_suites(milestones, suites, places)


def _unknown_columns(data: dict[str, Any], milestones: list[Any], places: Located) -> Iterator[str]:
    """Columns of the leaderboard that are neither `score` nor a milestone."""
    settings = data.get("gradescope")
    columns = settings.get("leaderboard") if isinstance(settings, dict) else None
    known = [SCORE_COLUMN, *(str(m.get("id")) for m in milestones if isinstance(m, dict))]
    for index, column in enumerate(columns if isinstance(columns, list) else ()):
        if column not in known:
            location = ("gradescope", "leaderboard", index)
            reason = f"must be one of {', '.join(known)}{perhaps(str(column), known)}"
            yield sentence(places[location], dotted(location), reason)


def _missing_suites(milestones: list[Any], suites: Path, places: Located) -> Iterator[str]:
    here = [entry.name for entry in suites.glob("test_*.py")]
    for index, milestone in enumerate(milestones):
        name = milestone.get("suite") if isinstance(milestone, dict) else None
        if isinstance(name, str) and not (suites / name).is_file():
            location = ("milestones", index, "suite")
            reason = f"no such suite: {name}{perhaps(name, here)}"
            yield sentence(places[location], dotted(location), reason)


def _unknown_misconceptions(
    criteria: list[Any], path: tuple[str | int, ...], places: Located
) -> Iterator[str]:
    for index, criterion in enumerate(criteria):
        shares = criterion.get("misconceptions") if isinstance(criterion, dict) else None
        for name in shares if isinstance(shares, dict) else ():
            if name not in known_texts():
                location = (*path, index, "misconceptions", name)
                place = places.get((*location, "<key>")) or _nearest_place(location, places)
                reason = f"no such misconception{perhaps(str(name), list(known_texts()))}"
                yield sentence(place, dotted(location), reason)


def _repeated(sections: list[Any], path: tuple[str | int, ...], places: Located) -> Iterator[str]:
    seen: list[object] = []
    for index, section in enumerate(sections):
        identifier = section.get("id") if isinstance(section, dict) else None
        if identifier is not None and identifier in seen:
            location = (*path, index, "id")
            yield sentence(places[location], dotted(location), f"{identifier!r} stands twice")
        seen.append(identifier)


def _short(value: object) -> str:
    text = str(value) if isinstance(value, date) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
