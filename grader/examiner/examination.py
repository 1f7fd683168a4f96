"""The examination of one submission: its milestones, its time, and what came of it."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType

from grader.errors import StudentFaultError
from grader.examiner.checks import Draw
from grader.examiner.diagnosis.finding import Budget, Finding
from grader.examiner.foresight import NO_PLAN, Plan
from grader.examiner.limits import Limits
from grader.examiner.messages import Setup, SuiteMilestone
from grader.examiner.milestone import MilestoneUnderTest
from grader.examiner.source import Sources, Telling, names_are_enough
from grader.examiner.student import Student
from grader.examiner.transport import InProcess, Sandboxed, Transport
from grader.sandbox.channel import Spawner
from grader.sandbox.policy import WorkerPolicy
from grader.text import printable

# Time-outs come from outside the worker; its own limit on processor time is a second line.
CPU_SLACK_SECONDS = 5
MAX_FAULT = 2_000  # characters of a traceback of the diagnosis


class Examination:
    """One submission under examination.

    Attributes:
        findings: the diagnosis of each milestone that did not pass, as plain data.

    Args:
        setup: the assignment.
        candidates: files to try for each milestone id.
        folder: the submission's files.
        spawner: starts workers; `None` runs trusted code in this process.
        plans: questions to ask ahead, by suite.
        transport: to the code, if it is not to be made here.
        limits: what this process may spend on it; `None` for our own code.
    """

    def __init__(
        self,
        setup: Setup,
        candidates: Mapping[str, Sequence[str]],
        folder: Path,
        spawner: Spawner | None,
        plans: Mapping[str, Plan] = MappingProxyType({}),
        transport: Transport | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._plans = plans
        self._limits = limits
        self._setup = setup
        self._folder = folder
        self._spawner = spawner
        self._candidates = candidates
        self._under_test: dict[str, MilestoneUnderTest] = {}
        self._transport = transport or self._make_transport()
        self._sources = Sources(self._transport)
        self.student = Student()
        self.draw = Draw("")
        self.findings: dict[str, dict[str, object]] = {}
        self._budget = Budget()

    def turn_to(
        self,
        suite: str,
        wanted: Sequence[str],
        test: str,
        telling: Telling = names_are_enough,
    ) -> None:
        """Make `student` and `draw` those of one test.

        Args:
            suite: file name of the suite; it says which milestone is examined.
            wanted: names that the suite needs.
            test: id of the test.
            telling: see `Sources.look_ahead`.
        """
        self.draw.turn_to(test)
        milestone = self._milestone_of(suite)
        if milestone.id not in self._under_test:
            self._under_test[milestone.id] = MilestoneUnderTest(
                self._transport,
                milestone.file,
                self._candidates.get(milestone.id, ()),
                wanted,
                self._setup.question_seconds,
                self._sources,
                [other.file for other in self._setup.milestones if other is not milestone],
                self._plans.get(suite, NO_PLAN),
                telling,
                self._folder,
            )
        self.student.turn_to(self._under_test[milestone.id])

    def limited(self) -> AbstractContextManager[None]:
        """Within it, what this process computes counts for the submission; see `Limits.kept`."""
        return nullcontext() if self._limits is None else self._limits.kept()

    def shared_a_worker(self, suite: str) -> bool:
        """Whether a milestone ran in a worker in which another one's code had run before."""
        under_test = self._under_test.get(self._milestone_of(suite).id)
        return under_test is not None and under_test.shared

    def start_over(self, suite: str) -> None:
        """Forget a milestone, and examine it in a worker of its own."""
        self._under_test.pop(self._milestone_of(suite).id)
        self._transport.restart()

    def plan_of(self, suite: str) -> Plan:
        """What was asked of the milestone."""
        return self._under_test[self._milestone_of(suite).id].plan

    def _milestone_of(self, suite: str) -> SuiteMilestone:
        return next(m for m in self._setup.milestones if m.suite == suite)

    def diagnose(self, suite: str, module: object) -> None:
        """Have a suite name what is wrong, if it can; a fault of the diagnosis costs nobody points.

        Args:
            suite: its file name.
            module: the suite, which may have a function `DIAGNOSE`.
        """
        diagnose = getattr(module, "DIAGNOSE", None)
        if diagnose is None:
            return
        self._budget.start()
        try:
            with self.limited():
                finding = diagnose(self.student, self._budget).as_json()
        except StudentFaultError:  # whoever takes too much is told so by the tests
            finding = Finding().as_json()
        except Exception as error:
            finding = {"fault": "".join(traceback.format_exception(error))[-MAX_FAULT:]}
        finally:
            self._budget.stop()
        self.findings[self._milestone_of(suite).id] = finding

    def notes(self) -> dict[str, list[str]]:
        """What the student should know besides, by milestone id."""
        return {
            name: [printable(note) for note in under.notes]
            for name, under in self._under_test.items()
        }

    def log(self) -> str:
        """What the submission printed, by process; for the instructor."""
        printed = getattr(self._transport, "output", [])
        return "\n".join(f"== process {n} ==\n{text}" for n, text in enumerate(printed, 1) if text)

    @property
    def disturbed(self) -> bool:
        """Whether a worker was killed from outside: by the kernel short of memory, or by whom."""
        return bool(getattr(self._transport, "killed", False))

    def end(self) -> None:
        """End the worker."""
        self._transport.end()

    def _make_transport(self) -> Transport:
        if self._spawner is None:
            return InProcess(self._folder)
        policy = WorkerPolicy(
            folder=str(self._folder),
            memory_mb=self._setup.memory_mb,
            cpu_seconds=int(self._setup.submission_seconds) + CPU_SLACK_SECONDS,
            packages=self._setup.packages,
            walls=self._setup.walls,
        )
        return Sandboxed(self._spawner, policy, self._seconds_left)

    def _seconds_left(self) -> float:
        left = self._setup.submission_seconds - self._transport.counted_seconds
        return max(0.0, min(self._setup.question_seconds, left))
