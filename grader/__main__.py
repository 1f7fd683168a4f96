"""The command `grade`."""

import gc
import signal
import sys

from grader.examiner.launch import discard_early, launch_early

INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process with its status.

    A request to terminate is an interrupt: what is graded is kept, and the next run goes on.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        launch_early(sys.argv[1:])
        from grader.cli import run

        gc.freeze()  # nothing that was imported is garbage; looking for some there takes a while
        status = run()
    except KeyboardInterrupt:
        status = INTERRUPTED
    finally:
        discard_early()
    sys.exit(status)


if __name__ == "__main__":
    main()
