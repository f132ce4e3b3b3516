"""Which dates are holidays, and which are business days? Pure; the `holidays` library knows countries and markets.

A year's holidays are worked out from the years around it too: a New Year that is observed on 31 December belongs to the
year before.
"""

import difflib
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from scheduler.jobs import Calendar, Schedule
from scheduler.offsets import wall

WEEKEND = frozenset({5, 6})
MAX_SHIFT = 28
"""A slot that finds no business day within so many days stays where it is, and is skipped as a holiday."""
_DAY = timedelta(days=1)


class CalendarError(ValueError):
    """A calendar that names an unknown country, subdivision or market. Its text is `what is wrong; what to write`."""


def check_calendar(calendar: Calendar) -> None:
    """Raises CalendarError for names that the library does not know."""
    if calendar.country is not None:
        _known("country", calendar.country, _library().list_supported_countries())
        known = _library().list_supported_countries().get(calendar.country, [])
        if calendar.subdivision is not None and calendar.subdivision not in known:
            names = ", ".join(known[:40]) or "none"
            raise CalendarError(f"{calendar.subdivision!r} is not a subdivision of {calendar.country}; it has: {names}")
    elif calendar.subdivision is not None:
        raise CalendarError(f"subdivision {calendar.subdivision!r} has no country; add `country`")
    if calendar.market is not None:
        _known("market", calendar.market, _library().list_supported_financial())


def holiday_name(calendar: Calendar, day: date) -> str | None:
    """What is celebrated on a date, or None where it is no holiday. Exceptions win over everything."""
    if day in calendar.remove:
        return None
    if day in calendar.add or day in calendar.dates:
        return calendar.name or "holiday"
    found = (_names(calendar, day.year).get(day), *(holiday_name(other, day) for other in calendar.union))
    return next((name for name in found if name is not None), None)


def is_holiday(calendar: Calendar, day: date) -> bool:
    """Whether a date is a holiday; a weekend alone is none."""
    return holiday_name(calendar, day) is not None


def is_business_day(calendar: Calendar | None, day: date) -> bool:
    """Neither weekend nor holiday; without a calendar, Monday to Friday."""
    if calendar is None:
        return day.weekday() not in WEEKEND
    return day.weekday() not in weekend_of(calendar) and not is_holiday(calendar, day)


def weekend_of(calendar: Calendar) -> frozenset[int]:
    """The calendar's weekend, from Monday = 0: its own word, else its country's, else those of its union."""
    if calendar.weekend is not None:
        return frozenset(calendar.weekend)
    if calendar.country is not None or calendar.market is not None:
        return _weekend(calendar.country, calendar.market)
    joined = frozenset[int]().union(*(weekend_of(other) for other in calendar.union))
    return joined or WEEKEND


def business_date(schedule: Schedule, slot: datetime) -> date:
    """The business day that an instant belongs to: before `business_day_starts` it is still the day before."""
    return (wall(schedule.timezone, slot) - timedelta(seconds=schedule.business_day_starts)).date()


def shift(calendar: Calendar | None, day: date, step: int) -> timedelta | None:
    """How far the nearest business day lies from `day` on, in steps of 1 or -1; None if none lies within MAX_SHIFT."""
    for number in range(MAX_SHIFT + 1):
        if is_business_day(calendar, day + number * step * _DAY):
            return number * step * _DAY
    return None


def _library() -> Any:
    # Imported when a calendar asks: it knows the whole world, and most jobs never do.
    import holidays

    return holidays


def _known(what: str, name: str, names: Mapping[str, object]) -> None:
    if name not in names:
        near = difflib.get_close_matches(name.upper(), list(names), n=3, cutoff=0.4)
        remedy = f"did you mean {' or '.join(near)}?" if near else "write its code, like ID or NYSE"
        raise CalendarError(f"{name!r} is not a known {what}; {remedy}")


def _names(calendar: Calendar, year: int) -> Mapping[date, str]:
    if calendar.country is None and calendar.market is None:
        return {}
    return _year(calendar.country, calendar.subdivision, calendar.market, year)


@lru_cache(maxsize=1024)
def _year(country: str | None, subdivision: str | None, market: str | None, year: int) -> Mapping[date, str]:
    found: dict[date, str] = {}
    years = [near for near in (year - 1, year, year + 1) if 1 <= near <= 9999]
    if country is not None:
        found.update(_library().country_holidays(country, subdiv=subdivision, years=years))
    if market is not None:
        found.update(_library().financial_holidays(market, years=years))
    return {day: str(name) for day, name in found.items() if day.year == year}


@lru_cache(maxsize=256)
def _weekend(country: str | None, market: str | None) -> frozenset[int]:
    found: frozenset[int] = frozenset()
    if country is not None:
        found |= frozenset(_library().country_holidays(country).weekend)
    if market is not None:
        found |= frozenset(_library().financial_holidays(market).weekend)
    return found or WEEKEND
