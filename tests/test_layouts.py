"""Finding submissions: the layouts that come from platforms and people, and hostile ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.errors import SubmissionsError
from grader.intake.layouts import MAX_FILE_BYTES, MAX_FILES, find_submissions, single_submission
from grader.model import Submission
from grader.rubric import Rubric

FILES = ("milestone1_layernorm.py", "milestone2_ffn.py", "milestone3_encoder_block.py")


def put(folder: Path, *names: str, content: str = "") -> Path:
    """Make files, each with its own name as content unless one is given."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content or f"# {name}\n", encoding="utf-8")
    return folder


def names(submission: Submission) -> list[str]:
    return [source.name for source in submission.files]


def only(folder: Path, rubric: Rubric) -> Submission:
    (submission,) = find_submissions(folder, rubric)
    return submission


def test_each_subfolder_is_a_student(tmp_path: Path, rubric: Rubric) -> None:
    """Students come sorted, each with the files of their folder."""
    for student in ("zoe", "ann"):
        put(tmp_path / student, *FILES)
    found = find_submissions(tmp_path, rubric)
    assert [(s.student, names(s)) for s in found] == [("ann", list(FILES)), ("zoe", list(FILES))]
    assert found[0].origin == str(tmp_path / "ann")
    assert found[0].candidates["ffn"][0] == "milestone2_ffn.py"


def test_flat_files_are_grouped_by_the_name_in_front(tmp_path: Path, rubric: Rubric) -> None:
    """Several separators, and names that hold separators themselves, find their owner."""
    put(tmp_path, "van_der_berg_milestone1_layernorm.py", "van_der_berg-milestone2_ffn (1).py")
    put(tmp_path, "Mary-Ann milestone1 layernorm.py")
    mary, van = find_submissions(tmp_path, rubric)
    assert (mary.name, names(mary)) == ("Mary-Ann", [FILES[0]])
    assert (van.student, names(van)) == ("van_der_berg", [FILES[0], FILES[1]])


def test_a_whole_program_belongs_to_whom_it_is_named_after(tmp_path: Path, rubric: Rubric) -> None:
    """One file with everything serves every milestone."""
    submission = only(put(tmp_path, "jdoe.py"), rubric)
    assert (submission.student, names(submission)) == ("jdoe", ["jdoe.py"])
    assert submission.candidates == {m.id: ("jdoe.py",) for m in rubric.milestones}


def test_a_folder_with_the_assignments_files_is_one_submission(
    tmp_path: Path, rubric: Rubric
) -> None:
    """An instructor may point at a single student's folder."""
    put(tmp_path / "jdoe", "milestone1_layernorm.py", "helpers/tools.py")
    submission = only(tmp_path / "jdoe", rubric)
    assert submission.student == "jdoe"
    assert names(submission) == ["milestone1_layernorm.py", "helpers/tools.py"]


def test_a_nested_folder_is_found(tmp_path: Path, rubric: Rubric) -> None:
    """An archive's own folder in between changes nothing."""
    submission = only(put(tmp_path, f"ann/lesson/src/{FILES[1]}"), rubric)
    assert submission.candidates["ffn"] == (f"lesson/src/{FILES[1]}",)


def test_noise_is_left_alone(tmp_path: Path, rubric: Rubric) -> None:
    """Folders and files of systems and tools are neither students nor answers."""
    put(tmp_path, f"ann/{FILES[0]}", f"__MACOSX/ann/{FILES[0]}", f".git/{FILES[0]}")
    put(tmp_path / "ann", f"__pycache__/{FILES[1]}", f".venv/lib/{FILES[1]}", f"._{FILES[1]}")
    assert names(only(tmp_path, rubric)) == [FILES[0]]


@pytest.mark.parametrize(
    "copy", ["milestone1_layernorm (1).py", "milestone1_layernorm-2.py", "Milestone1_LayerNorm.py"]
)
def test_a_renamed_download_gets_its_name_back(tmp_path: Path, rubric: Rubric, copy: str) -> None:
    """What a browser or a person did to the name is undone."""
    submission = only(put(tmp_path, f"ann/{copy}"), rubric)
    assert names(submission) == [FILES[0]]
    assert submission.files[0].path == tmp_path / "ann" / copy


def test_two_different_versions_are_a_problem(tmp_path: Path, rubric: Rubric) -> None:
    """Which one counts is for a person to decide: both are named."""
    put(tmp_path, f"ann/{FILES[0]}", "ann/milestone1_layernorm (1).py")
    problem = only(tmp_path, rubric).problem
    assert FILES[0] in problem
    assert "milestone1_layernorm (1).py" in problem


def test_two_equal_copies_are_no_problem(tmp_path: Path, rubric: Rubric) -> None:
    """The same content twice is one file."""
    put(tmp_path, f"ann/{FILES[0]}", f"ann/old/{FILES[0]}", content="x = 1\n")
    submission = only(tmp_path, rubric)
    assert (submission.problem, names(submission)) == ("", [FILES[0]])


def test_tests_are_passed_over(tmp_path: Path, rubric: Rubric) -> None:
    """Public tests and conftest files in a submission are no answers."""
    put(tmp_path / "ann", FILES[0], "conftest.py", "test_public.py", "ffn_test.py")
    assert names(only(tmp_path, rubric)) == [FILES[0]]


def test_other_files_are_candidates_after_the_own_one(tmp_path: Path, rubric: Rubric) -> None:
    """A milestone's own file is tried first, then spare files, then the other milestones'."""
    put(tmp_path / "ann", FILES[0], FILES[2], "answers.py")
    candidates = only(tmp_path, rubric).candidates
    assert candidates["layernorm"] == (FILES[0], "answers.py", FILES[2])
    assert candidates["ffn"] == ("answers.py", FILES[2], FILES[0])


def test_links_pipes_and_folders_in_disguise_are_not_opened(tmp_path: Path, rubric: Rubric) -> None:
    """A link out of the submission, a pipe and a folder with a file's name are passed over."""
    outside = put(tmp_path / "secret", FILES[1], "grades.py")
    ann = put(tmp_path / "class" / "ann", FILES[0])
    (ann / FILES[1]).symlink_to(outside / FILES[1])
    (ann / "linked").symlink_to(outside, target_is_directory=True)
    os.mkfifo(ann / FILES[2])
    (ann / "folder.py").mkdir()
    assert names(only(tmp_path / "class", rubric)) == [FILES[0]]


def test_links_and_pipes_beside_the_students_are_not_followed(
    tmp_path: Path, rubric: Rubric
) -> None:
    """At the top level, too, only real folders and files count."""
    outside = put(tmp_path / "secret", FILES[0])
    put(tmp_path / "class" / "ann", FILES[0])
    (tmp_path / "class" / "eve").symlink_to(outside, target_is_directory=True)
    (tmp_path / "class" / f"eve_{FILES[0]}").symlink_to(outside / FILES[0])
    os.mkfifo(tmp_path / "class" / f"pia_{FILES[0]}")
    assert only(tmp_path / "class", rubric).student == "ann"


def test_a_huge_file_is_left_out_with_a_note(tmp_path: Path, rubric: Rubric) -> None:
    """The reader learns why the file was not used."""
    put(tmp_path / "ann", FILES[0])
    put(tmp_path / "ann", "data.py", content="#" * (MAX_FILE_BYTES + 1))
    submission = only(tmp_path, rubric)
    assert names(submission) == [FILES[0]]
    assert submission.notes == ("data.py was left out: it is larger than 1 MB.",)


def test_a_huge_flat_file_is_left_out_with_a_note(tmp_path: Path, rubric: Rubric) -> None:
    """A file beside the folders is measured like one inside."""
    put(tmp_path, f"ann_{FILES[0]}", content="#" * (MAX_FILE_BYTES + 1))
    put(tmp_path, f"ann_{FILES[1]}")
    submission = only(tmp_path, rubric)
    assert names(submission) == [FILES[1]]
    assert len(submission.notes) == 1
    assert "larger than 1 MB" in submission.notes[0]


def test_a_flood_of_files_is_cut_with_a_note(tmp_path: Path, rubric: Rubric) -> None:
    """Nobody is graded on thousands of files, and the reader learns of it."""
    put(tmp_path / "ann", *(f"f{n:04}.py" for n in range(MAX_FILES + 5)))
    submission = only(tmp_path, rubric)
    assert len(submission.files) == MAX_FILES
    assert submission.notes == (f"Only the first {MAX_FILES} Python files were looked at.",)


def test_folders_without_end_are_left(tmp_path: Path, rubric: Rubric) -> None:
    """Very deep folders are not climbed down."""
    put(tmp_path, "ann/" + "d/" * 30 + FILES[0], f"ann/{FILES[1]}")
    assert names(only(tmp_path, rubric)) == [FILES[1]]


HOSTILE = ("a\nb", "\x1b[31mred", "x" * 200, "李雷", "José", "jose", "-rf", "...", "=1+1")


def test_hostile_names_give_safe_and_different_ids(tmp_path: Path, rubric: Rubric) -> None:
    """Whatever a folder is called: an id for a path, a name for a page."""
    for name in HOSTILE:
        put(tmp_path / f"{name}", FILES[0])
    put(tmp_path / "...", FILES[0])
    found = find_submissions(tmp_path, rubric)
    visible = [name for name in HOSTILE if not name.startswith(".")]
    assert len({s.student.lower() for s in found}) == len(found) == len(visible)
    assert all(s.student.isascii() and s.student.isprintable() for s in found)
    assert all(s.name.isprintable() and s.origin.isprintable() for s in found)


def test_names_that_are_no_text_do_not_stop_the_class(tmp_path: Path, rubric: Rubric) -> None:
    """A file name in another encoding spoils nothing for anybody."""
    put(tmp_path / "ann", FILES[0])
    put(tmp_path / "eve", FILES[0])
    (tmp_path / "eve" / os.fsdecode(b"gr\xfc\xdfe.py")).touch()
    (tmp_path / os.fsdecode(b"j\xf6rg")).mkdir()
    assert len(find_submissions(tmp_path, rubric)) == 3


def test_an_empty_folder_holds_no_submission(tmp_path: Path, rubric: Rubric) -> None:
    """The message says what is expected instead."""
    with pytest.raises(SubmissionsError, match="No submission was found") as caught:
        find_submissions(tmp_path, rubric)
    assert "jdoe_milestone1_layernorm.py" in caught.value.remedy


def test_a_student_without_files_is_a_submission(tmp_path: Path, rubric: Rubric) -> None:
    """An empty folder of a student is kept, so that nobody gets lost."""
    (tmp_path / "ann").mkdir()
    assert (only(tmp_path, rubric).student, only(tmp_path, rubric).files) == ("ann", ())


def test_a_path_that_is_no_folder_is_an_error(tmp_path: Path, rubric: Rubric) -> None:
    """Missing and file are told apart."""
    put(tmp_path, "jdoe.zip")
    with pytest.raises(SubmissionsError, match="There is no folder"):
        find_submissions(tmp_path / "absent", rubric)
    with pytest.raises(SubmissionsError, match="is not a folder"):
        find_submissions(tmp_path / "jdoe.zip", rubric)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_an_error(tmp_path: Path, rubric: Rubric) -> None:
    """A lack of permission is named as that."""
    tmp_path.chmod(0)
    with pytest.raises(SubmissionsError, match="cannot be read"):
        find_submissions(tmp_path, rubric)


def test_a_single_file_is_a_submission(tmp_path: Path, rubric: Rubric) -> None:
    """A student may check one file."""
    put(tmp_path, FILES[1])
    submission = single_submission(tmp_path / FILES[1], rubric)
    assert names(submission) == [FILES[1]]
    assert submission.candidates["ffn"] == (FILES[1],)


def test_a_single_folder_is_a_submission(tmp_path: Path, rubric: Rubric) -> None:
    """A student may check a folder, even one with nothing in it yet."""
    (tmp_path / "work").mkdir()
    assert single_submission(tmp_path / "work", rubric).student == "work"
    with pytest.raises(SubmissionsError, match="There is no folder"):
        single_submission(tmp_path / "absent", rubric)
