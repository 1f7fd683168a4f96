"""Values of the rubric's sections, as they may be written in its file."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Final
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from grader.text import perhaps
from grader.times import parse_span, parse_time

# Type of an error whose message says all, so that no value is told behind it.
WHOLE_REASON: Final = "whole-reason"


class Section(BaseModel):
    """A mapping of the rubric: strict, immutable, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _number(value: object, wanted: str) -> Decimal:
    """Turn a YAML number into the decimal that was written, not its binary neighbour."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(wanted)
    return Decimal(str(value))


def _decimal(value: object) -> object:
    return _number(value, "points are a number, such as 12 or 2.5")


def _percent(value: object) -> object:
    return _number(value, "must be a number of percent, such as 10")


def _instant(value: object) -> object:
    """A time that YAML has read, or one that it has left as text."""
    found = parse_time(value) if isinstance(value, str) else value
    if not isinstance(found, datetime) or found.tzinfo is None:
        raise ValueError("must be a time with its zone, such as 2026-10-03T23:59:00+02:00")
    return found.replace(microsecond=0)


def _duration(value: object) -> object:
    found = parse_span(value) if isinstance(value, str) else None
    if found is None:  # 15:00 is the number 900 to YAML, so a bare number may mean anything
        raise ValueError("must be a span with its unit, such as 15 minutes or 2 hours")
    return found


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:  # unknown here, a folder, a path
        words = {"name": repr(name), "near": perhaps(name, sorted(available_timezones()))}
        reason = "this machine knows no time zone {name}{near}"
        raise PydanticCustomError(WHOLE_REASON, reason, words) from error
    return name


Points = Annotated[Decimal, BeforeValidator(_decimal), Field(ge=0, le=100_000)]
Share = Annotated[Decimal, BeforeValidator(_decimal), Field(ge=0, le=1)]
Percent = Annotated[Decimal, BeforeValidator(_percent), Field(ge=0, le=100)]
Instant = Annotated[datetime, BeforeValidator(_instant)]
Duration = Annotated[timedelta, BeforeValidator(_duration)]
ZoneName = Annotated[str, AfterValidator(_zone)]
