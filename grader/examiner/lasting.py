"""A nursery that is replaced when something ends it.  Does not import torch."""

from __future__ import annotations

from collections.abc import Callable

from grader.errors import NurseryError
from grader.examiner.client import Nursery
from grader.examiner.messages import Job, Setup

# Ends of nurseries one after the other in which nothing was examined: then it is no accident.
MAX_FRUITLESS = 3


class LastingNursery(Nursery):
    """A nursery whose end, while it works, only costs the examinations in progress.

    A new one then gets all jobs that are not done.  Where one nursery after the other ends
    without finishing a single job, the error comes through.

    Args:
        on_replaced: told why there is a new one.
    """

    def __init__(self, on_replaced: Callable[[str], None]) -> None:
        self._on_replaced = on_replaced
        self._unfinished: dict[str, Job] = {}
        self._fruitless = 0

    def configure(self, setup: Setup) -> None:
        """Say which assignment is to be examined."""
        self._setup = setup
        super().configure(setup)

    def submit(self, job: Job) -> None:
        """Have one more submission examined."""
        self._unfinished[job.student] = job
        try:
            super().submit(job)
        except NurseryError as error:
            self._replace(error)

    def next_done(self) -> tuple[str, int]:
        """Wait for an examination to end; see `Nursery.next_done`."""
        while True:
            try:
                student, status = super().next_done()
            except NurseryError as error:
                self._replace(error)
                continue
            self._fruitless = 0
            del self._unfinished[student]
            return student, status

    def _replace(self, error: NurseryError) -> None:
        """Start another nursery and give it what is not done.

        What was in progress comes last: if one of those jobs is the reason, the others are done.
        """
        self._fruitless += 1
        if self._fruitless >= MAX_FRUITLESS:
            raise error
        self._on_replaced(f"{error.problem}\nAnother one goes on with what is missing.")
        self.__exit__(None, None, None)
        self.__enter__()
        super().configure(self._setup)
        self.wait_until_ready()
        jobs, running = list(self._unfinished.values()), self._setup.jobs
        self._unfinished = {job.student: job for job in (*jobs[running:], *jobs[:running])}
        try:
            for job in self._unfinished.values():
                super().submit(job)
        except NurseryError as again:
            self._replace(again)
