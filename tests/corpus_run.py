"""Builds a class of the corpus' cases, grades it with the real command, compares.

`python -m tests.corpus_run [CASE ...]` prints every difference between a case's expected.yaml
and what the grader finds.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from grader.intake.names import canonical_file
from grader.rubric import Rubric, load_rubric

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "corpus"
RUBRIC = ROOT / "rubric.yaml"
# Short, so that endless loops do not hold up the run; no other case needs half of it.
QUESTION_SECONDS = 6
# Said of a criterion that is right and does not count, since one that it needs has earned nothing.
WAITS = "waits"


@dataclass(frozen=True)
class Case:
    """One small submission and its expected outcome.

    Attributes:
        lost: verdict of every criterion that must lose points, or `waits`, by
            `milestone/criterion`.
        says: a piece of the message that the student must read, by the same key.
        named: misconceptions of each milestone; only what is in the catalogue has a name.  `None`
            if names do not matter.
    """

    name: str
    about: str
    fill: bool
    lost: dict[str, str]
    says: dict[str, str]
    named: dict[str, list[str]] | None = None


def load_case(name: str) -> Case:
    """Read a case's expected.yaml."""
    data = yaml.safe_load((CORPUS / name / "expected.yaml").read_text(encoding="utf-8"))
    fill, named = data["fill"] == "solutions", data.get("misconceptions", {})
    return Case(name, data["about"], fill, data["lost"], data.get("says", {}), named)


def case_names() -> list[str]:
    """All cases, sorted."""
    return sorted(path.parent.name for path in CORPUS.glob("*/expected.yaml"))


def stage_case(case: Case, rubric: Rubric, folder: Path) -> None:
    """Copy a case's files into a folder, and the solutions of milestones that it lacks."""
    shutil.copytree(CORPUS / case.name, folder, ignore=shutil.ignore_patterns("expected.yaml"))
    files = [milestone.file for milestone in rubric.milestones]
    present = {canonical_file(path.name, files) for path in folder.rglob("*") if path.is_file()}
    for file in files:
        if case.fill and file not in present:
            shutil.copyfile(rubric.root / rubric.solutions / file, folder / file)


def quick_rubric(folder: Path, question_seconds: int = QUESTION_SECONDS) -> Path:
    """The assignment's rubric with a short time limit, its paths made absolute."""
    data = yaml.safe_load(RUBRIC.read_text(encoding="utf-8"))
    data["limits"]["question_seconds"] = question_seconds
    for key in ("stubs", "solutions", "suites"):
        data[key] = str(ROOT / data[key])
    path = folder / "rubric.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


def grade_class(
    submissions: Path, out: Path, *options: str, command: str = "grader"
) -> dict[str, Any]:
    """Grade a folder with the real command; the summary it prints as JSON."""
    words = [sys.executable, "-m", command, str(submissions), "--out", str(out), "--json"]
    done = subprocess.run([*words, *options], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def grade_cases(names: list[str], folder: Path) -> dict[str, dict[str, Any]]:
    """Grade cases as one class; the scorecard of each, by name."""
    rubric = load_rubric(RUBRIC)
    for name in names:
        stage_case(load_case(name), rubric, folder / "class" / name)
    path = quick_rubric(folder)
    summary = grade_class(folder / "class", folder / "results", "--rubric", str(path))
    return {card["student"]: card for card in summary["students"]}


def differences(case: Case, card: dict[str, Any]) -> list[str]:
    """What is not as expected, one line each."""
    if card["status"] == "needs-attention":
        return [f"needs attention: {card['problem']}"]
    found = []
    for milestone in card["milestones"]:
        names = names_in(milestone)
        expected_names = (
            names if case.named is None else sorted(case.named.get(milestone["id"], []))
        )
        if names != expected_names:
            found.append(f"{milestone['id']}: named {names}, not {expected_names}")
        for criterion in milestone["criteria"]:
            key = f"{milestone['id']}/{criterion['id']}"
            if not criterion["max_score"] and key not in case.lost:
                continue  # a mere condition: what hangs on it is looked at
            expected = case.lost.get(key, "passed")
            waits = expected == WAITS
            if criterion["verdict"] != ("passed" if waits else expected):
                message = criterion["message"].split("\n")[0][:150]
                found.append(f"{key}: {criterion['verdict']}, not {expected}. {message}")
            full = criterion["score"] == criterion["max_score"]
            if criterion["max_score"] and full != (expected == "passed"):
                found.append(f"{key}: {criterion['score']} of {criterion['max_score']} points")
            if waits and "waits_for" not in criterion:
                found.append(f"{key}: waits for nothing")
            if case.says.get(key, "") not in criterion["message"]:
                found.append(f"{key}: says {criterion['message']!r}")
    return found


def names_in(milestone: dict[str, Any]) -> list[str]:
    """Ids of the misconceptions named in one milestone of a scorecard, sorted."""
    return sorted(misconception["id"] for misconception in milestone["misconceptions"])


@dataclass
class Tally:
    """How well mistakes are named, over the milestones of some cases.

    Attributes:
        right: milestones that lose no point (the prediction aside).
        right_named: of these, those that are given a name all the same.
        wrong: milestones that lose points.
        known: of these, those whose mistake is in the catalogue.
        named: of the known ones, those that are given exactly their names.
        misnamed: of all that lose points, those that are given a name that is not theirs.
    """

    right: int = 0
    right_named: int = 0
    wrong: int = 0
    known: int = 0
    named: int = 0
    misnamed: int = 0

    def add(self, case: Case, card: dict[str, Any]) -> None:
        """Count the milestones of one case."""
        for milestone in card["milestones"]:
            expected, names = (case.named or {}).get(milestone["id"], []), names_in(milestone)
            if milestone["score"] == milestone["max_score"]:
                self.right += 1
                self.right_named += bool(names)
                continue
            self.wrong += 1
            self.known += bool(expected)
            self.named += bool(expected) and names == sorted(expected)
            self.misnamed += bool(set(names) - set(expected))

    def table(self) -> str:
        """The counts as lines of a table."""
        share = 100 * self.named / self.known if self.known else 100.0
        rows = [
            ("milestones without a lost point", self.right),
            ("  given a misconception", self.right_named),
            ("milestones with lost points", self.wrong),
            ("  given a wrong misconception", self.misnamed),
            ("  with a mistake of the catalogue", self.known),
            ("    named exactly", self.named),
        ]
        lines = [f"{text:<40}{count:>6}" for text, count in rows]
        return "\n".join([*lines, f"{'    share':<40}{share:>5.1f}%"])


def main() -> None:
    """Print every difference, how many cases have none, and how well mistakes are named."""
    names = sys.argv[1:] or case_names()
    with tempfile.TemporaryDirectory() as folder:
        cards = grade_cases(names, Path(folder))
    wrong = 0
    tally = Tally()
    for name in names:
        found = differences(load_case(name), cards[name])
        if cards[name]["status"] == "graded":
            tally.add(load_case(name), cards[name])
        wrong += bool(found)
        for line in found:
            print(f"{name}: {line}")
    print(f"{len(names) - wrong} of {len(names)} cases are as expected")
    print(tally.table())


if __name__ == "__main__":
    main()
