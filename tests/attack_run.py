"""Runs the catalogue of attacks against the real grader.

`python -m tests.attack_run --out FOLDER` grades every attack together with honest submissions
and writes into FOLDER/result.json what is not as it must be.  With `--without WALLS NAME ...` it
leaves walls out, and writes which of the named breaches get through; with `--cold` every worker
is a new process instead of a fork.  The tests run it as root,
as an ordinary user and with the rights of a container.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from grader.batch import setup_of
from grader.examiner.client import Nursery
from grader.examiner.messages import Job
from grader.intake.layouts import single_submission
from grader.intake.names import canonical_file, safe_id
from grader.intake.staging import StagingArea, read_sources
from grader.rubric import Rubric, load_rubric
from grader.sandbox.policy import ALL_WALLS
from tests.corpus_run import RUBRIC, Case, differences, grade_class, quick_rubric

ATTACKS = RUBRIC.parent / "tests" / "attacks"
SAMPLE = RUBRIC.parent / "tests" / "sample_class"
# Many attacks never answer; four are examined at once, since most of them sleep.
QUESTION_SECONDS = 6
HONEST = ("amara", "chen-wei", "dotty")


@dataclass(frozen=True)
class Attack:
    """One attack and the outcome that must come of it.

    Attributes:
        walls: those that each alone stop a breach; with all of them off it gets through.
        never: what must not stand in feedback.md, gradebook.csv, log.txt or on the terminal.
        status: of the submission; criteria are compared only if it is `graded`.
        folder: name of the student's folder.
    """

    name: str
    kind: str
    walls: tuple[str, ...]
    case: Case
    never: dict[str, list[str]]
    status: str
    folder: str

    @property
    def breach(self) -> str:
        """The line that it prints when it gets through."""
        return f"BREACH {self.name}"


def attack_names() -> list[str]:
    """All attacks, sorted."""
    return sorted(path.parent.name for path in ATTACKS.glob("*/expected.yaml"))


def load_attack(name: str) -> Attack:
    """Read an attack's expected.yaml."""
    data = yaml.safe_load((ATTACKS / name / "expected.yaml").read_text(encoding="utf-8"))
    case = Case(
        name, data["about"], data["fill"] == "solutions", data["lost"] or {}, data.get("says") or {}
    )
    walls = tuple(data.get("walls") or ())
    never = data.get("never") or {}
    status, folder = data.get("status", "graded"), data.get("folder", name)
    return Attack(name, data["kind"], walls, case, never, status, folder)


def stage_attack(attack: Attack, rubric: Rubric, folder: Path) -> None:
    """Build an attack's submission: copied, or made by its own make.py."""
    source = ATTACKS / attack.name
    ignored = shutil.ignore_patterns("expected.yaml", "make.py", "__pycache__")
    shutil.copytree(source, folder, ignore=ignored, symlinks=True)
    if (source / "make.py").is_file():
        subprocess.run([sys.executable, str(source / "make.py"), str(folder)], check=True)
    files = [milestone.file for milestone in rubric.milestones]
    present = {canonical_file(path.name, files) for path in folder.rglob("*")}
    for file in files:
        if attack.case.fill and file not in present:
            shutil.copyfile(rubric.root / rubric.solutions / file, folder / file)


def run_class(folder: Path, names: list[str], command: str, *more: str) -> dict[str, list[str]]:
    """Grade attacks and honest submissions in one class; what is wrong, by attack.

    The key `honest` holds honest submissions whose score.json is not what it is without
    attackers beside them.
    """
    rubric = load_rubric(RUBRIC)
    quiet, loud = folder / "quiet", folder / "loud"
    for honest in HONEST:
        shutil.copytree(SAMPLE / honest, quiet / honest)
        shutil.copytree(SAMPLE / honest, loud / honest)
    for name in names:
        attack = load_attack(name)
        stage_attack(attack, rubric, loud / attack.folder)
    options = ("--rubric", str(quick_rubric(folder, QUESTION_SECONDS)), "--jobs", "4", *more)
    grade_class(quiet, folder / "quiet-results", *options, command=command)
    summary = grade_class(loud, folder / "loud-results", *options, command=command)
    cards = {card["student"]: card for card in summary["students"]}
    students = folder / "loud-results" / "students"
    wrong = {}
    for name in names:
        attack = load_attack(name)
        student = safe_id(attack.folder, set())
        wrong[name] = wrong_with(attack, cards[student], students / student)
    wrong["honest"] = [
        honest
        for honest in HONEST
        if (students / honest / "score.json").read_bytes()
        != (folder / "quiet-results" / "students" / honest / "score.json").read_bytes()
    ]
    return wrong


def wrong_with(attack: Attack, card: dict[str, Any], results: Path) -> list[str]:
    """What is not as it must be with one attack."""
    found = []
    log = results / "log.txt"
    if log.is_file() and attack.breach in log.read_text(errors="replace"):
        found.append("it got through")
    if card["status"] != attack.status:
        found.append(f"status {card['status']}: {card['problem']}")
    elif attack.status == "graded":
        found += differences(attack.case, card)
    feedback = results / "feedback.md"
    page = feedback.read_text() if feedback.is_file() else ""
    gradebook = (results.parents[1] / "gradebook.csv").read_text()
    printed = log.read_bytes().decode(errors="replace") if log.is_file() else ""
    for place, text in (("feedback", page), ("gradebook", gradebook), ("log", printed)):
        found += [
            f"{place} holds {piece!r}" for piece in attack.never.get(place, []) if piece in text
        ]
    return found


def gets_through(names: list[str], walls_off: tuple[str, ...], folder: Path) -> dict[str, bool]:
    """Which breaches get through when some walls are left out, which only tests can do."""
    rubric = load_rubric(RUBRIC)
    setup = setup_of(rubric, 2, ())
    walls = tuple(wall for wall in ALL_WALLS if wall not in walls_off)
    through = {}
    with Nursery() as nursery, StagingArea() as staging:
        nursery.configure(setup.model_copy(update={"walls": walls, "trusted": True}))
        nursery.wait_until_ready()
        for name in names:
            stage_attack(load_attack(name), rubric, folder / name)
            submission = single_submission(folder / name, rubric)
            staged = staging.stage(read_sources(submission))
            nursery.submit(_job(name, str(staged), submission.candidates, folder))
        for _ in names:
            name, _status = nursery.next_done()
            log = folder / f"{name}.log"
            text = log.read_text(errors="replace") if log.is_file() else ""
            through[name] = load_attack(name).breach in text
    return through


def _job(name: str, staged: str, candidates: dict[str, tuple[str, ...]], folder: Path) -> Job:
    return Job(
        student=name,
        folder=staged,
        candidates=candidates,
        report=str(folder / f"{name}.json"),
        log=str(folder / f"{name}.log"),
        facts={},
    )


def main() -> None:
    """Run the catalogue, or breaches without some walls, and write what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without", default="")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--trust", action="store_true")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    result: object
    with tempfile.TemporaryDirectory(prefix="attacks-") as name:
        folder = Path(name)
        if given.without:
            result = gets_through(given.names, tuple(given.without.split(",")), folder)
        else:
            command = "tests.cold_grader" if given.cold else "grader"
            more = ["--trust-submissions"] if given.trust else []
            result = run_class(folder, given.names or attack_names(), command, *more)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "result.json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
