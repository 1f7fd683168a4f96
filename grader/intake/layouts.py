"""Finds the submissions in a folder: those of a platform's download, or plain folders and files."""

from __future__ import annotations

import functools
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.errors import SubmissionsError
from grader.intake.attempts import counting_attempts
from grader.intake.deliveries import Delivery, by_student
from grader.intake.gradescope_export import EXPORT, METADATA, gradescope_deliveries
from grader.intake.names import canonical_file, is_noise, is_test_file, safe_id
from grader.intake.owners import UNREAD_SUFFIXES, find_deliveries
from grader.intake.platforms import read_name
from grader.intake.submissions_csv import TABLE, apply_table
from grader.model import SourceFile, Submission
from grader.rubric import Rubric
from grader.text import printable

MAX_DEPTH = 6
MAX_FILES = 200
MAX_FILE_BYTES = 1 << 20
# Names by which Python finds something else than a submission's file.
HIDDEN_MODULES = sys.stdlib_module_names | {"numpy", "pytest", "torch"}


def find_submissions(folder: Path, rubric: Rubric, results: Path | None = None) -> list[Submission]:
    """Sort out a folder of submissions, ordered by student.

    Each subfolder is a student.  Files beside them belong to the student whose name stands in
    front (`jdoe_milestone1_layernorm.py`), or are a whole program of the student they are named
    after.  A folder that holds the assignment's files themselves is one submission.  Platforms'
    names tell students and times; so do Gradescope's metadata, and a `submissions.csv`.

    Args:
        folder: where to look.
        rubric: names the files.
        results: the results folder, which is no student wherever it lies.

    Raises:
        SubmissionsError: if the path is no folder, cannot be read or holds no submission.
        TableError: if `submissions.csv` is wrong.
    """
    wanted = [milestone.file for milestone in rubric.milestones]
    folder, entries = _class_folder(folder, results)
    files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    if any(canonical_file(name, wanted) for name in files):
        return [single_submission(folder, rubric)]
    if METADATA in files:
        deliveries = gradescope_deliveries(folder, entries)
    else:
        deliveries = find_deliveries(entries, wanted)
    if TABLE in files:
        apply_table(folder / TABLE, deliveries)
    submissions = [
        submission
        for student, attempts in by_student(deliveries)
        for submission in counting_attempts(
            [_from_delivery(delivery, student, rubric) for delivery in attempts], rubric
        )
    ]
    if not submissions:
        raise SubmissionsError(
            f"No submission was found in {folder}.",
            "Give the folder that holds one subfolder per student, or files such as "
            f"jdoe_{wanted[0]}.",
        )
    return sorted(submissions, key=lambda submission: submission.student)


def _class_folder(folder: Path, results: Path | None) -> tuple[Path, list[os.DirEntry[str]]]:
    """The folder with the submissions, and its entries: a platform's own folder inside it."""
    entries = [e for e in _entries(folder) if results is None or not _same(e, results)]
    folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    if len(folders) == 1 and not any(entry.name == METADATA for entry in entries):
        inside = _entries(Path(folders[0].path))
        if _is_download(folders[0].name, inside):
            return Path(folders[0].path), inside
    return folder, entries


def _is_download(name: str, inside: Sequence[os.DirEntry[str]]) -> bool:
    """Whether a folder is one that a platform packs a class into, and not one student's own."""
    if any(entry.name == METADATA for entry in inside):
        return EXPORT.fullmatch(name) is not None
    folders = [entry for entry in inside if entry.is_dir(follow_symlinks=False)]
    return len(folders) > 1 and all(read_name(entry.name, True) for entry in folders)


def _same(entry: os.DirEntry[str], path: Path) -> bool:
    return Path(entry.path).resolve() == path.resolve()


def _from_delivery(delivery: Delivery, student: str, rubric: Rubric) -> Submission:
    collected = _Collected(notes=list(delivery.notes))
    if delivery.timing.unread:
        unread = delivery.timing.unread
        collected.notes.append(f"The time of handing in cannot be read: {unread}.")
    for path, name in delivery.entries:
        if name:
            collected.add(path, name)
        else:
            collected.add_folder(path)
    origin = "; ".join(str(path) for path, _ in delivery.entries)
    found = _sorted_out(student, delivery.owner, origin, collected, rubric)
    problem = " ".join(filter(None, (delivery.problem, found.problem)))
    return replace(found, problem=problem, people=delivery.people, timing=delivery.timing)


def single_submission(path: Path, rubric: Rubric, known_single: bool = False) -> Submission:
    """One student's folder, or one file with the whole program.

    Args:
        path: the folder or file.
        rubric: names the files.
        known_single: a platform says that one student handed it in, whatever it looks like.

    Raises:
        SubmissionsError: if the path does not exist or cannot be read, or is the folder of a class.
    """
    collected = _Collected()
    if path.is_file():
        if path.suffix.lower() != ".py":
            raise SubmissionsError(f"{path} is not a Python file.", "Give a .py file or a folder.")
        files = [milestone.file for milestone in rubric.milestones]
        if canonical_file(path.name, files):  # it may import the files beside it
            collected.add_folder(path.absolute().parent, depth=MAX_DEPTH)
        else:
            collected.add(path, path.name)
    else:
        entries = _entries(path)
        collected.add_folder(path)
        if not known_single:
            _refuse_class(path, entries, collected, rubric)
    name = path.stem if path.is_file() else path.resolve().name
    return _sorted_out(safe_id(name, set()), name, str(path), collected, rubric)


def _refuse_class(
    path: Path, entries: list[os.DirEntry[str]], collected: _Collected, rubric: Rubric
) -> None:
    """Refuse a folder that looks like a class: the same milestone in several subfolders."""
    files = [milestone.file for milestone in rubric.milestones]
    places = [
        source.name.partition("/")[0]
        for source in collected.sources
        if "/" in source.name and canonical_file(source.name.rpartition("/")[2], files)
    ]
    students = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
    if len(set(places) & students) > 2 and len(places) > len(files):
        raise SubmissionsError(
            f"{path} holds the files of several students.",
            f"Give the folder of one student, or grade them all: grade {path}",
        )


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted((e for e in found if not is_noise(e.name)), key=lambda e: e.name)
    except FileNotFoundError as error:
        problem = f"There is no folder {folder}."
        raise SubmissionsError(problem, "Check the path of the submissions.") from error
    except NotADirectoryError as error:
        problem = f"{folder} is not a folder."
        raise SubmissionsError(problem, "Give the folder that holds the submissions.") from error
    except OSError as error:
        problem = f"{folder} cannot be read: {error.strerror}."
        raise SubmissionsError(problem, "Check its permissions.") from error


@dataclass
class _Collected:
    """Files of one submission as they are found."""

    sources: list[SourceFile] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add_folder(self, folder: Path, depth: int = 0) -> None:
        """Take the files below a folder."""
        for path in _files(folder, depth):
            self.add(path, path.relative_to(folder).as_posix())

    def add(self, path: Path, name: str) -> None:
        """Take one file, or note why it is left out."""
        name = name.encode("utf-8", "replace").decode()  # a name may be any bytes
        if path.suffix.lower() != ".py":
            self.unread.append(printable(name))
        elif len(self.sources) >= MAX_FILES:
            self.notes[:] = [f"Only the first {MAX_FILES} Python files were looked at."]
        elif path.lstat().st_size > MAX_FILE_BYTES:
            self.notes.append(f"{printable(name)} was left out: it is larger than 1 MB.")
        else:
            self.sources.append(SourceFile(place=str(path), name=name))
            if path.stem in HIDDEN_MODULES:
                self.notes.append(
                    f"{printable(name)} has the name of an installed module. Python takes that "
                    "one, and not your file: rename it."
                )

    def problem(self) -> str:
        """Why nothing of this can be graded although something was handed in."""
        if self.sources or not self.unread:
            return ""
        listing = ", ".join(self.unread[:5])
        return f"No Python file was handed in, but: {listing}. Unpack or convert it and run again."


def _files(folder: Path, depth: int) -> Iterator[Path]:
    """Regular files that may hold answers, shallow ones first; links are not followed."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    kept = [entry for entry in entries if not is_noise(entry.name)]
    for entry in kept:
        regular = stat.S_ISREG(entry.lstat().st_mode)
        wanted = entry.suffix.lower() in {".py", *UNREAD_SUFFIXES}
        if regular and wanted and not is_test_file(entry.name):
            yield entry
    for entry in kept:
        if depth < MAX_DEPTH and stat.S_ISDIR(entry.lstat().st_mode):
            yield from _files(entry, depth + 1)


def _sorted_out(
    student: str,
    name: str,
    origin: str,
    collected: _Collected,
    rubric: Rubric,
) -> Submission:
    """Decide which file serves which milestone, and give it the assignment's name."""
    wanted = [milestone.file for milestone in rubric.milestones]
    matched: dict[str, list[SourceFile]] = {file: [] for file in wanted}
    others = []
    for source in collected.sources:
        file = canonical_file(source.name.rpartition("/")[2], wanted)
        matched[file].append(source) if file else others.append(source)
    problems = [collected.problem()] if collected.problem() else []
    chosen: dict[str, SourceFile] = {}
    for file, rivals in matched.items():
        distinct = _distinct(rivals)
        if len(distinct) > 1:
            listing = ", ".join(printable(rival.name) for rival in distinct)
            problems.append(
                f"Several files could be {file}, and they differ: {listing}. Leave one, run again."
            )
        elif distinct:
            parent = distinct[0].name.rpartition("/")[0]
            renamed = f"{parent}/{file}" if parent else file
            chosen[file] = SourceFile(place=distinct[0].place, name=renamed)
    return Submission(
        student=student,
        name=printable(name),
        origin=printable(origin),
        files=(*chosen.values(), *others),
        candidates=_candidates(
            tuple((milestone.id, milestone.file) for milestone in rubric.milestones),
            tuple((file, source.name) for file, source in chosen.items()),
            tuple(source.name for source in others),
        ),
        notes=tuple(collected.notes),
        problem=" ".join(problems),
    )


@functools.lru_cache(1_000)  # most of a class hand in the same names, and share the answer
def _candidates(
    milestones: Sequence[tuple[str, str]],
    chosen: Sequence[tuple[str, str]],
    spare: Sequence[str],
) -> dict[str, tuple[str, ...]]:
    """A milestone's own file, then files of other names, then other milestones' files.

    Args:
        milestones: id and file of each.
        chosen: file of a milestone, and the name of the one that serves it.
        spare: names of other files.
    """
    found = {}
    for milestone, wanted in milestones:
        own = [name for file, name in chosen if file == wanted]
        rest = [name for file, name in reversed(chosen) if file != wanted]
        found[milestone] = (*own, *spare, *rest)
    return found


def _distinct(rivals: Sequence[SourceFile]) -> list[SourceFile]:
    """Rivals that differ in content."""
    by_content: dict[bytes, SourceFile] = {}
    for rival in rivals:
        try:
            by_content.setdefault(rival.path.read_bytes(), rival)
        except OSError:
            continue
    return list(by_content.values())
