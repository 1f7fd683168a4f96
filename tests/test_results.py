"""The results folder: files whole or not at all, and errors that say what is in the way."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import ExitStatus, ReportError, ResultsError
from grader.files import digest_of, write_atomically
from grader.model import Scorecard
from grader.results import Results

UNWRITABLE = "\ud800"  # half a surrogate pair: no encoding of UTF-8 exists


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_whole_with_its_folders(tmp_path: Path) -> None:
    """Folders are made as needed, and nothing but the file is left there."""
    path = tmp_path / "a" / "b" / "file.txt"
    write_atomically(path, "grüße\r\nend\n")
    assert path.read_bytes() == "grüße\r\nend\n".encode()
    assert names_in(path.parent) == ["file.txt"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    """Halfway through, the old content is still there, and no temporary file stays behind."""
    path = tmp_path / "file.txt"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "x" * 100_000 + UNWRITABLE)
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["file.txt"]


def test_a_rename_that_fails_leaves_no_temporary_file(tmp_path: Path) -> None:
    """A folder in the file's place is an error, and stays as it was."""
    (tmp_path / "file.txt" / "kept").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "file.txt", "new")
    assert names_in(tmp_path) == ["file.txt"]


def test_the_folder_is_made_for_its_owner_only(tmp_path: Path) -> None:
    """Grades are nobody else's business."""
    results = Results(tmp_path / "deep" / "results")
    results.prepare()
    assert stat.S_IMODE(results.folder.stat().st_mode) == stat.S_IRWXU
    assert names_in(results.folder) == ["students"]


def test_an_existing_folder_keeps_what_it_holds(tmp_path: Path) -> None:
    """Preparing twice loses nothing."""
    results = Results(tmp_path)
    results.prepare()
    results.student("ann").mkdir()
    results.prepare()
    assert results.student("ann").is_dir()


@pytest.mark.parametrize("below", [".", "further/down"])
def test_a_file_in_the_way_is_an_error(tmp_path: Path, below: str) -> None:
    """Checked before anything is graded, and again when the folder is made."""
    (tmp_path / "file").touch()
    results = Results(tmp_path / "file" / below)
    with pytest.raises(ResultsError, match="is not a folder") as checked:
        results.check_writable()
    with pytest.raises(ResultsError, match="cannot be written") as prepared:
        results.prepare()
    assert "--out" in checked.value.remedy
    assert "--out" in prepared.value.remedy


def test_a_folder_that_cannot_be_made_is_an_error() -> None:
    """An error of the file system becomes a message with the path."""
    with pytest.raises(ResultsError, match="/proc/results cannot be written"):
        Results(Path("/proc/results")).prepare()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_an_error(tmp_path: Path) -> None:
    """A folder that may only be read is noticed by the check already."""
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(ResultsError, match="no permission"):
        Results(tmp_path / "results").check_writable()


def test_checking_makes_nothing(tmp_path: Path) -> None:
    """The check of a new folder leaves no trace."""
    Results(tmp_path / "new" / "results").check_writable()
    assert names_in(tmp_path) == []


def write_report(results: Results, content: bytes) -> None:
    results.student("ann").mkdir(parents=True)
    results.report("ann").write_bytes(content)


def report_bytes(**examination: object) -> bytes:
    return json.dumps({"tests": [], "examination": examination}).encode()


WHOLE = report_bytes(student="ann", expected=[], notes={}, facts={"digest": "abc"})


def test_a_saved_report_tells_its_digest(tmp_path: Path) -> None:
    """What was graded is known by the digest in the report."""
    results = Results(tmp_path)
    write_report(results, WHOLE)
    assert results.saved_digest("ann") == "abc"


def test_a_report_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """The message says what to do, and the command ends with `needs attention`."""
    with pytest.raises(ReportError, match=r"report.json is missing") as caught:
        Results(tmp_path).load_report("ann")
    assert caught.value.exit_status is ExitStatus.NEEDS_ATTENTION
    assert "--fresh" in caught.value.remedy


@pytest.mark.parametrize(
    "content",
    [b"", b'{"tests": [', b"\xff\xfe", b"[]", b"{}", b'{"examination": 1}', report_bytes(),
     report_bytes(facts="none"), report_bytes(facts={"digest": 3})],
    ids=["empty", "half", "not-utf8", "list", "no-examination", "number", "no-facts",
         "facts-are-text", "digest-is-a-number"],
)  # fmt: skip
def test_a_report_of_another_kind_counts_as_not_graded(tmp_path: Path, content: bytes) -> None:
    """A damaged report has no digest, so its submission is graded again."""
    results = Results(tmp_path)
    write_report(results, content)
    assert results.saved_digest("ann") is None


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff", b"{}"], ids=["empty", "list", "not-utf8", "other"]
)
def test_a_damaged_report_cannot_be_loaded(tmp_path: Path, content: bytes) -> None:
    """Nothing is scored from a file that is no report."""
    results = Results(tmp_path)
    write_report(results, content)
    with pytest.raises(ReportError, match=r"ann/report\.json"):
        results.load_report("ann")


def test_a_scorecard_is_saved_as_json_with_its_feedback(tmp_path: Path) -> None:
    """score.json holds the card as it is, names in their own letters."""
    results = Results(tmp_path)
    card = Scorecard(
        student="ann", status="needs-attention", score=None, max_score=5, milestones=(), problem="ü"
    )
    results.save_scorecard(card, "# Feedback\n")
    text = (results.student("ann") / "score.json").read_text(encoding="utf-8")
    assert Scorecard.model_validate_json(text) == card
    assert '"ü"' in text
    assert (results.student("ann") / "feedback.md").read_text() == "# Feedback\n"


@pytest.mark.parametrize("tests", [[1], [{}], [{"outcome": "passed"}], "none"])
def test_tests_that_are_none_make_a_damaged_report(tmp_path: Path, tests: object) -> None:
    """Scoring would stop at them."""
    results = Results(tmp_path)
    write_report(results, json.dumps({**json.loads(WHOLE), "tests": tests}).encode())
    with pytest.raises(ReportError, match="is not a report of this grader"):
        results.load_report("ann")


@pytest.mark.parametrize(("verdict", "counts"), [("failed", True), ("grader-fault", False)])
def test_a_fault_of_the_grader_is_not_a_saved_result(
    tmp_path: Path, verdict: str, counts: bool
) -> None:
    """The next run examines that submission again."""
    results = Results(tmp_path)
    tests = [{"nodeid": "a::b"}, {"nodeid": "a::c", "metadata": {"verdict": verdict}}]
    write_report(results, json.dumps({**json.loads(WHOLE), "tests": tests}).encode())
    assert (results.saved_digest("ann") is not None) == counts


def test_a_report_about_something_else_is_refused(tmp_path: Path) -> None:
    """One of before never becomes the score of what was handed in since."""
    results = Results(tmp_path)
    write_report(results, WHOLE)
    assert results.load_report("ann", "abc")
    with pytest.raises(ReportError, match="about another submission"):
        results.load_report("ann", "def")


def test_one_run_at_a_time_writes_to_a_folder(tmp_path: Path) -> None:
    """A second one is told; when the first has ended, however, it may."""
    first, second = Results(tmp_path), Results(tmp_path)
    first.prepare()
    with first.claimed(), pytest.raises(ResultsError, match="Another run"), second.claimed():
        pass
    with second.claimed():
        pass


def test_what_was_half_written_is_removed(tmp_path: Path) -> None:
    """At the start and at the end; other hidden files are somebody else's."""
    results = Results(tmp_path)
    results.student("ann").mkdir(parents=True)
    half = [tmp_path / ".run.json.abc.part", results.student("ann") / ".score.json.abc.part"]
    (tmp_path / ".gitignore").touch()
    (tmp_path / ".somebodys.part").mkdir()  # a folder is nothing half written
    for _ in range(2):
        half[0].touch()
        half[1].touch()
        with results.claimed():
            assert not half[0].exists()
            assert not half[1].exists()
            half[0].touch()
        assert names_in(tmp_path) == [".gitignore", ".somebodys.part", "students"]


def test_what_an_attempt_printed_stays_as_it_is(tmp_path: Path) -> None:
    """A log may hold any line ends."""
    results = Results(tmp_path)
    results.student("ann/attempts/1").mkdir(parents=True)
    results.log("ann/attempts/1").write_bytes(b"a\r\nb\rc")
    results.take_over("ann/attempts/1", "ann")
    assert results.log("ann").read_bytes() == b"a\r\nb\rc"


def test_an_error_while_writing_names_the_file(tmp_path: Path) -> None:
    """The kernel does not say which file found no room."""
    (tmp_path / "file.txt" / "kept").mkdir(parents=True)
    with pytest.raises(OSError, match="directory") as caught:
        write_atomically(tmp_path / "file.txt", "new")
    assert caught.value.filename == str(tmp_path / "file.txt")


named = st.lists(st.tuples(st.text(max_size=5), st.binary(max_size=5)), max_size=4)


@given(first=named, second=named)
def test_different_files_have_different_digests(
    first: list[tuple[str, bytes]], second: list[tuple[str, bytes]]
) -> None:
    """Names, contents and their order all count."""
    assert (digest_of(first) == digest_of(second)) == (first == second)


def test_the_boundary_of_name_and_content_counts() -> None:
    """The same bytes, divided differently, are another submission."""
    assert digest_of([("ab", b"c")]) != digest_of([("a", b"bc")])
    assert digest_of([("a", b"b"), ("c", b"")]) != digest_of([("a", b""), ("b", b"c")])
    assert digest_of([("a", b"1:1:bc")]) != digest_of([("a", b""), ("b", b"c")])


@pytest.mark.parametrize(
    ("run", "students"),
    [
        ('{"students": ["zoe", "bob"]}', ["bob", "zoe"]),
        ('{"students": []}', []),
        ("{}", ["bob", "gone"]),
        ('{"students": {"bob": 1}}', ["bob", "gone"]),
        ('{"students": ["bob", 3]}', ["bob", "gone"]),
        ("[", ["bob", "gone"]),
        (None, ["bob", "gone"]),
    ],
)
def test_the_class_is_whom_the_last_run_names(
    tmp_path: Path, run: str | None, students: list[str]
) -> None:
    """Folders of students who left do not count; they do where nobody is named."""
    results = Results(tmp_path)
    for student in ("gone", "bob"):
        results.student(student).mkdir(parents=True)
    if run is not None:
        results.run.write_text(run)
    assert results.graded_students() == students
