"""The `student` that hidden tests talk to: the student's names, seen across the boundary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from torch import Tensor

from grader.examiner.answers import Answer, by_position, carried, fail
from grader.examiner.explain import Doing, broken_channel_error
from grader.examiner.milestone import MilestoneUnderTest
from grader.examiner.module import Module
from grader.examiner.questions import Asked, BuildQuestion, CallQuestion, ConstantQuestion
from grader.examiner.source import reached_from
from grader.examiner.wording import value_word
from grader.sandbox.vocabulary import Built, Called, Constant, Fault, FunctionOutline, Outline

Created = TypeVar("Created")


class Student:
    """One milestone of a submission, as a hidden test sees it."""

    _under_test: MilestoneUnderTest

    def turn_to(self, under_test: MilestoneUnderTest) -> None:
        """Speak for another milestone from now on."""
        self._under_test = under_test

    @property
    def skipped(self) -> tuple[Fault, ...]:
        """Why statements at the top level of the milestone's file were left out."""
        return self._under_test.skipped

    @property
    def outline(self) -> Outline | None:
        """What the source of the milestone's file says."""
        return self._under_test.outline

    @property
    def names(self) -> frozenset[str] | None:
        """Every name that the source of the milestone's file uses, but local variables.

        `None` if that is not known.
        """
        return self._under_test.names

    def source_of(self, name: str) -> list[FunctionOutline]:
        """What the source says of a function or class and of all of the file that it calls."""
        outline = self._under_test.outline
        return reached_from(outline, name) if outline else []

    def defines(self, name: str) -> bool:
        """Whether the source defines a class or function of that name itself."""
        outline = self._under_test.outline
        if outline is None:
            return False
        names = {known.name for known in outline.classes}
        return name in names | {known.name for known in outline.functions}

    def once(self, key: str, create: Callable[[], Created]) -> Created:
        """What `create` returns, made anew only after the student's code has lost its state.

        Args:
            key: names the thing within the milestone.
            create: makes it; several tests may look at the same thing.
        """
        return self._under_test.once(key, create)

    def fresh(self) -> None:
        """Let the next question find a newly loaded file, in which nothing was asked before."""
        self._under_test.fresh()

    def constant(self, name: str) -> Any:
        """A literal at the top level of the file, as plain JSON data; `None` if not filled in.

        Raises:
            StudentFaultError: if the name is missing or is no literal.
        """
        reply = self._constant(name)
        if reply.foreign:
            word = value_word(reply.foreign).removeprefix("a ")
            raise fail(f"{name} must be a plain number or list. It is a {word}.")
        return reply.value

    def constants(self, name: str) -> list[Any]:
        """The literal at the top level of the milestone's file.

        In a file that serves several milestones each of them may have bound the name, and all
        of its first values are given.

        Raises:
            StudentFaultError: if the name is missing or is no literal.
        """
        last = self.constant(name)
        if self._under_test.own_file:
            return [last]
        return [*self._constant(name, earlier=True).earlier, last]

    def _constant(self, name: str, earlier: bool = False) -> Constant:
        asked = Asked(ConstantQuestion(name, earlier))
        reply, _ = self._under_test.ask(asked, Doing(f"reading {name}"), Constant)
        return reply

    def call(
        self,
        function: str,
        x: Tensor,
        *,
        upstream: Tensor | None = None,
        operators: bool = False,
        input_after: bool = False,
        arguments: Mapping[str, float] = MappingProxyType({}),
    ) -> Answer:
        """Call a function with one tensor.

        Args:
            function: its name.
            x: first argument.
            upstream: gradient of the loss with respect to the result.
            operators: record the names of torch functions.
            input_after: bring x as it is after the call.
            arguments: further arguments, in the order and with the names of the stub.
        """
        question = CallQuestion(function, tuple(arguments.items()), operators, input_after)
        asked = Asked(question, x, upstream)
        doing = _calling(function, x)
        reply, tensors = self._under_test.ask(asked, doing, Called)
        if input_after and not reply.input_after:
            raise broken_channel_error(doing)
        return _call_answer(function, reply, tensors)

    def call_each(self, function: str, *inputs: Tensor) -> list[Answer]:
        """Call a function with one tensor after the other, in one exchange."""
        asked = [Asked(CallQuestion(function), x) for x in inputs]
        answers = self._under_test.ask_several(asked, _calling(function, inputs[0]), Called)
        return [_call_answer(function, reply, tensors) for reply, tensors in answers]

    def build(self, name: str, *, seed: int = 0, **arguments: int) -> Module:
        """Build a module of one of the student's classes.

        Tests that ask for the same module get the same one, and have to send it the weights
        that they rely on.

        Args:
            name: the class.
            seed: torch's seed before the constructor runs.
            arguments: of the constructor, in the order and with the names of the stub.
        """
        given = ", ".join(f"{key}={value}" for key, value in arguments.items())
        question = BuildQuestion(name, tuple(arguments.items()), seed)

        def create() -> Module:
            doing = Doing(f"creating {name}", f"Arguments: {given}.")
            reply, tensors = self._under_test.ask(Asked(question), doing, Built)
            return Module(self._under_test, question, reply, tensors)

        return self.once(str(question), create)


def _calling(function: str, x: Tensor | None = None) -> Doing:
    given = "" if x is None else f"Input of shape {tuple(x.shape)}."
    return Doing(f"calling {function}", given)


def _call_answer(function: str, reply: Called, tensors: Mapping[str, Tensor]) -> Answer:
    return Answer(
        subject=function,
        output=reply.output,
        tensors=tensors,
        input_after=carried(tensors, reply.input_after) if reply.input_after else None,
        input_gradients=by_position(reply.gradients, tensors),
        parameter_gradients={},
        gradient_fault=reply.gradient_fault,
        operators=reply.operators,
    )
