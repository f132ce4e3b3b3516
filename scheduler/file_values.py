"""The small values that files are made of: durations, instants, dates, times of day, ids, text. Pure.

Answers: is this text a duration, a date, an id, and if not, what should stand there? What the values mean together is
said by the models that hold them.
"""

import re
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, StringConstraints

from scheduler.events import JOB_ID
from scheduler.instants import format_duration, parse_duration, parse_instant
from scheduler.zones import check_zone

MAX_DURATION = timedelta(days=3660)
MIN_EVERY = timedelta(milliseconds=100)
# Years that every part can reckon with: a holiday moved past either end is still a date.
FIRST_DATE, LAST_DATE = date(1970, 1, 1), date(2199, 12, 31)
SHORT_FORM, LONG_FORM = "[short]", "[long]"
"""Marks of the two forms that a value may have: alone or in a list, a word or a mapping. No problem shows them."""

_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_SHORT_TIME = re.compile(r"[0-9]:[0-5][0-9]")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_REMEDY = "write it like 2026-12-26"
_TIME_REMEDY = 'write it in quotes, from "00:00" to "23:59"'


class WrongValueError(ValueError):
    """A value that can't be used. Its text is `what is wrong; what to write instead`.

    A ValueError, because that is what pydantic collects; a TypeError would end the check at the first fault.
    """


class HiddenValueError(WrongValueError):
    """As above, for a value that may be a secret and so must not stand in the message."""


class FileModel(BaseModel):
    """A part of a file: unknown keys are refused, and no value is bent into another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def read_duration(value: Any) -> timedelta:
    """A duration as files write it, up to ten years. Raises WrongValueError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise WrongValueError(f"has no unit; write it with one: {value}s, {value}m, {value}h")
    if not isinstance(value, str):
        raise WrongValueError("is not a duration; write a number and a unit: 500ms, 30s, 5m, 2h, 1d, 1w")
    try:
        found = parse_duration(value)
    except ValueError:
        raise WrongValueError("is not a duration; write a number and a unit: 500ms, 30s, 5m, 2h, 1d, 1w") from None
    except OverflowError:
        found = timedelta.max
    if found > MAX_DURATION:
        raise WrongValueError(f"is longer than {format_duration(MAX_DURATION)}; write a shorter duration")
    return found


def read_date(value: Any) -> date:
    """A date without a time, `2026-12-26`, from 1970 to 2199. Raises WrongValueError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise WrongValueError(f"is a number, not a date; {_DATE_REMEDY}")
    if not isinstance(value, str):
        raise WrongValueError(f"is not a date; {_DATE_REMEDY}")
    # The form is checked here, because Python also reads 20261226 and 2026-W52-6 as dates.
    if not _DATE.fullmatch(value):
        if _DATE.match(value):
            raise WrongValueError(f"is more than a date; write the date alone: {value[:10]}")
        raise WrongValueError(f"is not a date; {_DATE_REMEDY}")
    try:
        found = date.fromisoformat(value)
    except ValueError:
        raise WrongValueError("is a date that does not exist; write a day that its month has") from None
    if not FIRST_DATE <= found <= LAST_DATE:
        raise WrongValueError(f"is out of range; write a date from {FIRST_DATE} to {LAST_DATE}")
    return found


def read_time(value: Any) -> int:
    """A time of day, `"06:00"`, as seconds since local midnight. Raises WrongValueError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise WrongValueError(f"is a number, not a time of day; {_TIME_REMEDY}")
    if not isinstance(value, str):
        raise WrongValueError(f"is not a time of day; {_TIME_REMEDY}")
    if value == "24:00":
        raise WrongValueError('is not a time of day; write "00:00", which is midnight')
    match = _TIME.fullmatch(value)
    if match is None:
        remedy = f'write "0{value}"' if _SHORT_TIME.fullmatch(value) else _TIME_REMEDY
        raise WrongValueError(f"is not a time of day; {remedy}")
    return int(match[1]) * 3600 + int(match[2]) * 60


def as_list(value: Any) -> Any:
    """One value where a list may stand is a list of one."""
    return value if isinstance(value, list) else [value]


def no_nul(value: str) -> str:
    """The text itself. Raises WrongValueError: the operating system ends a text at a NUL, so that what was checked
    would not be what runs.
    """
    if "\0" in value:
        raise WrongValueError("has a NUL character; remove it")
    return value


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta(0):
        raise WrongValueError("must be above zero; write a longer duration")
    return value


def _interval(value: timedelta) -> timedelta:
    if value < MIN_EVERY:
        raise WrongValueError(f"is below the shortest interval; write {format_duration(MIN_EVERY)} or more")
    return value


def _instant(value: Any) -> datetime:
    if not isinstance(value, str):
        raise WrongValueError("is not an instant; write it like 2026-03-29T00:30:00Z")
    try:
        return parse_instant(value)
    except (ValueError, OverflowError):
        raise WrongValueError("is not an instant with an offset; write it like 2026-03-29T00:30:00Z") from None


def _identifier(value: str) -> str:
    if not JOB_ID.fullmatch(value):
        raise WrongValueError("is not an id; use up to 100 of A-Z a-z 0-9 . _ - and begin with a letter or digit")
    return value


DURATION_SCHEMA = Annotated[str, Field(pattern=r"^\d+(\.\d+)?(ms|s|m|h|d|w)$", examples=["30s", "5m", "2h"])]
_INSTANT_SCHEMA = Annotated[str, Field(examples=["2026-03-29T00:30:00Z"])]
_DATE_SCHEMA = Annotated[str, Field(pattern=f"^{_DATE.pattern}$", examples=["2026-12-26"])]
_TIME_SCHEMA = Annotated[str, Field(pattern=f"^{_TIME.pattern}$", examples=["06:00"])]

Duration = Annotated[timedelta, PlainValidator(read_duration, json_schema_input_type=DURATION_SCHEMA)]
PositiveDuration = Annotated[Duration, AfterValidator(_positive)]
Interval = Annotated[Duration, AfterValidator(_interval)]
Instant = Annotated[datetime, PlainValidator(_instant, json_schema_input_type=_INSTANT_SCHEMA)]
Day = Annotated[date, PlainValidator(read_date, json_schema_input_type=_DATE_SCHEMA)]
TimeOfDay = Annotated[int, PlainValidator(read_time, json_schema_input_type=_TIME_SCHEMA)]
Identifier = Annotated[str, Field(json_schema_extra={"pattern": f"^{JOB_ID.pattern}$"}), AfterValidator(_identifier)]
Short = Annotated[str, StringConstraints(max_length=200)]
Prose = Annotated[str, StringConstraints(max_length=2_000)]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=4096), AfterValidator(no_nul)]
Zone = Annotated[str, AfterValidator(check_zone)]
