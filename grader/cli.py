"""The command line.  The only place that turns an error into an exit status."""

from __future__ import annotations

import difflib
import errno
import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter

from grader import __version__
from grader.commands.check import check
from grader.commands.diff import diff
from grader.commands.doctor import doctor
from grader.commands.export import export
from grader.commands.grade import grade
from grader.commands.gradescope import gradescope
from grader.commands.lint import lint
from grader.commands.options import say
from grader.commands.score import score
from grader.errors import ExitStatus, GraderError

COMMANDS = (check, diff, doctor, export, gradescope, lint, score)

app = App(
    name="grade",
    version=__version__,
    help="Grade submissions of a PyTorch assignment: contained, fast, and with reasons.",
    default_parameter=Parameter(negative=()),
)
app.default(grade)
for command in COMMANDS:
    app.command(command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; every error of ours becomes a message and a status."""
    try:
        status = app(
            arguments, exit_on_error=False, print_error=False, result_action="return_value"
        )
        sys.stdout.flush()
    except GraderError as error:
        say(f"grade: {error}")
        return error.exit_status
    except BrokenPipeError:  # whoever read the output has seen enough
        _discard_output()
        return ExitStatus.NEEDS_ATTENTION
    except OSError as error:
        return _cannot_write(error)
    except CycloptsError as error:
        say(f"grade: {error}\n{_command_hint(arguments)}See: grade --help")
        return ExitStatus.WRONG_USAGE
    except KeyboardInterrupt:
        say("grade: interrupted. Run the same command again to go on.")
        return ExitStatus.INTERRUPTED
    return int(status or 0)


def _cannot_write(error: OSError) -> int:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    say(
        f"grade: {error.strerror or error}: {error.filename or 'the output'}\n"
        f"What is graded already is kept: {'make room' if full else 'mend this'} and run the same "
        "command again."
    )
    if error.filename is None:
        _discard_output()
    return ExitStatus.NEEDS_ATTENTION


def _discard_output() -> None:
    """Have what could not be written to stdout go nowhere, instead of failing again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _command_hint(arguments: Sequence[str] | None) -> str:
    """A guess at a mistyped command."""
    words = list(arguments if arguments is not None else sys.argv[1:])
    names = [command.__name__ for command in COMMANDS]
    near = difflib.get_close_matches(words[0], names, n=1) if words else []
    return f"Is the command {near[0]!r} meant?\n" if near and words[0] not in names else ""
