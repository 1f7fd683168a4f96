"""Questions that are sure to come, put all at once.

Going back and forth between two processes takes most of a question's time.  What the hidden
tests ask of code that passes is known beforehand: what they ask of the solutions.  So as soon
as a test puts the first of those questions, all of them go in one exchange, in the same order,
and the answers wait until they are asked for.  An answer is used only for the very same
question with equal tensors; everything else is asked when it comes up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from torch import Tensor

from grader.examiner.questions import Asked, BuildQuestion, Question
from grader.sandbox.vocabulary import Built, Faulted, Reply

Answered = tuple[Reply, Mapping[str, Tensor]]
# Names, shapes and training of a module's parameters, and the names of its children.
Form = tuple[tuple[tuple[str, tuple[int, ...], bool], ...], tuple[str, ...]]
# As many as the boundary takes in one exchange.
MAX_TOGETHER = 64


@dataclass(frozen=True)
class Plan:
    """The questions of one suite to the solution.

    Attributes:
        asked: in their order.
        forms: form of each module that was built.
    """

    asked: tuple[Asked, ...] = ()
    forms: Mapping[BuildQuestion, Form] = field(default_factory=dict)

    @cached_property
    def of_the_file(self) -> Sequence[Asked]:
        """Those that need no module."""
        return [one for one in self.asked if one.module is None]

    @cached_property
    def of_modules(self) -> Sequence[Asked]:
        """Those to modules."""
        return [one for one in self.asked if one.module is not None]


NO_PLAN = Plan()


class Foresight:
    """Answers that were asked for ahead, for one load of one milestone's file.

    Args:
        plan: what will probably be asked.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._alike: set[BuildQuestion] = set()
        self._waiting: dict[Question, list[tuple[Asked, Answered]]] = {}
        self._first = plan.of_the_file
        self._then = plan.of_modules

    def due(self, asked: Asked) -> Sequence[Asked]:
        """The questions to put now that one of them has come up; each is due once.

        What needs no module goes first.  Modules are run once they are known to have the
        parameters and children that the solution's have.
        """
        of_module = asked.module is not None
        stage = self._then if of_module else self._first
        stage = [one for one in stage if one.module is None or one.module in self._alike]
        if not any(asked.same_as(one) for one in stage):
            return []
        if of_module:
            self._then = []
        else:
            self._first = []
        return stage[:MAX_TOGETHER]

    def keep(self, asked: Sequence[Asked], answers: Sequence[Answered]) -> None:
        """Keep answers until they are asked for.

        A module that raised may hold other parameters than it was sent: what it answered
        after that does not count.
        """
        raised: set[BuildQuestion | None] = set()
        for one, answer in zip(asked, answers, strict=True):
            if one.module in raised:
                continue
            self._waiting.setdefault(one.question, []).append((one, answer))
            reply, tensors = answer
            if isinstance(reply, Faulted) and one.module is not None:
                raised.add(one.module)
            if isinstance(reply, Built) and isinstance(one.question, BuildQuestion):
                known = self._plan.forms.get(one.question)
                if known is not None and form_of(reply, tensors) == known:
                    self._alike.add(one.question)

    def take(self, asked: Asked) -> Answered | None:
        """The answer to a question, if it is there; it is given once."""
        waiting = self._waiting.get(asked.question, [])
        for index, (one, answer) in enumerate(waiting):
            if one.same_as(asked):
                del waiting[index]
                return answer
        return None


def form_of(built: Built, tensors: Mapping[str, Tensor]) -> Form | None:
    """The form of a module; `None` if its claims do not hold together."""
    if any(claim.key not in tensors for claim in built.parameters):
        return None
    parameters = tuple(
        (claim.name, tuple(tensors[claim.key].shape), claim.requires_grad)
        for claim in built.parameters
    )
    return parameters, tuple(child.name for child in built.children)
