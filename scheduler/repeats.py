"""On which days does a calendar interval fall? Pure: "every 2 weeks on friday", "monthly on the last business day"."""

import re
from datetime import date, timedelta

from scheduler.calendars import is_business_day
from scheduler.cron import month_length
from scheduler.jobs import Calendar, Repeat

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = timedelta(days=1)
_PLACE = re.compile(
    rf"(first|1st|2nd|3rd|21st|22nd|23rd|(?:[4-9]|1\d|20|24)th|last) (day|business day|{'|'.join(WEEKDAYS)})"
)


class RepeatError(ValueError):
    """A day of an interval that can't be read. Its text is `what is wrong; what to write`."""


def check_repeat(repeat: Repeat) -> None:
    """Raises RepeatError for a word of `on` that its unit does not have."""
    for word in repeat.on:
        if repeat.unit == "day":
            raise RepeatError(f"{word!r} has no meaning for an interval of days; remove `on`")
        if repeat.unit == "week" and word not in WEEKDAYS:
            raise RepeatError(f"{word!r} is not a weekday; use {', '.join(WEEKDAYS)}")
        if repeat.unit in ("month", "year") and not _date_number(word) and not _PLACE.fullmatch(word):
            raise RepeatError(f"{word!r} is not a day of a month; use 15, last day, 3rd business day or 2nd tuesday")


def repeat_days(repeat: Repeat, calendar: Calendar | None, year: int, month: int) -> tuple[int, ...]:
    """The days of a month on which the interval falls, ascending, none before `starting`."""
    if (year, month) < (repeat.starting.year, repeat.starting.month):
        return ()
    if repeat.unit in ("day", "week"):
        days = [day for day in range(1, month_length(year, month) + 1) if _counted(repeat, date(year, month, day))]
    elif _months_between(repeat.starting, year, month) % (repeat.count * (12 if repeat.unit == "year" else 1)):
        days = []
    else:
        words = repeat.on or (str(repeat.starting.day),)
        found = {_placed(word, calendar, year, month) for word in words}
        days = sorted(day for day in found if day is not None)
    return tuple(day for day in days if date(year, month, day) >= repeat.starting)


def _counted(repeat: Repeat, day: date) -> bool:
    if repeat.unit == "day":
        return (day - repeat.starting).days % repeat.count == 0
    names = repeat.on or (WEEKDAYS[repeat.starting.weekday()],)
    weeks = (_monday(day) - _monday(repeat.starting)).days // 7
    return WEEKDAYS[day.weekday()] in names and weeks % repeat.count == 0


def _placed(word: str, calendar: Calendar | None, year: int, month: int) -> int | None:
    """The day that a word names in a month; None where the month has none such (a fifth Friday)."""
    length = month_length(year, month)
    if _date_number(word):
        return min(int(word), length)
    match = _PLACE.fullmatch(word)
    assert match is not None, f"{word!r} passed the check"
    days = [day for day in range(1, length + 1) if _is(match[2], calendar, date(year, month, day))]
    number = -1 if match[1] == "last" else 0 if match[1] == "first" else int(match[1][:-2]) - 1
    return days[number] if number < len(days) and days else None


def _is(kind: str, calendar: Calendar | None, day: date) -> bool:
    if kind == "day":
        return True
    return is_business_day(calendar, day) if kind == "business day" else WEEKDAYS[day.weekday()] == kind


def _date_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 3 and 1 <= int(word) <= 31


def _months_between(start: date, year: int, month: int) -> int:
    return (year - start.year) * 12 + month - start.month


def _monday(day: date) -> date:
    return day - day.weekday() * _DAY
