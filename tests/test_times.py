"""Times and spans as people and platforms write them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.times import parse_span, parse_time, span_text, time_text


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2025-10-03 23:59:59.1 Z", "2025-10-03T23:59:59+00:00"),
        ("2025-10-03 23:59:59.100000000 Z", "2025-10-03T23:59:59+00:00"),
        ("2025-10-03T23:59:59+02:00", "2025-10-03T23:59:59+02:00"),
        ("2025-10-03 23:59:59 -0730", "2025-10-03T23:59:59-07:30"),
        ("2025-10-03 23:59:59.948203 UTC", "2025-10-03T23:59:59+00:00"),
        ("2025-10-03 23:59", "2025-10-03T23:59:00"),
        (" 2025-1-3T9:05z ", "2025-01-03T09:05:00+00:00"),
        ("2025-10-03T23:59+02", "2025-10-03T23:59:00+02:00"),
    ],
)
def test_what_platforms_write_is_read(text: str, iso: str) -> None:
    """With and without fractions, seconds and zone."""
    found = parse_time(text)
    assert found is not None
    assert found.isoformat() == iso


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2025-10-03", "2025-13-03 10:00", "2025-10-03 24:10", "03.10.2025 10:00",
     "2025-10-03 10:00 +99:00", "2025-10-03 10:00 CET", "٢٠٢٥-10-03 10:00", "0000-10-03 10:00"],
)  # fmt: skip
def test_what_is_no_time_is_none(text: str) -> None:
    """Neither a date alone, nor an impossible one, nor a zone that only some people know."""
    assert parse_time(text) is None


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("15 minutes", timedelta(minutes=15)),
        ("1 day 12 h", timedelta(days=1, hours=12)),
        ("90s", timedelta(seconds=90)),
        ("1 hour", timedelta(hours=1)),
        ("0 min", timedelta()),
    ],
)
def test_spans_have_units(text: str, span: timedelta) -> None:
    """Several may follow each other."""
    assert parse_span(text) == span


@pytest.mark.parametrize(
    "text", ["", "15", "minutes", "15 parsecs", "15 min later", "-1 h", "1.5 h"]
)
def test_what_is_no_span_is_none(text: str) -> None:
    """No unit, no number, or something behind it."""
    assert parse_span(text) is None


@given(st.integers(0, 10_000_000))
def test_a_span_is_written_exactly(seconds: int) -> None:
    """What a student reads gives the same span again."""
    span = timedelta(seconds=seconds)
    assert parse_span(span_text(span)) == span


@given(st.datetimes(datetime(1000, 1, 1), datetime(3000, 1, 1)), st.integers(-23 * 60, 23 * 60))
def test_a_time_is_written_exactly(moment: datetime, minutes: int) -> None:
    """To the second, with its offset."""
    whole = moment.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    assert parse_time(time_text(whole)) == whole
