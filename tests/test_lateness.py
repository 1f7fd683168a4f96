"""Late work: the arithmetic, in decimals and to the second."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.lateness import Deadlines, Extension, LateRules, Penalty, deadlines, lateness
from grader.model import Late, Timing

ZONE = timezone(timedelta(hours=2))
DUE = datetime(2026, 10, 3, 23, 59, tzinfo=ZONE)
LATE_DUE = DUE + timedelta(days=7)
EARNED = Decimal("87.5")
TEN_PERCENT = {"percent": 10, "per": "day"}


def rules_of(penalty: dict[str, Any] | None = None, **more: Any) -> LateRules:
    """The rubric's section with this due time."""
    return LateRules.model_validate({"due": DUE, "penalty": penalty, **more})


def late_by(
    span: timedelta,
    rules: LateRules | None,
    extension: Extension | None = None,
    earned: Decimal = EARNED,
) -> Late:
    """What comes of handing in so long after the due time."""
    found = lateness(Timing(submitted=DUE + span), rules, extension, earned)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("span", "penalty", "taken", "counted", "explained"),
    [
        (timedelta(days=1, hours=3), TEN_PERCENT, 17.5, 2,
         "Handed in 1 day 3 h late: 2 begun days x 10 % of 87.5 = 17.5 points taken: 70. "
         "Due 2026-10-03 23:59 +02:00, handed in 2026-10-05 02:59 +02:00."),
        (timedelta(seconds=1), TEN_PERCENT, 8.75, 1,
         "Handed in 1 s late: 1 begun day x 10 % of 87.5 = 8.75 points taken: 78.75. "
         "Due 2026-10-03 23:59 +02:00, handed in 2026-10-03 23:59:01 +02:00."),
        (timedelta(days=1), TEN_PERCENT, 8.75, 1, "Handed in 1 day late: 1 begun day x"),
        (timedelta(days=2, seconds=1), TEN_PERCENT, 26.25, 3,
         "Handed in 2 days 1 s late: 3 begun days x"),
        (timedelta(days=6), {**TEN_PERCENT, "cap": 50}, 43.75, 6,
         "6 begun days x 10 %, at most 50 %, of 87.5 = 43.75 points taken: 43.75."),
        (timedelta(days=20), TEN_PERCENT, 87.5, 20,
         "20 begun days x 10 %, at most 100 %, of 87.5 = 87.5 points taken: 0."),
        (timedelta(minutes=61), {"points": 2.5, "per": "hour"}, 5.0, 2,
         "Handed in 1 h 1 min late: 2 begun hours x 2.5 points = 5 points taken from 87.5: 82.5."),
        (timedelta(hours=30), {"points": 2.5, "per": "hour", "cap": 20}, 20.0, 30,
         "30 begun hours x 2.5 points, at most 20, = 20 points taken from 87.5: 67.5."),
        (timedelta(hours=90), {"points": 1, "per": "hour"}, 87.5, 90,
         "90 begun hours x 1 points, at most 87.5, = 87.5 points taken from 87.5: 0."),
        (timedelta(days=3), None, 0.0, 0, "Handed in 3 days late: nothing is taken."),
    ],
)  # fmt: skip
def test_what_is_taken_and_how_it_is_told(
    span: timedelta, penalty: dict[str, Any] | None, taken: float, counted: int, explained: str
) -> None:
    """Each begun day or hour counts, up to the cap, and the sentence holds every figure."""
    found = late_by(span, rules_of(penalty))
    assert (found.taken, found.counted, found.before) == (taken, counted, 87.5)
    assert explained in found.explanation
    assert found.seconds == span.total_seconds()


@pytest.mark.parametrize(
    ("span", "taken"),
    [
        (timedelta(days=-1), 0.0),
        (timedelta(), 0.0),
        (timedelta(minutes=15), 0.0),
        (timedelta(minutes=15, microseconds=999_999), 0.0),
        (timedelta(minutes=15, seconds=1), 8.75),
    ],
)
def test_the_grace_ends_on_the_second(span: timedelta, taken: float) -> None:
    """Its last second is in time, whatever the fraction; the next one is a begun day."""
    found = late_by(span, rules_of(TEN_PERCENT, grace="15 minutes"))
    assert found.taken == taken


def test_grace_is_told_only_to_whom_it_served() -> None:
    """In time: no word.  Within the grace: why nothing was taken."""
    rules = rules_of(TEN_PERCENT, grace="15 minutes")
    assert late_by(timedelta(), rules).explanation == ""
    told = late_by(timedelta(minutes=5), rules).explanation
    assert told.startswith("Handed in 5 min late: nothing is taken. The first 15 min do not count.")


def test_after_the_last_time_nothing_is_left_whatever_the_cap() -> None:
    """`late_due`, and the grace behind it, end what is accepted."""
    rules = rules_of({**TEN_PERCENT, "cap": 20}, late_due=LATE_DUE, grace="15 minutes")
    last = timedelta(days=7, minutes=15)
    assert late_by(last, rules).taken == 17.5
    closed = late_by(last + timedelta(seconds=1), rules)
    assert closed.taken == 87.5
    assert "after 2026-10-10 23:59 +02:00: 87.5 points taken, 0 left." in closed.explanation


def test_taken_points_are_rounded_half_up_to_two_places() -> None:
    """A third of a cent does not appear, and score and taken add up to what was there."""
    found = late_by(
        timedelta(hours=1), rules_of({"percent": 15, "per": "day"}), None, Decimal("0.1")
    )
    assert found.taken == 0.02


spans = st.timedeltas(timedelta(days=-3), timedelta(days=40))
amounts = st.decimals(0, 100, places=2)
penalties = st.builds(
    lambda kind, amount, per, cap: Penalty.model_validate({kind: amount, "per": per, "cap": cap}),
    st.sampled_from(["percent", "points"]),
    st.integers(0, 100) | st.floats(0, 100).map(lambda number: round(number, 2)),
    st.sampled_from(["day", "hour"]),
    st.none() | st.integers(0, 100),
)


@given(spans, spans, penalties, st.timedeltas(timedelta(), timedelta(hours=5)), amounts)
def test_later_never_costs_less(
    one: timedelta, other: timedelta, penalty: Penalty, grace: timedelta, earned: Decimal
) -> None:
    """Of two submissions with the same points the later one never has more left."""
    rules = rules_of().model_copy(update={"penalty": penalty, "grace": grace, "late_due": LATE_DUE})
    earlier, later = (late_by(s, rules, None, earned) for s in sorted((one, other)))
    assert earlier.taken <= later.taken


@given(
    spans,
    st.none() | spans,
    st.none() | spans,
    st.none() | penalties,
    st.timedeltas(timedelta(), timedelta(hours=5)),
    st.decimals(0, 30, places=1),
)
def test_nothing_is_taken_without_an_explanation(
    span: timedelta,
    due: timedelta | None,
    late_due: timedelta | None,
    penalty: Penalty | None,
    grace: timedelta,
    days: Decimal,
) -> None:
    """Whatever times a platform tells, in any order."""
    rules = LateRules(due=DUE, late_due=LATE_DUE, penalty=penalty)
    rules = rules.model_copy(update={"grace": grace})
    timing = Timing(
        submitted=DUE + span,
        due=None if due is None else DUE + due,
        late_due=None if late_due is None else DUE + late_due,
    )
    for extension in (None, Extension(days=days)):
        found = lateness(timing, rules, extension, EARNED)
        assert found is not None
        assert not found.taken or "late" in found.explanation


@given(spans, penalties, amounts)
def test_never_more_than_the_cap_or_than_there_was(
    span: timedelta, penalty: Penalty, earned: Decimal
) -> None:
    """What is left lies between nothing and what was earned; the cap holds to the cent."""
    found = late_by(span, rules_of().model_copy(update={"penalty": penalty}), None, earned)
    taken = Decimal(str(found.taken))
    assert 0 <= taken <= earned
    if penalty.cap is not None:
        most = penalty.cap if penalty.percent is None else earned * penalty.cap / 100
        assert taken <= most + Decimal("0.005")


@given(spans, penalties, amounts)
def test_in_time_costs_nothing_and_a_second_more_does(
    span: timedelta, penalty: Penalty, earned: Decimal
) -> None:
    """Points are taken exactly from whom is late, where the penalty is one."""
    found = late_by(span, rules_of().model_copy(update={"penalty": penalty}), None, earned)
    late = span >= timedelta(seconds=1)
    assert (found.counted > 0) == late
    assert late or found.taken == 0


@given(spans, st.decimals(0, 30, places=1), penalties)
def test_an_extension_never_costs_points(span: timedelta, days: Decimal, penalty: Penalty) -> None:
    """With more time never more is taken."""
    rules = rules_of().model_copy(update={"penalty": penalty, "late_due": LATE_DUE})
    assert late_by(span, rules, Extension(days=days)).taken <= late_by(span, rules).taken


@given(spans, st.integers(-23, 23), penalties)
def test_the_zone_that_a_time_is_written_in_does_not_count(
    span: timedelta, hours: int, penalty: Penalty
) -> None:
    """The same moment costs the same, in whatever zone a platform writes it."""
    rules = rules_of().model_copy(update={"penalty": penalty})
    moment = (DUE + span).astimezone(timezone(timedelta(hours=hours)))
    found = lateness(Timing(submitted=moment), rules, None, EARNED)
    assert found is not None
    assert found.taken == late_by(span, rules).taken


@pytest.mark.parametrize(
    ("extension", "expected"),
    [
        (Extension(days=Decimal(2)), (DUE + timedelta(days=2), LATE_DUE + timedelta(days=2))),
        (Extension(days=Decimal("0.5")),
         (DUE + timedelta(hours=12), LATE_DUE + timedelta(hours=12))),
        (Extension(due=DUE + timedelta(days=3)),
         (DUE + timedelta(days=3), LATE_DUE + timedelta(days=3))),
        (Extension(late_due=LATE_DUE + timedelta(days=1)), (DUE, LATE_DUE + timedelta(days=1))),
        (Extension(due=DUE - timedelta(days=3)), (DUE, LATE_DUE)),
    ],
    ids=["days", "half-a-day", "due", "late-due", "earlier"],
)  # fmt: skip
def test_an_extension_moves_both_times(
    extension: Extension, expected: tuple[datetime, datetime]
) -> None:
    """The last time moves with the due time, unless it has its own; never to an earlier one."""
    found = deadlines(Timing(), rules_of(late_due=LATE_DUE), extension)
    assert (found.due, found.late_due) == expected


@pytest.mark.parametrize("days", [Decimal(0), Decimal(3), Decimal("1e12")])
@pytest.mark.parametrize("hours", [-12, 0, 12])
@pytest.mark.parametrize("edge", [datetime.min, datetime.max])
def test_the_calendar_has_ends(edge: datetime, hours: int, days: Decimal) -> None:
    """A due time that means `never` is no crash, with more time or in any zone."""
    due = edge.replace(microsecond=0, tzinfo=timezone(timedelta(hours=hours)))
    for submitted in (DUE, due):
        timing = Timing(submitted=submitted, due=due, late_due=due)
        for extension in (None, Extension(days=days), Extension(due=DUE, late_due=due)):
            found = lateness(timing, rules_of(TEN_PERCENT), extension, EARNED)
            assert found is not None
            assert found.late_due is not None
            assert found.due is not None
            assert found.late_due >= found.due


def test_a_late_time_before_the_due_time_takes_nothing_from_who_is_in_time() -> None:
    """The later of both is the last one."""
    timing = Timing(submitted=DUE, due=DUE, late_due=DUE - timedelta(days=2))
    found = lateness(timing, rules_of(TEN_PERCENT), None, EARNED)
    assert found is not None
    assert (found.taken, found.late_due) == (0.0, DUE)


def test_an_extension_is_told() -> None:
    """The student reads that the due time is their own."""
    told = late_by(timedelta(days=2), rules_of(TEN_PERCENT), Extension(days=Decimal(1)))
    assert "1 begun day x" in told.explanation
    assert "Due 2026-10-04 23:59 +02:00 (with your extension)" in told.explanation


def test_the_platforms_due_times_go_before_the_rubrics() -> None:
    """Both of them: a platform without a last time has none."""
    rules = rules_of(TEN_PERCENT, late_due=LATE_DUE)
    own = DUE + timedelta(days=9)
    timing = Timing(submitted=own + timedelta(hours=1), due=own)
    found = lateness(timing, rules, None, EARNED)
    assert deadlines(timing, rules) == Deadlines(own, None)
    assert found is not None
    assert found.taken == 8.75


@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_a_time_without_a_zone_is_one_of_the_class(zone: str | None) -> None:
    """The rubric's zone is taken; without one the offset of its due time."""
    rules = rules_of(TEN_PERCENT, zone=zone)
    found = lateness(Timing(submitted=datetime(2026, 10, 3, 23, 58)), rules, None, EARNED)
    assert found is not None
    assert found.submitted is not None
    assert found.submitted.utcoffset() == timedelta(hours=2 if zone is None else -4)
    assert found.taken == (0 if zone is None else 8.75)


def test_a_named_zone_knows_of_summer_time() -> None:
    """A clock that is put back between due time and handing in costs nobody an hour."""
    summer = datetime(2026, 10, 24, 23, 59, tzinfo=ZONE)
    rules = LateRules.model_validate(
        {"due": summer, "penalty": {"points": 1, "per": "hour"}, "zone": "Europe/Zurich"}
    )
    found = lateness(Timing(submitted=datetime(2026, 10, 25, 23, 59)), rules, None, EARNED)
    assert found is not None
    assert (found.seconds, found.counted) == (25 * 3600, 25)


def test_late_without_a_time_costs_nothing_and_says_so() -> None:
    """A platform's mark alone does not tell how late."""
    found = lateness(Timing(marked_late=True), rules_of(TEN_PERCENT), None, EARNED)
    assert found is not None
    assert (found.taken, found.submitted) == (0.0, None)
    assert found.explanation.startswith("Marked late by the platform")


def test_without_rules_a_time_is_told_and_nothing_taken() -> None:
    """A platform's own due times make nobody lose points that no rubric takes."""
    timing = Timing(submitted=DUE + timedelta(days=1), due=DUE, late_due=DUE)
    found = lateness(timing, None, None, EARNED)
    assert found is not None
    assert (found.taken, found.seconds) == (0.0, 86_400)
    assert lateness(Timing(), None, None, EARNED) is None


per_units: list[Literal["day", "hour"]] = ["day", "hour"]


@pytest.mark.parametrize("per", per_units)
def test_a_unit_begins_a_second_after_the_one_before(per: Literal["day", "hour"]) -> None:
    """The n-th unit ends on its last second."""
    unit = {"day": timedelta(days=1), "hour": timedelta(hours=1)}[per]
    rules = rules_of({"points": 1, "per": per})
    for count in (1, 2, 9):
        assert late_by(unit * count, rules).counted == count
        assert late_by(unit * count + timedelta(seconds=1), rules).counted == count + 1
