"""Two graded classes compared, student by student, criterion by criterion: pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from grader.model import CriterionScore, MilestoneScore, Scorecard, Status

Kind = Literal["added", "removed", "changed"]
# Points have two decimals; sums of them are compared as such.
DECIMALS = 2
ROUNDING = 0.01


@dataclass(frozen=True)
class Points:
    """A score with the most that can be had; no score while a submission needs attention."""

    score: float | None
    max_score: float


@dataclass(frozen=True)
class Change:
    """The points of something before and after; `None` where there is no such thing."""

    id: str
    old: Points | None
    new: Points | None

    @property
    def differs(self) -> bool:
        """Whether the score is another one, or stands on one side only."""
        return _score(self.old) != _score(self.new)

    @property
    def difference(self) -> float | None:
        """Points gained or lost, where both scores are known."""
        old, new = _score(self.old), _score(self.new)
        return None if old is None or new is None else round(new - old, DECIMALS)

    @property
    def max_differs(self) -> bool:
        """Whether the most that can be had is another."""
        return None not in (self.old, self.new) and _max(self.old) != _max(self.new)

    @property
    def dropped(self) -> bool:
        """Whether a known score has become lower.

        Where the most that can be had is another, by the share of it: 12 of 12 before and 10 of 10
        now is no drop.
        """
        old, new = self.old, self.new
        if old is None or new is None or old.score is None or new.score is None:
            return False
        if not self.max_differs:
            return new.score < old.score
        return _share(new) + ROUNDING / max(1.0, min(old.max_score, new.max_score)) < _share(old)


@dataclass(frozen=True)
class MilestoneChange:
    """A milestone whose score, or a criterion's, is another one."""

    total: Change
    criteria: tuple[Change, ...]


@dataclass(frozen=True)
class StudentChange:
    """A student who is new or gone, or of whom a status or a score is another one."""

    student: str
    kind: Kind
    old_status: Status | None
    new_status: Status | None
    total: Change
    milestones: tuple[MilestoneChange, ...] = ()

    @property
    def dropped(self) -> bool:
        """Whether the student's score or part of it has become lower."""
        parts = [change for m in self.milestones for change in (m.total, *m.criteria)]
        return any(change.dropped for change in (self.total, *parts))


@dataclass(frozen=True)
class RubricChanges:
    """How the rubrics behind two classes differ; ids as `milestone` or `milestone/criterion`.

    Attributes:
        max_scores: parts whose most points differ, by id, and the whole by the id `score`.
        added: parts that only the new rubric has.
        removed: parts that only the old rubric has.
    """

    max_scores: tuple[Change, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.max_scores or self.added or self.removed)


@dataclass(frozen=True)
class ClassDiff:
    """What differs between two graded classes.

    Attributes:
        students: those who changed, by id.
        total: how many students there are in both classes together.
    """

    students: tuple[StudentChange, ...]
    rubric: RubricChanges
    total: int

    def __bool__(self) -> bool:
        return bool(self.students or self.rubric)

    def count(self, kind: Kind) -> int:
        """How many students changed in one way."""
        return sum(change.kind == kind for change in self.students)


class Scorecards(Protocol):
    """Scorecards by student, such as a dictionary, or a folder from which they are read."""

    def __iter__(self) -> Iterator[str]:
        """The students."""

    def get(self, student: str, /) -> Scorecard | None:
        """A student's scorecard, if there is one."""


@dataclass(frozen=True)
class Shape:
    """The most points of every part of a scorecard; two with the same parts are equal.

    Attributes:
        parts: ids with their points, in any order.
        most: the same by id, in the order of the scorecard.
    """

    parts: frozenset[tuple[str, Points]]
    most: Mapping[str, Points] = field(compare=False)


def diff_classes(old: Scorecards, new: Scorecards) -> ClassDiff:
    """Compare two classes, with the two scorecards of one student in memory at a time.

    Args:
        old: asked once for each student of either class.
        new: likewise.
    """
    students = sorted({*old, *new})
    before, after = Counter[Shape](), Counter[Shape]()
    # Arguments and no local names: those would keep the last student's scorecards alive.
    changes = [
        _diff_student(
            student, _counted(old.get(student), before), _counted(new.get(student), after)
        )
        for student in students
    ]
    changed = tuple(change for change in changes if change)
    return ClassDiff(changed, _diff_rubrics(_usual(before), _usual(after)), len(students))


def _counted(card: Scorecard | None, shapes: Counter[Shape]) -> Scorecard | None:
    """Count the shape of a scorecard on its way."""
    if card and card.milestones:
        shapes[_shape_of(card)] += 1
    return card


def _usual(shapes: Counter[Shape]) -> Mapping[str, Points]:
    """The most points of every part, by id, as most scorecards have them.

    A student who has left the class may still have one of an earlier rubric.
    """
    return next((shape.most for shape, _ in shapes.most_common(1)), {})


def _diff_student(
    student: str, old: Scorecard | None, new: Scorecard | None
) -> StudentChange | None:
    total = Change("score", _points(old), _points(new))
    statuses = (old.status if old else None, new.status if new else None)
    if old is None or new is None:
        kind: Kind = "added" if old is None else "removed"
        return StudentChange(student, kind, *statuses, total)
    milestones = tuple(_diff_milestones(_milestones(old), _milestones(new)))
    if statuses[0] == statuses[1] and not total.differs and not milestones:
        return None
    return StudentChange(student, "changed", *statuses, total, milestones)


def _milestones(card: Scorecard) -> dict[str, MilestoneScore]:
    """Milestones by id; none where the submission needs attention, since their scores mislead."""
    return {m.id: m for m in card.milestones} if card.score is not None else {}


def _diff_milestones(
    old: Mapping[str, MilestoneScore], new: Mapping[str, MilestoneScore]
) -> Iterator[MilestoneChange]:
    if not old or not new:  # somebody needs attention, which the status says
        return
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        total = Change(name, _points(before), _points(after))
        criteria = tuple(_diff_criteria(_criteria(before), _criteria(after)))
        if total.differs or criteria:
            yield MilestoneChange(total, criteria)


def _diff_criteria(
    old: Mapping[str, CriterionScore], new: Mapping[str, CriterionScore]
) -> Iterator[Change]:
    changes = (
        Change(name, _points(old.get(name)), _points(new.get(name))) for name in {**old, **new}
    )
    return (change for change in changes if change.differs)


def _criteria(milestone: MilestoneScore | None) -> dict[str, CriterionScore]:
    return {criterion.id: criterion for criterion in milestone.criteria} if milestone else {}


def _diff_rubrics(before: Mapping[str, Points], after: Mapping[str, Points]) -> RubricChanges:
    """Differences of the rubrics, as far as the scorecards show them."""
    if not before or not after:
        return RubricChanges((), (), ())
    changes = [Change(part, before.get(part), after.get(part)) for part in {**before, **after}]
    return RubricChanges(
        tuple(change for change in changes if change.max_differs),
        tuple(part for part in after if part not in before),
        tuple(part for part in before if part not in after),
    )


def _shape_of(card: Scorecard) -> Shape:
    most = {"score": Points(None, card.max_score)}
    for milestone in card.milestones:
        most[milestone.id] = Points(None, milestone.max_score)
        for criterion in milestone.criteria:
            most[f"{milestone.id}/{criterion.id}"] = Points(None, criterion.max_score)
    return Shape(frozenset(most.items()), most)


def _points(scored: Scorecard | MilestoneScore | CriterionScore | None) -> Points | None:
    return None if scored is None else Points(scored.score, scored.max_score)


def _score(points: Points | None) -> float | None:
    return None if points is None else points.score


def _max(points: Points | None) -> float | None:
    return None if points is None else points.max_score


def _share(points: Points) -> float:
    score = points.score or 0.0
    return score / points.max_score if points.max_score else 0.0
