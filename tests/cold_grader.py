"""`python -m tests.cold_grader`: the command `grade`, with every worker started cold.

The command itself always takes the warm way on Linux; this is how tests take the other one.
"""

from __future__ import annotations

import functools
import sys

from grader import cli
from grader.commands import grade
from grader.executor import Local


def main() -> None:
    """Run the command with another default."""
    vars(grade)["Local"] = functools.partial(Local, cold=True)
    sys.exit(cli.run())


if __name__ == "__main__":
    main()
