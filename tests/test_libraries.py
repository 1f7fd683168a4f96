"""Which paths a worker may read: libraries, and nothing that is hidden among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.sandbox import libraries
from grader.sandbox.landlock import READ, WRITE, Access, handled_access
from grader.sandbox.libraries import readable_paths


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages with the grader among them, and no system paths."""
    monkeypatch.setattr(libraries, "SYSTEM_PATHS", ())
    for name in ("alpha", "grader/assignment", "grader_tools", "zeta"):
        (tmp_path / "site-packages" / name).mkdir(parents=True)
    (tmp_path / "site-packages" / "module.py").write_text("")
    return tmp_path / "site-packages"


def test_folder_without_secrets_is_one_path(packages: Path) -> None:
    """Where nothing is hidden the whole folder may be read."""
    assert readable_paths([str(packages)], [packages.parent / "elsewhere"]) == [packages]


def test_hidden_package_is_left_out(packages: Path) -> None:
    """Its neighbours may be read one by one, also one whose name begins alike."""
    found = readable_paths([str(packages)], [packages / "grader"])
    assert found == [packages / name for name in ("alpha", "grader_tools", "module.py", "zeta")]


def test_deeply_hidden_folder_is_left_out(packages: Path) -> None:
    """What lies beside the hidden folder, at every level above it, may still be read."""
    (packages / "grader" / "other").mkdir()
    found = readable_paths([str(packages)], [packages / "grader" / "assignment"])
    assert packages / "grader" / "other" in found
    assert not any(path in (packages, packages / "grader") for path in found)


def test_root_that_is_hidden_gives_nothing(packages: Path) -> None:
    """A search path inside the hidden folder is not readable at all."""
    assert readable_paths([str(packages / "grader" / "assignment")], [packages / "grader"]) == []


def test_link_to_the_hidden_folder_is_not_followed(packages: Path) -> None:
    """A link beside the hidden folder opens no way into it."""
    (packages / "link").symlink_to(packages / "grader")
    assert packages / "link" not in readable_paths([str(packages)], [packages / "grader"])


def test_path_below_another_is_listed_once(packages: Path) -> None:
    """A folder makes a rule for what lies below it needless."""
    assert readable_paths([str(packages), str(packages / "alpha")], []) == [packages]


def test_this_grader_is_hidden() -> None:
    """Tests, rubric and solutions of the running grader are not among the readable paths."""
    root = libraries.checkout()
    secrets = [libraries.PACKAGE]
    if root is not None:
        secrets += [root / "rubric.yaml", root / "solutions", root / "tests"]
    assert set(secrets) <= set(libraries.hidden_paths())


def test_environment_inside_the_checkout_is_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Libraries that were installed into the checkout's own folder stay in reach."""
    monkeypatch.setattr(libraries, "SYSTEM_PATHS", ())
    monkeypatch.setattr(libraries, "PACKAGE", tmp_path / "grader")
    monkeypatch.setattr("sys.prefix", str(tmp_path / ".venv"))
    packages = tmp_path / ".venv" / "lib" / "site-packages"
    for folder in (packages, tmp_path / "grader", tmp_path / "solutions"):
        folder.mkdir(parents=True)
    (tmp_path / "rubric.yaml").write_text("")
    hidden = libraries.hidden_paths()
    assert set(hidden) == {tmp_path / "grader", tmp_path / "rubric.yaml", tmp_path / "solutions"}
    assert readable_paths([str(packages)], hidden) == [packages]


@pytest.mark.parametrize(
    ("abi", "newest"),
    [(1, Access.MAKE_SYM), (2, Access.REFER), (3, Access.TRUNCATE), (4, Access.TRUNCATE),
     (5, Access.IOCTL_DEV), (7, Access.IOCTL_DEV)],
)  # fmt: skip
def test_handled_rights_follow_the_abi(abi: int, newest: Access) -> None:
    """A kernel is asked for the rights that it knows, up to the newest."""
    handled = handled_access(abi)
    assert newest in handled
    assert handled & ~Access((newest.value << 1) - 1) == Access(0)


def test_reading_rights_allow_no_change() -> None:
    """Nothing that may be read only may be written, made or removed."""
    changing = WRITE & ~READ
    assert READ & changing == Access(0)
    assert Access.EXECUTE not in READ | WRITE
