"""Times and spans as people and platforms write them, read and written."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

# What Gradescope, nbgrader, ISO 8601 and people write: 2025-10-03 23:59:59.1 Z.
TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})[Tt ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d*)?)?"
    r"(?: *(?:(Z|UTC)|([+-])(\d{2}):?(\d{2})?))?",
    re.ASCII | re.IGNORECASE,
)
UNITS = {"day": timedelta(days=1), "h": timedelta(hours=1), "min": timedelta(minutes=1)}
SECOND = timedelta(seconds=1)
SPAN = re.compile(
    r"(\d{1,6}) *(d|day|h|hour|min|minute|s|second)s?(?: +|$)", re.ASCII | re.IGNORECASE
)
SPAN_UNITS = {"d": UNITS["day"], "h": UNITS["h"], "m": UNITS["min"], "s": SECOND}


def parse_time(text: str) -> datetime | None:
    """A time of day on a date, to the second; `None` if the text is none.

    Fractions of a second are dropped.  Without an offset in the text the time has no zone.
    """
    found = TIME.fullmatch(text.strip())
    if found is None:
        return None
    *numbers, utc, sign, hours, minutes = found.groups()
    zone = timezone.utc if utc else None
    try:
        if sign:
            offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
            zone = timezone(-offset if sign == "-" else offset)
        year, month, day, hour, minute, second = (int(number or 0) for number in numbers)
        return datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except (OverflowError, ValueError):  # a 13th month, an offset of two days
        return None


def parse_span(text: str) -> timedelta | None:
    """A span such as `15 minutes` or `1 day 12 h`; `None` if the text is none."""
    text = text.strip()
    parts = list(SPAN.finditer(text))
    if not parts or "".join(part.group() for part in parts) != text:
        return None
    return sum(
        (int(part.group(1)) * SPAN_UNITS[part.group(2)[0].lower()] for part in parts), timedelta()
    )


def time_text(moment: datetime) -> str:
    """A time as people read it, with its offset: 2026-10-03 23:59 +02:00."""
    seconds = ":%S" if moment.second else ""
    offset = moment.isoformat()[19:] if moment.tzinfo else ""
    return f"{moment.strftime(f'%Y-%m-%d %H:%M{seconds}')} {offset}".strip()


def span_text(span: timedelta) -> str:
    """A span in whole seconds, exactly: 1 day 3 h 20 s."""
    parts = []
    for name, unit in {**UNITS, "s": SECOND}.items():
        count, span = divmod(span, unit)
        if count:
            parts.append(f"{count} {name}{'s' if name == 'day' and count > 1 else ''}")
    return " ".join(parts) or "0 s"
