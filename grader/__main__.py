"""The command `grade`."""

import sys

from grader.examiner.launch import discard_early, launch_early


def main() -> None:
    """Run the command line and end the process with its status."""
    launch_early(sys.argv[1:])
    try:
        from grader.cli import run

        status = run()
    finally:
        discard_early()
    sys.exit(status)


if __name__ == "__main__":
    main()
