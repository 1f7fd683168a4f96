"""Finds the submissions in a folder: a folder per student, or flat files with their names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.errors import SubmissionsError
from grader.intake.names import (
    canonical_file,
    is_noise,
    is_test_file,
    printable,
    safe_id,
    split_owner,
)
from grader.model import SourceFile, Submission
from grader.rubric import Rubric

MAX_DEPTH = 6
MAX_FILES = 200
MAX_FILE_BYTES = 1 << 20


def find_submissions(folder: Path, rubric: Rubric) -> list[Submission]:
    """Sort out a folder of submissions, ordered by student.

    Each subfolder is a student.  Files beside them belong to the student whose name stands in
    front (`jdoe_milestone1_layernorm.py`), or are a whole program of the student they are named
    after.  A folder that holds the assignment's files themselves is one submission.

    Raises:
        SubmissionsError: if the path is no folder, cannot be read or holds no submission.
    """
    entries = _entries(folder)
    wanted = [milestone.file for milestone in rubric.milestones]
    files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    if any(canonical_file(name, wanted) for name in files):
        return [single_submission(folder, rubric)]
    owners: dict[str, list[SourceFile]] = {}
    taken: set[str] = set()
    submissions = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            student = safe_id(entry.name, taken)
            submissions.append(_from_folder(Path(entry.path), student, rubric))
        elif entry.is_file(follow_symlinks=False) and entry.name.lower().endswith(".py"):
            owner, name = split_owner(entry.name, wanted) or (Path(entry.name).stem, entry.name)
            owners.setdefault(owner, []).append(SourceFile(path=Path(entry.path), name=name))
    for owner, sources in owners.items():
        student = safe_id(owner, taken)
        submissions.append(_sorted_out(student, owner, str(folder), sources, [], rubric))
    if not submissions:
        raise SubmissionsError(
            f"No submission was found in {folder}.",
            "Give the folder that holds one subfolder per student, or files such as "
            f"jdoe_{wanted[0]}.",
        )
    return sorted(submissions, key=lambda submission: submission.student)


def single_submission(path: Path, rubric: Rubric) -> Submission:
    """One student's folder, or one file with the whole program.

    Raises:
        SubmissionsError: if the path does not exist or cannot be read.
    """
    if path.is_file():
        source = SourceFile(path=path, name=path.name)
        return _sorted_out(safe_id(path.stem, set()), path.stem, str(path), [source], [], rubric)
    _entries(path)
    return _from_folder(path, safe_id(path.resolve().name, set()), rubric)


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


def _from_folder(folder: Path, student: str, rubric: Rubric) -> Submission:
    notes: list[str] = []
    sources: list[SourceFile] = []
    for path in _python_files(folder, 0):
        if len(sources) >= MAX_FILES:
            notes.append(f"Only the first {MAX_FILES} Python files were looked at.")
            break
        name = path.relative_to(folder).as_posix()
        if path.lstat().st_size > MAX_FILE_BYTES:
            notes.append(f"{printable(name)} was left out: it is larger than 1 MB.")
            continue
        sources.append(SourceFile(path=path, name=name))
    return _sorted_out(student, folder.resolve().name, str(folder), sources, notes, rubric)


def _python_files(folder: Path, depth: int) -> Iterator[Path]:
    """Regular Python files below a folder, shallow ones first; links are not followed."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    kept = [entry for entry in entries if not is_noise(entry.name)]
    for entry in kept:
        regular = stat.S_ISREG(entry.lstat().st_mode)
        if regular and entry.suffix.lower() == ".py" and not is_test_file(entry.name):
            yield entry
    for entry in kept:
        if depth < MAX_DEPTH and stat.S_ISDIR(entry.lstat().st_mode):
            yield from _python_files(entry, depth + 1)


def _sorted_out(
    student: str,
    name: str,
    origin: str,
    sources: Sequence[SourceFile],
    notes: Sequence[str],
    rubric: Rubric,
) -> Submission:
    """Decide which file serves which milestone, and give it the assignment's name."""
    wanted = [milestone.file for milestone in rubric.milestones]
    matched: dict[str, list[SourceFile]] = {file: [] for file in wanted}
    others = []
    for source in sources:
        file = canonical_file(source.name.rpartition("/")[2], wanted)
        matched[file].append(source) if file else others.append(source)
    problems = []
    chosen: dict[str, SourceFile] = {}
    for file, rivals in matched.items():
        distinct = _distinct(rivals)
        if len(distinct) > 1:
            listing = ", ".join(printable(rival.name) for rival in distinct)
            problems.append(f"Several files could be {file}: {listing}. Leave one.")
        elif distinct:
            parent = distinct[0].name.rpartition("/")[0]
            renamed = f"{parent}/{file}" if parent else file
            chosen[file] = SourceFile(path=distinct[0].path, name=renamed)
    spare = [source.name for source in others]
    return Submission(
        student=student,
        name=printable(name),
        origin=printable(origin),
        files=(*chosen.values(), *others),
        candidates={
            milestone.id: _candidates(milestone.file, chosen, spare)
            for milestone in rubric.milestones
        },
        notes=tuple(notes),
        problem=" ".join(problems),
    )


def _candidates(file: str, chosen: dict[str, SourceFile], spare: list[str]) -> tuple[str, ...]:
    """The milestone's own file, then files of other names, then other milestones' files."""
    own = [chosen[file].name] if file in chosen else []
    rest = [source.name for key, source in reversed(chosen.items()) if key != file]
    return (*own, *spare, *rest)


def _distinct(rivals: Sequence[SourceFile]) -> list[SourceFile]:
    """Rivals that differ in content."""
    by_content: dict[bytes, SourceFile] = {}
    for rival in rivals:
        try:
            by_content.setdefault(rival.path.read_bytes(), rival)
        except OSError:
            continue
    return list(by_content.values())
