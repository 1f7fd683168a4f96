"""The command `grade`."""

import sys


def main() -> None:
    """Run the command line and end the process with its status."""
    from grader.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
