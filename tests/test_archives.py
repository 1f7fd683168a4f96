"""Zip archives inside a submission: opened within bounds, and never outside the folder."""

from __future__ import annotations

import io
import stat
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.intake import archives
from grader.intake.archives import MAX_NESTING, unpacked
from grader.intake.layouts import MAX_FILE_BYTES, MAX_FILES, single_submission
from grader.rubric import Rubric
from tests.attack_run import ATTACKS

BOMBS = (
    "lying-size",
    "nested-zip-bomb",
    "zip-bomb",
    "zip-device",
    "zip-hardlink",
    "zip-slip",
    "zip-symlink",
)


def zipped(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def unpack(tmp_path: Path, files: Mapping[str, bytes]) -> tuple[dict[str, bytes], list[str]]:
    """What a submission of these files looks like then, and the notes."""
    handed_in, into = tmp_path / "submission", tmp_path / "into"
    into.mkdir()
    for name, content in files.items():
        (handed_in / name).parent.mkdir(parents=True, exist_ok=True)
        (handed_in / name).write_bytes(content)
    folder, notes = unpacked(handed_in, into)
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}, notes


def test_a_submission_without_archives_is_not_copied(tmp_path: Path) -> None:
    """It is the folder itself that goes on."""
    (tmp_path / "into").mkdir()
    (tmp_path / "work").mkdir()
    assert unpacked(tmp_path / "work", tmp_path / "into") == (tmp_path / "work", [])


def test_archives_are_opened_at_any_depth_up_to_a_bound(tmp_path: Path) -> None:
    """An archive in an archive is opened too; what lies beside them stays."""
    content = {"deep.py": b"deep"}
    for level in range(MAX_NESTING):
        content = {f"level{level}.zip": zipped(content), f"beside{level}.py": b"beside"}
    found, notes = unpack(tmp_path, {"a/work.zip": zipped(content), "own.py": b"own"})
    assert found["own.py"] == b"own"
    assert found["a/work.zip/beside2.py"] == b"beside"
    assert found["a/work.zip/level2.zip/level1.zip/beside0.py"] == b"beside"
    assert not [name for name in found if name.endswith("deep.py")]
    assert notes


@pytest.mark.parametrize(
    "name", ["../out.py", "/out.py", "a/../../out.py", "..\\out.py", "__MACOSX/._x.py", "a.txt"]
)
def test_a_member_of_another_kind_of_name_is_passed_over(tmp_path: Path, name: str) -> None:
    """Names that lead out, noise of other systems, and files that are no answers."""
    found, _ = unpack(tmp_path, {"work.zip": zipped({name: b"x", "kept.py": b"kept"})})
    assert found == {"work.zip/kept.py": b"kept"}
    assert {path.name for path in tmp_path.iterdir()} == {"submission", "into"}


def test_a_link_is_no_file(tmp_path: Path) -> None:
    """Its content is a path, and not what a student has written."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        link = zipfile.ZipInfo("link.py")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("kept.py", b"kept")
    found, _ = unpack(tmp_path, {"work.zip": stream.getvalue()})
    assert found == {"work.zip/kept.py": b"kept"}


def test_what_is_too_large_or_too_much_is_left_out_with_a_note(tmp_path: Path) -> None:
    """No more files and no larger ones than without an archive."""
    many = {f"f{number}.py": b"" for number in range(MAX_FILES + 5)}
    large = {"large.py": b" " * (MAX_FILE_BYTES + 1)}
    found, notes = unpack(tmp_path, {"work.zip": zipped({**large, **many})})
    assert len(found) == MAX_FILES
    assert "work.zip/large.py" not in found
    assert notes


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no more", b"Rar!\x1a\x07"])
def test_an_archive_that_cannot_be_opened_is_named(
    tmp_path: Path, rubric: Rubric, content: bytes
) -> None:
    """Its name is not forgotten, so that the submission is no empty one."""
    _, notes = unpack(tmp_path, {"work.zip": content})
    assert notes == ["work.zip is no zip archive that can be opened."]
    assert "work.zip" in single_submission(tmp_path / "into", rubric).problem


def test_an_encrypted_archive_is_named(tmp_path: Path) -> None:
    """There is nobody to ask for the password."""
    content = bytearray(zipped({"a.py": b"secret"}))
    content[6] |= 1  # the flag in the member's own header
    content[content.rindex(b"PK\x01\x02") + 8] |= 1  # and in the directory
    found, notes = unpack(tmp_path, {"work.zip": bytes(content)})
    assert found == {"work.zip": b""}
    assert "work.zip/a.py could not be unpacked: it is damaged, encrypted" in notes[0]


def damaged(part: bytes, by: bytes, method: int = zipfile.ZIP_STORED, name: str = "b.py") -> bytes:
    """An archive of three members, in the middle one of which every such part is replaced."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.py", b"first")
        archive.writestr(name, b"middle" * 50, method)
        archive.writestr("c.py", b"third")
    content = stream.getvalue()
    assert part in content
    return content.replace(part, by)


BROKEN_MEMBERS = {
    "checksum": damaged(b"middlemiddle", b"middleMIDDLE"),
    "deflated": damaged(b"b.py\xcb", b"b.py\xff", zipfile.ZIP_DEFLATED),
    "bz2": damaged(b"BZh", b"BZ?", zipfile.ZIP_BZIP2),
    "lzma": damaged(b"]\x00", b"\xff\x00", zipfile.ZIP_LZMA),
    "lzma-options": damaged(b"\x05\x00]", b"\x00\x00]", zipfile.ZIP_LZMA),
    "header": damaged(b"b.py", b"b.py").replace(b"b.py", b"B.py", 1),
}


@pytest.mark.parametrize("name", BROKEN_MEMBERS)
def test_one_broken_member_does_not_cost_the_others(tmp_path: Path, name: str) -> None:
    """The milestones before and behind it are graded; the student reads which one is broken."""
    found, notes = unpack(tmp_path, {"work.zip": BROKEN_MEMBERS[name]})
    assert found == {"work.zip/a.py": b"first", "work.zip/c.py": b"third"}
    assert [note.partition(" ")[0] for note in notes] == ["work.zip/b.py"]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_without_a_bound_are_not_unpacked(tmp_path: Path, method: int) -> None:
    """A kilobyte of them may become a gigabyte before anybody can say stop."""
    found, notes = unpack(tmp_path, {"work.zip": damaged(b"a.py", b"a.py", method)})
    assert found == {"work.zip/a.py": b"first", "work.zip/c.py": b"third"}
    assert "packed in an unusual way" in notes[0]


def test_a_name_that_cannot_be_decoded_is_no_crash(tmp_path: Path) -> None:
    """It says that it is UTF-8, and is not."""
    content = damaged("\u00e4.py".encode(), b"\xff\xff.py", name="\u00e4.py")
    found, notes = unpack(tmp_path, {"work.zip": content, "own.py": b"own"})
    assert found == {"work.zip": b"", "own.py": b"own"}
    assert notes == ["work.zip is no zip archive that can be opened."]


@given(st.data())
def test_no_damage_is_a_crash(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever bytes are changed, the other file is there."""
    content = bytearray(data.draw(st.sampled_from(list(BROKEN_MEMBERS.values()))))
    places = st.integers(0, len(content) - 1)
    for place, value in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), max_size=4)):
        content[place] = value
    found, _ = unpack(tmp_path_factory.mktemp("any"), {"z.zip": bytes(content), "own.py": b"own"})
    assert found["own.py"] == b"own"


def test_a_directory_of_too_many_names_is_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each name costs memory before the first can be looked at; all archives share one bound."""
    monkeypatch.setattr(archives, "MAX_MEMBERS", 5)
    opened = []
    real = zipfile.ZipFile

    def watched(file: io.BytesIO) -> zipfile.ZipFile:
        opened.append(file.getbuffer().nbytes)
        return real(file)

    three = zipped(dict.fromkeys(("a.py", "b.py", "c.py"), b""))
    six = zipped({f"{number}.py": b"" for number in range(6)})
    two = zipped({"x.py": b"", "y.py": b""})
    files = {"1.zip": six, "2.zip": three, "3.zip": three, "4.zip": two}
    monkeypatch.setattr(zipfile, "ZipFile", watched)
    found, notes = unpack(tmp_path, files)
    assert opened == [len(three), len(two)]
    assert [note.partition(" ")[0] for note in notes] == ["1.zip", "3.zip"]
    assert {name for name in found if name.endswith(".zip")} == {"1.zip", "3.zip"}
    assert len(found) == 7


def test_what_comes_out_of_all_archives_has_one_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Archives inside an archive count too, although they are not kept."""
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 1000)
    inner = zipped({"a.py": bytes(400)})
    packed = zipped({"inner.zip": inner, "b.py": bytes(400)})
    found, notes = unpack(tmp_path, {"1.zip": packed, "2.zip": zipped({"c.py": bytes(400)})})
    assert sorted(found) == ["1.zip/b.py", "1.zip/inner.zip/a.py", "2.zip"]
    assert notes == ["Not everything in 2.zip was unpacked."]


@pytest.mark.parametrize("name", BOMBS)
def test_hostile_archives_stay_within_bounds(tmp_path: Path, name: str) -> None:
    """Bombs, links, devices and names that lead out: a few regular files come of them."""
    subprocess.run(
        [sys.executable, ATTACKS / name / "make.py", tmp_path / "submission"], check=True
    )
    (tmp_path / "into").mkdir()
    folder, _ = unpacked(tmp_path / "submission", tmp_path / "into")
    found = [path for path in folder.rglob("*") if not path.is_dir()]
    assert all(path.is_file() and not path.is_symlink() for path in found)
    assert len(found) <= MAX_FILES
    assert sum(path.stat().st_size for path in found) <= MAX_FILES * MAX_FILE_BYTES
    assert {path.name for path in tmp_path.iterdir()} == {"submission", "into"}
