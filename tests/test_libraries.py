"""Which libraries a worker may read and import: the standard library, and what is declared."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from grader.errors import MissingPackageError
from grader.packages import DEFAULT_PACKAGES
from grader.sandbox import distributions, libraries
from grader.sandbox.distributions import Installed, installed_files, with_dependencies
from grader.sandbox.landlock import READ, WRITE, Access, handled_access
from grader.sandbox.libraries import DeclaredFinder, readable_paths, search_paths
from tests.support import grade

METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where Python looks for distributions, and no folders of the system."""
    monkeypatch.setattr(libraries, "LIBRARY_FOLDERS", ())
    monkeypatch.setattr(libraries, "SYSTEM_PATHS", ())
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(distributions, "SEARCHED", (str(folder), *sys.path))
    monkeypatch.syspath_prepend(str(folder))
    return folder


def install(packages: Path, name: str, files: list[str], *needs: str) -> None:
    """Put a distribution into a folder, with the record that pip writes."""
    for file in files:
        (packages / file).parent.mkdir(parents=True, exist_ok=True)
        (packages / file).write_text("")
    info = packages / f"{name}-1.0.dist-info"
    info.mkdir()
    lines = [f"Requires-Dist: {need}\n" for need in needs]
    (info / "METADATA").write_text(METADATA.format(name=name) + "".join(lines))
    listed = [*files, f"{info.name}/METADATA", "../../bin/program"]
    (info / "RECORD").write_text("".join(f"{file},sha256=x,0\n" for file in listed))


def below(packages: Path, installed: Installed) -> set[str]:
    """The paths of some distributions, relative to where they lie."""
    return {path.relative_to(packages).as_posix() for path in installed.paths}


def test_packages_and_modules_of_a_distribution_are_its_own(packages: Path) -> None:
    """A package is one path, a module is another; neither programs nor neighbours come along."""
    install(packages, "alpha", ["alpha/__init__.py", "alpha/deep/data.bin", "alone.py"])
    install(packages, "other", ["other/__init__.py"])
    (packages / "stray.py").write_text("")
    installed = installed_files(["alpha"])
    assert below(packages, installed) == {"alpha", "alone.py", "alpha-1.0.dist-info"}
    assert {"alpha", "alone"} <= installed.modules
    assert installed.shared == ()


def test_a_shared_folder_is_split(packages: Path) -> None:
    """Of a namespace that two distributions fill, only the declared one's part may be read."""
    install(packages, "alpha", ["space/alpha/__init__.py", "space/note.txt"])
    install(packages, "other", ["space/other/__init__.py"])
    installed = installed_files(["alpha"])
    assert below(packages, installed) >= {"space/alpha", "space/note.txt"}
    assert not below(packages, installed) & {"space", "space/other"}
    assert installed.shared == ((packages / "space").resolve(),)


def test_dependencies_follow_from_metadata(packages: Path) -> None:
    """What a distribution needs here comes along, without extras and other systems' needs."""
    install(packages, "alpha", ["alpha.py"], "beta>=1", 'gamma; extra == "all"',
            'delta; sys_platform == "nowhere"')  # fmt: skip
    install(packages, "beta", ["beta.py"], "alpha", "absent")
    install(packages, "gamma", ["gamma.py"])
    install(packages, "delta", ["delta.py"])
    assert [found.name for found in with_dependencies(["Alpha"])] == ["alpha", "beta"]


def test_a_declared_package_must_be_installed(packages: Path) -> None:
    """The message names it and says what to do."""
    with pytest.raises(MissingPackageError, match="no-such-package") as raised:
        installed_files(["no-such-package"])
    assert "pip" in raised.value.remedy


def test_debians_packages_are_found_without_a_record(packages: Path) -> None:
    """Where there is no record of files, the names of the top level stand for them."""
    install(packages, "alpha", ["alpha/__init__.py", "alone.py"])
    info = packages / "alpha-1.0.dist-info"
    (info / "RECORD").unlink()
    (info / "top_level.txt").write_text("alpha\nalone\n")
    assert below(packages, installed_files(["alpha"])) == {"alpha", "alone.py"}


def test_nothing_of_the_grader_is_readable() -> None:
    """Neither the package, nor what tests it, nor other packages of the environment."""
    found = readable_paths(installed_files(DEFAULT_PACKAGES))
    for secret in (Path(libraries.__file__), Path(pytest.__file__), Path(json.__file__).parents[1]):
        assert secret not in found
        assert not any(parent in found for parent in secret.parents)


def test_no_readable_path_is_a_folder_of_packages() -> None:
    """Everything that is granted is one distribution's, the system's, or the standard library's."""
    found = readable_paths(installed_files(DEFAULT_PACKAGES))
    assert not [path for path in found if path.name in libraries.PACKAGE_FOLDERS]
    assert not [p for p in found if p.is_dir() and any(p.glob("**/site-packages"))]


def test_the_standard_library_is_readable_without_its_tests() -> None:
    """Modules and extensions are there."""
    names = libraries.standard_library()
    assert {"json", "random.py", "lib-dynload"} <= set(names)
    assert not {"test", "site-packages", "__pycache__"} & set(names)


def test_folders_of_the_system_that_hold_packages_are_left_out(tmp_path: Path) -> None:
    """A folder of shared libraries counts as a whole only if Python keeps nothing below it."""
    for name in ("a-linux-gnu", "b-linux-gnu/python3/dist-packages", "python3/site-packages"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "libx.so.1").write_text("")
    found = {path.name for path in libraries.system_libraries([str(tmp_path)])}
    assert found == {"libx.so.1", "a-linux-gnu"}


def test_only_searched_folders_of_libraries_stay(packages: Path) -> None:
    """A checkout, or any other folder that Python would search, is not searched by workers."""
    install(packages, "alpha", ["alpha.py"])
    kept = search_paths([str(packages), str(packages.parent), ""], installed_files(["alpha"]))
    assert kept == [str(packages)]


def test_undeclared_modules_are_not_found(packages: Path) -> None:
    """What is installed and not declared is as if it were not there."""
    install(packages, "alpha", ["alpha.py"])
    finder = DeclaredFinder(frozenset({"alpha"}))
    assert finder.find_spec("alpha") is not None
    assert finder.find_spec("pytest") is None
    assert finder.find_spec("json.decoder", [str(Path(json.__file__).parent)]) is not None


def test_a_helper_named_like_a_package_of_the_grader_is_the_students(tmp_path: Path) -> None:
    """`yaml`, `rich` and `pytest` are installed here for the grader, not for student code."""
    folder = tmp_path / "class" / "ann"
    folder.mkdir(parents=True)
    for name in ("yaml", "rich", "cyclopts"):
        (folder / f"{name}.py").write_text(f"WHO = '{name} of ann'\n")
    lines = ["import cyclopts, rich, yaml", "print(yaml.WHO, rich.WHO, cyclopts.WHO)"]
    lines += ["try:", "    import pytest", "except ModuleNotFoundError:", "    print('no pytest')"]
    (folder / "milestone2_ffn.py").write_text("\n".join(lines) + "\n")
    grade(tmp_path / "class", "--out", tmp_path / "results")
    log = (tmp_path / "results" / "students" / "ann" / "log.txt").read_text()
    assert "yaml of ann rich of ann cyclopts of ann" in log
    assert "no pytest" in log


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
