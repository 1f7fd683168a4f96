"""`python -m tests.dying_grader N ...`: the command `grade`, killed while it writes its Nth file.

At that moment the text is in a temporary file that has not got its name yet.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys

from grader import cli


def main() -> None:
    """Run the command with a sync that kills at its Nth call."""
    last = int(sys.argv.pop(1))
    calls = itertools.count(1)
    sync = os.fsync

    def dying_sync(descriptor: int) -> None:
        if next(calls) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        sync(descriptor)

    vars(os)["fsync"] = dying_sync
    sys.exit(cli.run())


if __name__ == "__main__":
    main()
