"""The results folder: where everything lies, and writing it whole or not at all."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from pydantic import ValidationError

from grader.attempts import attempt_id
from grader.errors import ReportError, ResultsError
from grader.files import PARTIAL, write_atomically
from grader.model import Scorecard, Verdict
from grader.text import printable

MAX_PROBLEMS = 10  # that are listed


class Results:
    """A results folder.

    Args:
        folder: its path; created when first written to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def gradebook(self) -> Path:
        """One line for each student."""
        return self.folder / "gradebook.csv"

    @property
    def run(self) -> Path:
        """How and with what the folder was made."""
        return self.folder / "run.json"

    def student(self, student: str) -> Path:
        """Folder of one student."""
        return self.folder / "students" / student

    def report(self, student: str) -> Path:
        """What the hidden tests found."""
        return self.student(student) / "report.json"

    def log(self, student: str) -> Path:
        """What the submission printed."""
        return self.student(student) / "log.txt"

    def handing_in(self, student: str) -> Path:
        """Who handed in, and when; known before anything is examined."""
        return self.student(student) / "submission.json"

    def check_writable(self) -> None:
        """Check that the folder can be made or written to, without making it.

        Raises:
            ResultsError: if it cannot.
        """
        existing = next(
            path for path in (self.folder, *self.folder.absolute().parents) if path.exists()
        )
        if not existing.is_dir():
            raise ResultsError(
                f"{existing} is not a folder, so no results can be written there.",
                "Choose another folder with --out.",
            )
        if not os.access(existing, os.W_OK | os.X_OK):
            raise ResultsError(
                f"The results folder {self.folder} cannot be written: no permission, or a "
                "read-only disk.",
                "Choose another one with --out, or change its permissions.",
            )

    def prepare(self) -> None:
        """Create the folder, readable for its owner only.

        Raises:
            ResultsError: if it cannot be written to.
        """
        try:
            (self.folder / "students").mkdir(parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise ResultsError(
                f"The results folder {self.folder} cannot be written: {error.strerror}.",
                "Choose another one with --out, or change its permissions.",
            ) from error

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keep other runs out of the folder, and remove what a killed process has half written.

        The claim falls with the process.  On a file system without locks nothing is claimed.

        Raises:
            ResultsError: if another run is writing here.
        """
        lock = os.open(self.folder, os.O_RDONLY)
        try:
            _lock(lock, self.folder)
            self._remove_partial()
            yield
            self._remove_partial()
        finally:
            os.close(lock)

    def _remove_partial(self) -> None:
        for path in self.folder.rglob(f".*{PARTIAL}"):
            if path.is_file():
                path.unlink(missing_ok=True)

    def saved_digest(self, student: str) -> str | None:
        """Digest of the submission that a student's saved report is about, if there is one.

        A report of an examination in which the grader itself failed does not count: the next
        run tries again.
        """
        try:
            report = self.load_report(student)
        except ReportError:
            return None
        if any(_is_fault(test) for test in report["tests"]):
            return None
        digest = report["examination"]["facts"].get("digest")
        return digest if isinstance(digest, str) else None

    def saved_provenance(self, student: str, default: Mapping[str, str]) -> dict[str, str]:
        """What a student's saved report depends on besides the submission.

        Args:
            student: the student's id.
            default: returned where no report is saved.
        """
        try:
            found = self.load_report(student)["examination"].get("provenance")
        except ReportError:
            return dict(default)
        if not isinstance(found, dict):
            return {}
        return {str(part): str(value) for part, value in found.items()}

    def load_report(self, student: str, digest: str | None = None) -> dict[str, Any]:
        """Read a student's report.

        Args:
            student: the student's id.
            digest: what it must be about; `None` takes any.

        Raises:
            ReportError: if it is missing, is not one of ours or is about something else.
        """
        path = self.report(student)
        remedy = "Grade this submission again: grade SUBMISSIONS --fresh."
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise ReportError(f"{path} is missing.", remedy) from error
        except (OSError, ValueError) as error:
            raise ReportError(f"{path} cannot be read: {error}.", remedy) from error
        if not _is_ours(report):
            raise ReportError(f"{path} is not a report of this grader.", remedy)
        if digest not in (None, report["examination"]["facts"].get("digest")):
            raise ReportError(f"{path} is about another submission or other tests.", remedy)
        return report

    def save_report(self, student: str, report: dict[str, Any]) -> None:
        """Write a student's report."""
        write_atomically(self.report(student), json.dumps(report, allow_nan=False) + "\n")

    def take_over(self, attempt: str, student: str) -> None:
        """Let the log and the report of an attempt stand for its student."""
        if self.log(attempt).is_file():
            write_atomically(self.log(student), self.log(attempt).read_bytes())
        else:
            self.log(student).unlink(missing_ok=True)
        try:
            report = self.load_report(attempt)
        except ReportError:
            self.report(student).unlink(missing_ok=True)
        else:
            report["examination"]["student"] = student
            self.save_report(student, report)

    def students(self) -> list[str]:
        """Students with a folder here, sorted."""
        folder = self.folder / "students"
        return sorted(path.name for path in folder.glob("*") if path.is_dir())

    def graded_students(self) -> list[str]:
        """Students of the class that the folder is about, sorted.

        They are those of the last run that came to its end, as run.json names them: folders of
        students who have left do not count.  Without such a list, all with a folder.
        """
        listed = self.load_run().get("students")
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            return self.students()
        return sorted(listed)

    def class_list(self) -> list[str]:
        """Likewise, where there has to be somebody.

        Raises:
            ResultsError: if the folder holds no students.
        """
        students = self.graded_students()
        if not students:
            raise ResultsError(
                f"{self.folder} holds no graded students.",
                "Give the results folder of a run: grade SUBMISSIONS --out RESULTS.",
            )
        return students

    def attempts(self, student: str) -> list[str]:
        """Ids of a student's attempts with a folder here, from the first on."""
        folders = (self.student(student) / "attempts").glob("*")
        numbers = (path.name for path in folders if path.is_dir() and path.name.isdecimal())
        return [attempt_id(student, number) for number in sorted(map(int, numbers))]

    def load_scorecard(self, student: str) -> Scorecard | None:
        """A student's saved scorecard, if there is one that can be read."""
        try:
            return self._read_scorecard(student)
        except (OSError, ValueError):
            return None

    def read_scorecard(self, student: str) -> Scorecard:
        """A student's saved scorecard.

        Raises:
            ResultsError: if it cannot be read.
        """
        try:
            return self._read_scorecard(student)
        except (OSError, ValueError) as error:
            raise ResultsError(
                f"{self.student(student)}/score.json, which was just written, cannot be read: "
                f"{why_unreadable(error)}.",
                "Run the same command again; nobody else may write into that folder.",
            ) from error

    def scorecards(self) -> ScorecardReader:
        """The saved scorecards of all students, each read when it is asked for.

        Raises:
            ResultsError: if this is no results folder.
        """
        if not (self.folder / "students").is_dir():
            raise ResultsError(
                f"{self.folder} is no results folder: it has no folder `students`.",
                "Give the results folder of a run: grade SUBMISSIONS --out RESULTS.",
            )
        return ScorecardReader(self, frozenset(self.graded_students()))

    def _read_scorecard(self, student: str) -> Scorecard:
        return Scorecard.model_validate_json((self.student(student) / "score.json").read_bytes())

    def load_run(self) -> dict[str, Any]:
        """What run.json says; nothing if it cannot be read."""
        try:
            run = json.loads(self.run.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return run if isinstance(run, dict) else {}

    def save_run(self, run: dict[str, Any]) -> None:
        """Write run.json."""
        write_atomically(self.run, json.dumps(run, indent=2) + "\n")

    def save_gradebook(self, text: str) -> None:
        """Write gradebook.csv."""
        write_atomically(self.gradebook, text)

    def save_scorecard(self, card: Scorecard, feedback: str) -> None:
        """Write score.json and feedback.md of one student."""
        folder = self.student(card.student)
        write_atomically(folder / "score.json", card.model_dump_json(indent=2) + "\n")
        write_atomically(folder / "feedback.md", feedback)


@dataclass(frozen=True)
class SavedCards:
    """Scorecards of a class, read from disk one by one whenever somebody goes through them.

    Attributes:
        results: where they lie.
        students: whose, in order.
    """

    results: Results
    students: Sequence[str]

    def __len__(self) -> int:
        return len(self.students)

    def __iter__(self) -> Iterator[Scorecard]:
        return map(self.results.read_scorecard, self.students)


@dataclass
class ScorecardReader:
    """Scorecards by student, read from disk one by one; it keeps none.

    Those that cannot be read are noted, so that `check` can tell of all at once.

    Attributes:
        results: where they lie.
        students: whose.
        problems: a line for each that could not be read so far.
    """

    results: Results
    students: frozenset[str]
    problems: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[str]:
        return iter(self.students)

    def get(self, student: str, /) -> Scorecard | None:
        """A student's scorecard; `None` for nobody's, and for one that cannot be read."""
        if student not in self.students:
            return None
        try:
            return self.results._read_scorecard(student)
        except (OSError, ValueError) as error:
            self.problems.append(f"  {student}/score.json: {why_unreadable(error)}")
            return None

    def check(self) -> None:
        """Check that all scorecards that were asked for could be read.

        Raises:
            ResultsError: for all that could not.
        """
        if self.problems:
            said = f"{self.results.folder}/students holds scorecards that cannot be read:"
            more = len(self.problems) - MAX_PROBLEMS
            listed = [*self.problems[:MAX_PROBLEMS], *([f"  and {more} more"] if more > 0 else [])]
            raise ResultsError(
                "\n".join([said, *listed]),
                "Grade into that folder again, which writes what is missing, or remove the folders "
                "of students who have left.",
            )


def _is_ours(report: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a report has the parts that this grader writes."""
    if not isinstance(report, dict) or not isinstance(report.get("tests"), list):
        return False
    if not all(isinstance(test, dict) and "nodeid" in test for test in report["tests"]):
        return False
    examination = report.get("examination")
    parts = {"student": str, "expected": list, "notes": dict, "facts": dict}
    return isinstance(examination, dict) and all(
        isinstance(examination.get(name), kind) for name, kind in parts.items()
    )


def why_unreadable(error: OSError | ValueError) -> str:
    """Why a file of the folder cannot be read, in one line."""
    if isinstance(error, OSError):
        return str(error.strerror)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        return printable(f"{where}: {first['msg']}" if where else first["msg"])
    return str(error)


def _is_fault(test: dict[str, Any]) -> bool:
    metadata = test.get("metadata")
    verdict = metadata.get("verdict") if isinstance(metadata, dict) else None
    return verdict == Verdict.GRADER_FAULT.value


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ResultsError(
            f"Another run is writing to {folder}.",
            "Wait until it has ended, or choose another folder with --out.",
        ) from error
    except OSError:
        return  # a file system that locks no folders
