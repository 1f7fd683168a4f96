"""Names from outside: matched with the assignment's, and made safe."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.intake.names import (
    MAX_ID,
    canonical_file,
    is_noise,
    is_test_file,
    safe_id,
    split_owner,
)
from grader.text import printable

WANTED = ("milestone1_layernorm.py", "milestone2_ffn.py")


@pytest.mark.parametrize(
    "name",
    [
        "milestone2_ffn.py",
        "Milestone2_FFN.PY",
        "milestone2_ffn (1).py",
        "milestone2_ffn(12).py",
        "milestone2_ffn-2.py",
        "milestone2_ffn_2.py",
        "milestone2_ffn copy.py",
        "milestone2_ffn - copy 2.py".replace(" - ", " "),
        "milestone2-ffn.py",
        "milestone2 ffn.py",
    ],
)
def test_a_file_is_known_by_its_stem(name: str) -> None:
    """Case, separators and what a browser appends to a second download do not matter."""
    assert canonical_file(name, WANTED) == "milestone2_ffn.py"


@pytest.mark.parametrize(
    "name",
    [
        "milestone2_ffn.txt",
        "milestone2_ffn",
        "milestone3_ffn.py",
        "my_milestone2_ffn.py",
        "milestone2_ffn_old.py",
        "milestone2_ffn_2024.py",
        ".py",
        "",
    ],
)
def test_another_name_is_not_taken_for_it(name: str) -> None:
    """A file that only resembles the assignment's is not silently used."""
    assert canonical_file(name, WANTED) is None


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("jdoe_milestone1_layernorm.py", "jdoe"),
        ("jdoe-milestone1_layernorm.py", "jdoe"),
        ("jdoe milestone1 layernorm.py", "jdoe"),
        ("jdoe.milestone1_layernorm.py", "jdoe"),
        ("jdoe__milestone1_layernorm (1).py", "jdoe"),
        ("jdoe_MILESTONE1_LayerNorm-2.py", "jdoe"),
        ("van_der_berg_milestone1_layernorm.py", "van_der_berg"),
        ("Mary-Ann O'Neil - milestone1_layernorm.py", "Mary-Ann O'Neil"),
        ("jdoe_2_milestone1_layernorm.py", "jdoe_2"),
        ("Müller_milestone1_layernorm.py", "Müller"),
        ("İpek_milestone1_layernorm.py", "İpek"),
        ("李雷_milestone1_layernorm.py", "李雷"),
    ],
)
def test_the_owner_stands_in_front_of_the_file(name: str, owner: str) -> None:
    """Whatever separates them, the owner keeps their own spelling."""
    assert split_owner(name, WANTED) == (owner, "milestone1_layernorm.py")


@pytest.mark.parametrize(
    "name",
    ["milestone1_layernorm.py", "_milestone1_layernorm.py", "jdoe.py", "jdoe_milestone1.txt"],
)
def test_without_an_owner_there_is_none(name: str) -> None:
    """The assignment's own name, a separator alone and other files have no owner."""
    assert split_owner(name, WANTED) is None


@pytest.mark.parametrize(
    "name",
    ["__MACOSX", "__pycache__", ".git", ".DS_Store", "._milestone1.py", "~$x.py", "venv", "VENV"],
)
def test_noise_is_known_by_its_name(name: str) -> None:
    """What systems and tools leave behind is no part of a submission."""
    assert is_noise(name)


@pytest.mark.parametrize("name", ["jdoe", "git", "src", "milestone1_layernorm.py", "_private"])
def test_ordinary_names_are_no_noise(name: str) -> None:
    """A student's own folders are looked into."""
    assert not is_noise(name)


@pytest.mark.parametrize("name", ["conftest.py", "test_public.py", "ffn_test.py"])
def test_tests_are_no_answers(name: str) -> None:
    """What pytest would collect is passed over."""
    assert is_test_file(name)


@pytest.mark.parametrize("name", ["testing.py", "my_test_ffn.py", "contest.py", "milestone1.py"])
def test_other_files_are_answers(name: str) -> None:
    """The word test somewhere in a name makes no test."""
    assert not is_test_file(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jdoe", "jdoe"),
        ("José Núñez", "Jose-Nunez"),
        ("a\nb", "a-b"),
        ("\x1b[31mred\x1b[0m", "31mred-0m"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", "student"),
        ("", "student"),
        ("李雷", "student"),
        ("x" * 200, "x" * MAX_ID),
        ("jdoe@example.org", "jdoe@example.org"),
    ],
    ids=[
        "plain",
        "accents",
        "newline",
        "escape",
        "path",
        "dots",
        "empty",
        "chinese",
        "long",
        "mail",
    ],
)
def test_an_id_is_a_safe_folder_name(name: str, expected: str) -> None:
    """Plain ASCII, short, without separators or dots at its start."""
    assert safe_id(name, set()) == expected


def test_ids_that_would_be_equal_are_numbered() -> None:
    """Two students never share a folder, not even where case does not count."""
    taken: set[str] = set()
    names = ["李雷", "韩梅", "Ann", "ann", "ANN"]
    assert [safe_id(name, taken) for name in names] == [
        "student",
        "student-2",
        "Ann",
        "ann-2",
        "ANN-3",
    ]


@given(st.lists(st.text(), max_size=6))
def test_any_names_give_safe_and_different_ids(names: list[str]) -> None:
    """For whatever names: as many different ids, of harmless characters only."""
    taken: set[str] = set()
    ids = [safe_id(name, taken) for name in names]
    assert len({identifier.lower() for identifier in ids}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_@+][A-Za-z0-9._@+-]{0,70}", found) for found in ids)


@given(st.text())
def test_a_printable_text_has_no_control_characters(text: str) -> None:
    """Nothing can move a terminal's cursor or turn the direction of writing."""
    shown = printable(text)
    assert shown.isprintable()
    assert len(shown) == len(text)


def test_a_printable_text_stays_as_it_is() -> None:
    """Letters of any language are shown."""
    assert printable("José 李雷 a_b") == "José 李雷 a_b"
