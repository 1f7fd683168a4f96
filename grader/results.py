"""The results folder: where everything lies, and writing it whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard

from grader.errors import ReportError, ResultsError
from grader.model import Scorecard


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
                f"The results folder {self.folder} cannot be written: permission denied.",
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

    def saved_digest(self, student: str) -> str | None:
        """Digest of the submission that a student's saved report is about, if there is one."""
        try:
            report = self.load_report(student)
        except ReportError:
            return None
        digest = report["examination"]["facts"].get("digest")
        return digest if isinstance(digest, str) else None

    def load_report(self, student: str) -> dict[str, Any]:
        """Read a student's report.

        Raises:
            ReportError: if it is missing or is not one of ours.
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
        return report

    def save_report(self, student: str, report: dict[str, Any]) -> None:
        """Write a student's report."""
        write_atomically(self.report(student), json.dumps(report, allow_nan=False) + "\n")

    def take_over(self, attempt: str, student: str) -> None:
        """Let the report and the log of an attempt stand for its student."""
        for path, target in (
            (self.report(attempt), self.report(student)),
            (self.log(attempt), self.log(student)),
        ):
            if path.is_file():
                write_atomically(target, path.read_text(encoding="utf-8"))
            else:
                target.unlink(missing_ok=True)

    def students(self) -> list[str]:
        """Students with a folder here, sorted."""
        folder = self.folder / "students"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def load_scorecard(self, student: str) -> Scorecard | None:
        """A student's saved scorecard, if there is one that can be read."""
        try:
            return Scorecard.model_validate_json((self.student(student) / "score.json").read_text())
        except (OSError, ValueError):
            return None

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


def _is_ours(report: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a report has the parts that this grader writes."""
    if not isinstance(report, dict) or not isinstance(report.get("tests"), list):
        return False
    examination = report.get("examination")
    parts = {"student": str, "expected": list, "notes": dict, "facts": dict}
    return isinstance(examination, dict) and all(
        isinstance(examination.get(name), kind) for name, kind in parts.items()
    )


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all: temporary file, fsync, rename.

    Raises:
        OSError: if that fails; nothing is left behind then, and an old file stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def digest_of(parts: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 over named byte strings, in the given order."""
    whole = hashlib.sha256()
    for name, content in parts:
        encoded = name.encode("utf-8", "surrogateescape")
        whole.update(f"{len(encoded)}:{len(content)}:".encode())
        whole.update(encoded)
        whole.update(content)
    return whole.hexdigest()
