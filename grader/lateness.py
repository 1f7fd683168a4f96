"""Late work: the rubric's section and the arithmetic, a pure function in decimals.

A percentage is one of the earned score: everybody loses the same share, and the score cannot
fall below nothing.  Who wants the same number of points from everybody writes points.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from grader.model import UNTIMED, Frozen, Late, Timing
from grader.times import SECOND, span_text, time_text
from grader.yaml_values import WHOLE_REASON, Duration, Instant, Percent, Points, Section, ZoneName

CENT = Decimal("0.01")
UNITS = {"day": timedelta(days=1), "hour": timedelta(hours=1)}
NOTHING = Decimal(0)
MOST_SECONDS = int(timedelta.max.total_seconds()) - 86_400  # that a span can hold
TIME_UNKNOWN = (
    "Marked late by the platform, which does not say when it was handed in: nothing was taken."
)


class Penalty(Section):
    """What is taken for late work: percent of the earned score, or points.

    Attributes:
        per: each begun day (24 hours) or hour counts.
        cap: the most that is taken, in percent or points like the penalty itself.
    """

    percent: Percent | None = None
    points: Annotated[Points | None, Field(validate_default=True)] = None
    per: Literal["day", "hour"]
    cap: Points | None = None

    @field_validator("points")
    @classmethod
    def _one_of_both(cls, value: Decimal | None, info: ValidationInfo) -> Decimal | None:
        if "percent" in info.data and (value is None) == (info.data["percent"] is None):
            raise PydanticCustomError(WHOLE_REASON, "give either percent or points, and not both")
        return value

    @field_validator("cap")
    @classmethod
    def _at_most_everything(cls, value: Decimal | None, info: ValidationInfo) -> Decimal | None:
        if value is not None and info.data.get("percent") is not None and value > 100:
            raise ValueError("cannot be more than 100 percent")
        return value


class LateRules(Section):
    """The section `late` of a rubric.

    Attributes:
        due: when the assignment is due.
        late_due: what comes after this time (and the grace) earns nothing.
        grace: so much after a time still counts as in time.
        penalty: what is taken; without it late work is only named.
        zone: of submission times that come without one; otherwise the offset of `due` is taken.
    """

    due: Instant
    late_due: Instant | None = None
    grace: Duration = timedelta()
    penalty: Penalty | None = None
    zone: ZoneName | None = None

    @field_validator("late_due")
    @classmethod
    def _after_due(cls, value: datetime | None, info: ValidationInfo) -> datetime | None:
        if value is not None and "due" in info.data and value < info.data["due"]:
            raise PydanticCustomError(WHOLE_REASON, "must not be before due")
        return value

    @property
    def clock(self) -> tzinfo | None:
        """The zone of times that come without one."""
        return ZoneInfo(self.zone) if self.zone else self.due.tzinfo


class Extension(Frozen):
    """More time for one student: a later due time, or days more.  It never takes time away.

    Attributes:
        due: the student's own due time; the time until `late_due` moves with it.
        late_due: the last time at which work of this student is taken.
        days: added to both times.
    """

    due: datetime | None = None
    late_due: datetime | None = None
    days: Decimal = NOTHING


@dataclass(frozen=True)
class Deadlines:
    """When a submission was due, and when it is too late: never before it was due."""

    due: datetime | None
    late_due: datetime | None

    def extended(self, extension: Extension) -> Deadlines:
        """The deadlines of a student with an extension; never earlier ones."""
        if self.due is None:
            return Deadlines(extension.due, extension.late_due)
        days = timedelta(seconds=min(int(extension.days * 86_400), MOST_SECONDS))
        due = max(_moved(self.due, days), extension.due or self.due)
        if self.late_due is None:
            return Deadlines(due, None)
        moved = _moved(self.late_due, due - self.due)
        return Deadlines(due, max(due, extension.late_due or moved))


def deadlines(
    timing: Timing, rules: LateRules | None, extension: Extension | None = None
) -> Deadlines:
    """When a submission was due: for its platform, else for the rubric; then the extension."""
    if timing.due is not None:
        # A platform may tell the late time of one setting and the due time of another.
        late_due = max(timing.due, timing.late_due) if timing.late_due else None
        found = Deadlines(timing.due, late_due)
    elif rules is not None:
        found = Deadlines(rules.due, rules.late_due)
    else:
        found = Deadlines(None, None)
    return found.extended(extension) if extension else found


def _moved(moment: datetime, by: timedelta) -> datetime:
    """A later time; the last one there is where the calendar ends."""
    try:
        return moment + by
    except OverflowError:
        return datetime.max.replace(tzinfo=moment.tzinfo)


def lateness(
    timing: Timing, rules: LateRules | None, extension: Extension | None, earned: Decimal
) -> Late | None:
    """What the time of handing in does to a score.

    Args:
        timing: what the submission's platform tells.
        rules: the rubric's section, if it has one; without it nothing is taken.
        extension: the student's, if there is one.
        earned: points before any penalty, with two decimals.

    Returns:
        `None` if neither the rubric nor the platform knows anything of a time.
    """
    if rules is None and timing == UNTIMED:
        return None
    times = deadlines(timing, rules, extension)
    submitted = on_the_clock(timing.submitted, rules, times.due)
    late_by = _late_by(submitted, times.due)
    penalty = rules.penalty if rules and _is_after(submitted, times.due, rules) else None
    counted = -(-late_by // UNITS[penalty.per]) if penalty else 0
    too_late = _is_after(submitted, times.late_due, rules)
    taken = earned if too_late else _taken(penalty, counted, earned)
    return Late(
        submitted=submitted,
        due=times.due,
        late_due=times.late_due,
        extended=extension is not None,
        marked_late=timing.marked_late,
        seconds=late_by // SECOND,
        counted=counted,
        before=float(earned),
        taken=float(taken),
        explanation=_explanation(
            timing,
            _when(submitted, times.due, extension),
            _Reckoning(late_by, counted, earned, taken, penalty, rules),
            times.late_due if too_late else None,
        ),
    )


def on_the_clock(
    submitted: datetime | None, rules: LateRules | None, due: datetime | None = None
) -> datetime | None:
    """A submission time to the second; one without a zone gets the rubric's, else that of `due`."""
    if submitted is None:
        return None
    zone = rules.clock if rules else due.tzinfo if due else None
    whole = submitted.replace(microsecond=0)
    return whole if whole.tzinfo or zone is None else whole.replace(tzinfo=zone)


def _late_by(submitted: datetime | None, due: datetime | None) -> timedelta:
    if submitted is None or due is None or submitted.tzinfo is None:
        return timedelta()
    return max(submitted - due, timedelta())


def _is_after(submitted: datetime | None, limit: datetime | None, rules: LateRules | None) -> bool:
    """Whether a time is past a limit by more than the grace; without rules nothing is."""
    return rules is not None and _late_by(submitted, limit) > rules.grace


def _taken(penalty: Penalty | None, counted: int, earned: Decimal) -> Decimal:
    """Points to take, rounded half up to two decimals, and never more than were earned."""
    if penalty is None:
        return NOTHING
    if penalty.percent is not None:
        share = _capped(penalty.percent * counted, penalty.cap)
        points = earned * min(share, Decimal(100)) / 100
    else:
        points = _capped((penalty.points or NOTHING) * counted, penalty.cap)
    return min(points.quantize(CENT, rounding=ROUND_HALF_UP), earned)


def _capped(amount: Decimal, cap: Decimal | None) -> Decimal:
    return amount if cap is None else min(amount, cap)


@dataclass(frozen=True)
class _Reckoning:
    """One computation, to be told."""

    late_by: timedelta
    counted: int
    earned: Decimal
    taken: Decimal
    penalty: Penalty | None
    rules: LateRules | None

    def result(self) -> str:
        """What was taken, in figures that a student can compute again."""
        if self.penalty is None:
            grace = self.rules.grace if self.rules else timedelta()
            allowed = (
                f" The first {span_text(grace)} do not count." if grace >= self.late_by else ""
            )
            return f"nothing is taken.{allowed}"
        taken, left = _number(self.taken), _number(self.earned - self.taken)
        earned = _number(self.earned)
        if self.penalty.percent is not None:
            return f"{self._percent(self.penalty)} of {earned} = {taken} points taken: {left}."
        return f"{self._points(self.penalty)} = {taken} points taken from {earned}: {left}."

    def _percent(self, penalty: Penalty) -> str:
        share = penalty.percent or NOTHING
        most = Decimal(100) if penalty.cap is None else penalty.cap
        capped = f", at most {_number(most)} %," if share * self.counted > most else ""
        return f"{self._times(penalty)} {_number(share)} %{capped}"

    def _points(self, penalty: Penalty) -> str:
        points = penalty.points or NOTHING
        most = self.earned if penalty.cap is None else min(penalty.cap, self.earned)
        capped = f", at most {_number(most)}," if points * self.counted > most else ""
        return f"{self._times(penalty)} {_number(points)} points{capped}"

    def _times(self, penalty: Penalty) -> str:
        return f"{self.counted} begun {penalty.per}{'s' if self.counted > 1 else ''} x"


def _explanation(timing: Timing, when: str, reckoning: _Reckoning, closed: datetime | None) -> str:
    if timing.submitted is None:
        return TIME_UNKNOWN if timing.marked_late else ""
    if not reckoning.late_by:
        return ""
    start = f"Handed in {span_text(reckoning.late_by)} late"
    if closed:
        points = _number(reckoning.taken)
        return f"{start}, after {time_text(closed)}: {points} points taken, 0 left. {when}"
    return f"{start}: {reckoning.result()} {when}"


def _when(submitted: datetime | None, due: datetime | None, extension: Extension | None) -> str:
    if submitted is None or due is None or submitted.tzinfo is None:
        return ""
    more = " (with your extension)" if extension else ""
    with suppress(OverflowError):  # in the first or last hours of the calendar
        submitted = submitted.astimezone(due.tzinfo)
    return f"Due {time_text(due)}{more}, handed in {time_text(submitted)}."


def _number(value: Decimal) -> str:
    """A number without needless zeros."""
    return f"{value.normalize():f}"
