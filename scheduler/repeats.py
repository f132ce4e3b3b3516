"""On which days does a calendar interval fall? Pure: "every 2 weeks on friday", "monthly on the last business day"."""

from datetime import date, timedelta

from scheduler.calendars import is_business_day
from scheduler.cron import month_length
from scheduler.jobs import Calendar, Repeat

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = timedelta(days=1)
# Up to the twentieth: every month has twenty days from Monday to Friday, and some have no more.
_COUNTED = ("first", "1st", "2nd", "3rd", *(f"{number}th" for number in range(4, 21)))
MONTH_WORDS = (
    *(str(number) for number in range(1, 32)),
    *("last day", "last business day", *(f"{nth} business day" for nth in _COUNTED)),
    *(f"{nth} {name}" for nth in ("first", "1st", "2nd", "3rd", "4th", "5th", "last") for name in WEEKDAYS),
)
"""Every word for a day of a month. Weekday names are those of a week."""


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
    if word.isdigit():
        return min(int(word), month_length(year, month))
    place, _, kind = word.partition(" ")
    days = [day for day in range(1, month_length(year, month) + 1) if _is(kind, calendar, date(year, month, day))]
    number = -1 if place == "last" else 0 if place == "first" else int(place[:-2]) - 1
    return days[number] if number < len(days) and days else None


def _is(kind: str, calendar: Calendar | None, day: date) -> bool:
    if kind == "day":
        return True
    return is_business_day(calendar, day) if kind == "business day" else WEEKDAYS[day.weekday()] == kind


def _months_between(start: date, year: int, month: int) -> int:
    return (year - start.year) * 12 + month - start.month


def _monday(day: date) -> date:
    return day - day.weekday() * _DAY
