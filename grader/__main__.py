"""The command `grade`."""

import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process with its status.

    A request to terminate is an interrupt: what is graded is kept, and the next run goes on.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from grader.cli import run

        sys.exit(run())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
