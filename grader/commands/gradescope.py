"""`grade gradescope`: the autograder archive of an assignment."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from grader.commands.options import RubricOption, default_rubric, say
from grader.errors import ArchiveError, ExitStatus, ResultsError
from grader.files import write_atomically
from grader.gradescope.archive import archive_bytes
from grader.gradescope.conversion import visibility_warning
from grader.gradescope.run import check
from grader.report.console import console
from grader.rubric import load_rubric

NEXT = "Upload it on the page Configure Autograder; docs/gradescope.md has every click."


def gradescope(
    archive: Annotated[Path, Parameter(help="File to write.")] = Path("autograder.zip"),
    /,
    *,
    torch_index: Annotated[
        str | None,
        Parameter(
            env_var="TORCH_INDEX",
            help="Address of PyTorch's index of CPU builds; `pip` for where pip looks anyway.",
        ),
    ] = None,
    rubric: RubricOption = None,
) -> int:
    """Build the archive that Gradescope's page "Configure Autograder" takes."""
    rubric_path = rubric or default_rubric()
    loaded = load_rubric(rubric_path)
    if archive.is_dir():
        raise ResultsError(f"{archive} is a folder.", "Name the file, such as autograder.zip.")
    if not torch_index:
        raise ArchiveError(
            "Gradescope's image has to be told where the CPU build of torch is to be had: the "
            "index that pip knows has a CUDA build only, which is too large for it.",
            "Add --torch-index ADDRESS, with the address of PyTorch's index of CPU builds (on its "
            '"Get started" page: Linux, Pip, CPU). `--torch-index pip` takes what pip finds.',
        )
    content = archive_bytes(loaded, rubric_path, "" if torch_index == "pip" else torch_index)
    proved = check(rubric_path)
    write_atomically(archive, content)
    warning = visibility_warning(loaded)
    if warning:
        say(warning)
    size = f"{len(content) / 1e6:.1f} MB"
    console(sys.stdout).print(f"{proved}\nWritten: {archive} ({size}).", markup=False)
    console(sys.stdout).print(NEXT, markup=False)
    return ExitStatus.DONE
