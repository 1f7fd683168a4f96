"""One milestone of one submission under examination: which file serves it, and asking it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from torch import Tensor

from grader.errors import (
    FrameError,
    ScratchFullError,
    StudentFaultError,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from grader.examiner.exchange import Exchange
from grader.examiner.explain import (
    Doing,
    broken_channel_error,
    crashed_error,
    fault_error,
    load_error,
    missing_error,
    no_file_error,
    scratch_error,
    sentence,
    timeout_error,
)
from grader.examiner.foresight import NO_PLAN, Answered, Foresight, Form, Plan, form_of
from grader.examiner.handed_in import HandedIn
from grader.examiner.questions import Asked, BuildQuestion
from grader.examiner.source import Sources, Telling, names_are_enough
from grader.examiner.transport import Transport
from grader.model import Verdict
from grader.sandbox.vocabulary import Built, Fault, Faulted, Loaded, Outline, Reply

# After so many time-outs in one milestone the rest of it is not asked any more, so that a loop
# without end in one file leaves time for the others.
MAX_TIMEOUTS = 2

ReplyType = TypeVar("ReplyType", bound=Reply)
Created = TypeVar("Created")


class MilestoneUnderTest:
    """Loads the milestone's file on the first question, and again after a crash.

    Args:
        transport: how to reach the student's code.
        file: name of the milestone's file in the assignment.
        candidates: files of the submission to try, best first.
        wanted: names that the suite needs; they tell which candidate is the right one.
        question_seconds: for the message of a time-out.
        sources: what the submission's files say.
        other_files: files of the other milestones, whose faults are not this one's.
        plan: questions to ask ahead.
        telling: see `Sources.look_ahead`.
        folder: the submission's files; without it no numbers of lines are told.

    Attributes:
        notes: what the student should know besides.
        shared: whether other code of the submission had run in the worker before the last load.
    """

    def __init__(
        self,
        transport: Transport,
        file: str,
        candidates: Sequence[str],
        wanted: Sequence[str],
        question_seconds: float,
        sources: Sources | None = None,
        other_files: Sequence[str] = (),
        plan: Plan = NO_PLAN,
        telling: Telling = names_are_enough,
        folder: Path | None = None,
    ) -> None:
        self.transport = transport
        self.file = file
        self.notes: list[str] = []
        self._candidates = candidates
        self._wanted = wanted
        self._sources = sources or Sources(transport)
        self._other_files = other_files
        self._plan = plan
        self._telling = telling
        self._handed_in = HandedIn(folder) if folder else None
        self._journal: list[Asked] = []
        self._forms: dict[BuildQuestion, Form] = {}
        self._exchange = Exchange(transport, file)
        self._foresight = Foresight(plan)
        self._question_seconds = question_seconds
        self._chosen: str | None = None
        self._definitions_only = False
        self.shared = False
        self._loaded: Loaded | None = None
        self._generation = -1
        self._kept: dict[str, Any] = {}
        self._refusal: StudentFaultError | None = None
        self._timeouts = 0

    def ask(
        self, asked: Asked, doing: Doing, expect: type[ReplyType]
    ) -> tuple[ReplyType, Mapping[str, Tensor]]:
        """Put a question to the loaded file.

        Args:
            asked: the question.
            doing: what is asked, for messages.
            expect: the kind of reply that answers it.

        Raises:
            StudentFaultError: if the file cannot be loaded, or its code does not answer.
        """
        return self.ask_several([asked], doing, expect)[0]

    def ask_several(
        self, asked: Sequence[Asked], doing: Doing, expect: type[ReplyType]
    ) -> list[tuple[ReplyType, Mapping[str, Tensor]]]:
        """Put several questions in one exchange; their answers come in the same order.

        Raises:
            StudentFaultError: if the code does not answer one of them.
        """
        if self._refusal is not None:
            raise self._refusal
        self._ensure_loaded()
        due = self._foresight.due(asked[0])
        if due:
            self._look_ahead(due)
        answers = [self._foresight.take(one) for one in asked]
        known = [answer for answer in answers if answer is not None]
        if len(known) < len(asked):
            known = self._guarded(lambda: self._exchange.ask(asked), doing)
        self._remember(asked, known)
        return [
            (self._expected(one, reply, doing, expect), tensors)
            for one, (reply, tensors) in zip(asked, known, strict=True)
        ]

    def _remember(self, asked: Sequence[Asked], answers: Sequence[Answered]) -> None:
        self._journal += asked
        for one, (reply, tensors) in zip(asked, answers, strict=True):
            form = form_of(reply, tensors) if isinstance(reply, Built) else None
            if form is not None and isinstance(one.question, BuildQuestion):
                self._forms[one.question] = form

    @property
    def plan(self) -> Plan:
        """What was asked, to be asked ahead of another submission."""
        return Plan(tuple(self._journal), self._forms)

    def _look_ahead(self, due: Sequence[Asked]) -> None:
        """Ask for what will come up; where that goes wrong, each question is asked by itself.

        The time of a failed attempt was not the student's idea and is not counted.
        """
        counted = self.transport.counted_seconds
        try:
            self._foresight.keep(due, self._exchange.ask(due))
        except (FrameError, WorkerCrashedError, WorkerTimeoutError):
            self._plan = NO_PLAN
            try:
                self._ensure_loaded()
            finally:
                self.transport.counted_seconds = counted

    def _expected(
        self, asked: Asked, reply: Reply, doing: Doing, expect: type[ReplyType]
    ) -> ReplyType:
        """The reply, if it is of the kind that answers the question."""
        if isinstance(reply, Faulted):
            if reply.fault.origin == "not-found":
                raise self._missing(asked.name)
            raise fault_error(self._vetted(reply.fault), doing)
        if not isinstance(reply, expect):
            raise broken_channel_error(doing)
        return reply

    def once(self, key: str, create: Callable[[], Created]) -> Created:
        """What `create` returns, kept until the student's code has lost its state."""
        if self._refusal is None:
            self._ensure_loaded()
        if key not in self._kept:
            self._kept[key] = create()
        kept: Created = self._kept[key]
        return kept

    def fresh(self) -> None:
        """Let the next question find a newly loaded file."""
        self.transport.restart()
        self._loaded = None

    def _guarded(self, ask: Callable[[], Created], doing: Doing) -> Created:
        """What `ask` brings from the worker; what goes wrong there becomes the student's fault."""
        try:
            return ask()
        except WorkerTimeoutError as timeout:
            self._loaded = None
            self._timeouts += 1
            error = timeout_error(doing, timeout.seconds, self._question_seconds)
            if self._timeouts >= MAX_TIMEOUTS:
                self._refusal = error
            raise error from None
        except ScratchFullError:
            self._loaded = None
            raise scratch_error(doing) from None
        except WorkerCrashedError:
            self._loaded = None
            raise crashed_error(doing, getattr(self.transport, "status", None)) from None
        except FrameError:
            self._loaded = None
            raise broken_channel_error(doing) from None

    def _ensure_loaded(self) -> None:
        """Load the chosen file, or find the candidate that defines what is wanted."""
        if self._loaded is not None and self._generation == self.transport.generation:
            return
        self._kept.clear()
        if self._chosen is None:
            self._choose()
        else:
            self._loaded = self._load_file(self._chosen)
        self._exchange = Exchange(self.transport, self._chosen or self.file)
        self._foresight = Foresight(self._plan)

    def _choose(self) -> None:
        first_error: StudentFaultError | None = None
        first_found: tuple[str, Loaded] | None = None
        for candidate in self._candidates:
            try:
                loaded = self._load_file(candidate)
            except StudentFaultError as error:
                if first_error is None and first_found is None and not self._is_others(candidate):
                    first_error = error
                self.fresh()
                if self._is_own(candidate):
                    break
                continue
            if any(name in loaded.names for name in self._wanted):
                self._settle(candidate, loaded)
                return
            if first_found is None and first_error is None:
                first_found = (candidate, loaded)
            self.fresh()
        self._give_up(first_error, first_found)

    def _settle(self, candidate: str, loaded: Loaded) -> None:
        self._chosen = candidate
        self._loaded = loaded
        if not self._is_own(candidate):
            self.notes.append(self._other_file_note(candidate))
        self.notes += [_skipped_note(fault_sentence) for fault_sentence in _sentences(loaded)]

    def _give_up(self, error: StudentFaultError | None, found: tuple[str, Loaded] | None) -> None:
        """No candidate serves: remember why, with the likeliest file in view."""
        if error is not None:
            self._refusal = error
        elif found is not None and self._is_own(found[0]):
            self._chosen = found[0]
            self._loaded = self._load_file(found[0])
            return
        else:
            self._refusal = no_file_error(self.file, self._candidates)
        raise self._refusal

    def _other_file_note(self, candidate: str) -> str:
        wanted = " or ".join(self._wanted)
        if any(self._is_own(other) for other in self._candidates):
            return f"{self.file} does not define {wanted}; {candidate} was graded in its place."
        return f"There is no {self.file}; {candidate} was graded in its place."

    @property
    def skipped(self) -> tuple[Fault, ...]:
        """Why statements at the top level of the loaded file were left out."""
        return self._loaded.skipped if self._loaded else ()

    @property
    def outline(self) -> Outline | None:
        """What the source of the file says that serves the milestone, or would serve it."""
        file = self._likely_file
        return self._sources.outline(file) if file else None

    @property
    def names(self) -> frozenset[str] | None:
        """Every name that the source of that file uses; `None` if that is not known."""
        file = self._likely_file
        return self._sources.names(file) if file else None

    @property
    def _likely_file(self) -> str | None:
        return self._chosen or next((c for c in self._candidates if self._is_own(c)), None)

    @property
    def own_file(self) -> bool:
        """Whether the milestone is served by a file of its own name."""
        return self._chosen is None or self._is_own(self._chosen)

    def _is_others(self, candidate: str) -> bool:
        """Whether a file carries another milestone's name."""
        return candidate.rpartition("/")[2] in self._other_files

    def _is_own(self, candidate: str) -> bool:
        return candidate.rpartition("/")[2] == self.file

    def _load_file(self, candidate: str) -> Loaded:
        """Load one file; one whose top level never ends, or dies, once more without it."""
        was_fresh = self.transport.fresh
        try:
            return self._load_once(candidate)
        except StudentFaultError as error:
            if error.verdict != Verdict.CRASHED.value or was_fresh:
                return self._load_definitions(candidate, error)
        # Another milestone's code had run in that worker, and may be what disturbed it.
        try:
            return self._load_once(candidate)
        except StudentFaultError as error:
            return self._load_definitions(candidate, error)

    def _load_definitions(self, candidate: str, error: StudentFaultError) -> Loaded:
        """Load a file once more, without its top level, if that was what never ended or died.

        Raises:
            StudentFaultError: the given one, if something else was wrong; or a new one.
        """
        tops = (Verdict.TIMEOUT.value, Verdict.CRASHED.value)
        if error.verdict not in tops or self._definitions_only:
            raise error
        self._definitions_only = True
        loaded = self._load_once(candidate)
        self._timeouts = 0
        self._refusal = None
        self.notes.append(
            f"{error.message} Only the imports, functions and classes of {candidate} were "
            "used. Put such code under: if __name__ == '__main__':"
        )
        return loaded

    def _load_once(self, candidate: str) -> Loaded:
        doing = Doing(f"loading {candidate}")
        question = {
            "question": "load",
            "file": candidate,
            "definitions_only": self._definitions_only,
        }
        self._sources.look_ahead(candidate, self._telling)
        self.shared = not self.transport.fresh
        reply, _ = self._guarded(lambda: self.transport.ask(question, {}), doing)
        if isinstance(reply, Faulted):
            raise load_error(self._vetted(reply.fault), doing)
        if not isinstance(reply, Loaded):
            raise broken_channel_error(doing)
        self._generation = self.transport.generation
        skipped = tuple(self._vetted(fault) for fault in reply.skipped)
        return reply.model_copy(update={"skipped": skipped})

    def _vetted(self, fault: Fault) -> Fault:
        """A fault that points to a line of the submission's files, or nowhere."""
        paths: dict[str, list[str]] = {}
        for candidate in self._candidates:
            paths.setdefault(candidate.rpartition("/")[2], []).append(candidate)
        file = fault.file if fault.file in paths else ""
        known = self._handed_in is not None and self._handed_in.has_line(file, fault.line, paths)
        return fault.model_copy(update={"file": file, "line": fault.line if known else 0})

    def _missing(self, name: str) -> StudentFaultError:
        assert self._loaded is not None
        kind = "constant" if "_" in name and name.isupper() else "function"
        if kind == "function" and name[:1].isupper():
            kind = "class"
        file = self._chosen or self.file
        return missing_error(name, kind, file, self._loaded)


def _sentences(loaded: Loaded) -> list[str]:
    return [sentence(fault, "the file was loaded") for fault in loaded.skipped[:3]]


def _skipped_note(text: str) -> str:
    return f"{text} This statement was left out; the rest of the file was graded."
