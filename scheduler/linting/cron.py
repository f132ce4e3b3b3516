"""Cron texts that mean something else than they seem to say. Pure: a schedule and a year in, notes out.

Answers: does this text fire rarer, oftener, or less evenly than its words suggest?
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice, pairwise

from scheduler.cron import Cron, parse_cron
from scheduler.cron_fields import DAY, HOUR, MINUTE, MONTH, MONTHS, SECOND, WEEKDAY, WEEKDAY_FROM_1, Field
from scheduler.jobs import REBOOT, Dialect, Schedule
from scheduler.linting.codes import Note, listed
from scheduler.timelaw import check_cron

LAYOUTS: dict[Dialect, tuple[Field, ...]] = {
    "crontab": (MINUTE, HOUR, DAY, MONTH, WEEKDAY),
    "quartz": (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY_FROM_1),
    "aws": (MINUTE, HOUR, DAY, MONTH, WEEKDAY_FROM_1),
}
"""Which field stands where; the year, where there is one, comes last and has no rule."""

DATES_SHOWN = 5
YEARS_SEARCHED = 40
"""Long enough for five 29 Februaries on one weekday to begin, short enough to cost nothing."""

_FIXED = re.compile(r"\d+(,\d+)*")
_STEP = re.compile(r"(\*|\d+|\d+-\d+)/(\d+)")
_ANY = ("*", "*/1", "?")
_DAY_FIELDS = (DAY, WEEKDAY, WEEKDAY_FROM_1)
_UNITS = {"second": "s", "minute": "m", "hour": "h", "day": "d"}


def cron_notes(schedule: Schedule, year: int) -> Iterator[Note]:
    """What is doubtful about a schedule's cron text; nothing for schedules of other kinds."""
    if schedule.cron is None or schedule.cron == REBOOT:
        return
    cron = parse_cron(schedule.cron, schedule.dialect)
    words = check_cron(schedule.cron, schedule.dialect).upper().split()
    fields = dict(zip(LAYOUTS[schedule.dialect], words, strict=False))
    yield from _stars(cron, words, fields)
    for place, word in fields.items():
        yield from _step(cron, place, word)
    if all(word not in _ANY for place, word in fields.items() if place in _DAY_FIELDS):
        yield _both(cron, fields, year)
    elif cron.years is None or year in cron.years:
        yield from _rare(cron, fields[DAY], year)


def _stars(cron: Cron, words: list[str], fields: dict[Field, str]) -> Iterator[Note]:
    """A star under a fixed number: `* 9 * * *` is all of nine o'clock, not nine o'clock."""
    places = list(fields)
    if fields[MINUTE] in _ANY and _FIXED.fullmatch(fields[HOUR]):
        hour = cron.hours[0]
        says = f"minute is * while hour is fixed: {len(cron.times)} runs a day, at {hour:02}:00, {hour:02}:01 and on"
        yield Note("minute_star", f"`{cron.text}`: {says}; did you mean `{_zeroed(words, places.index(HOUR))}`?")
    elif fields.get(SECOND) in _ANY and _FIXED.fullmatch(fields[MINUTE]):
        says = "second is * while minute is fixed: 60 runs within each of its minutes"
        yield Note("second_star", f"`{cron.text}`: {says}; did you mean `{_zeroed(words, places.index(MINUTE))}`?")


def _zeroed(words: list[str], count: int) -> str:
    """The fields with each star among the first `count` put to 0."""
    return " ".join("0" if index < count and word in _ANY else word for index, word in enumerate(words))


def _rare(cron: Cron, days: str, year: int) -> Iterator[Note]:
    """Months that have no such day. In a list of days each is looked at by itself: `1,31` is not twice a month."""
    named = [day for day in (29, 30, 31) if str(day) in days.split(",")]
    having = {day: [month for month in cron.months if day in cron.days_in(year, month)] for day in named}
    day = next((day for day in named if len(having[day]) < len(cron.months)), None)
    if day is not None:
        what = "" if days == str(day) else f" on day {day}"
        yield _seldom(cron, having[day], year, what, f"no day {day}", "`L` is the last day of any month")
        return
    months = [month for month in cron.months if cron.days_in(year, month)]
    if len(months) < len(cron.months):
        yield _seldom(cron, months, year, "", "no such day", "`FRIL` is the last Friday of any month")


def _seldom(cron: Cron, having: list[int], year: int, what: str, lacks: str, remedy: str) -> Note:
    lacking = [MONTHS[month - 1].capitalize() for month in cron.months if month not in having]
    runs = "runs" if len(cron.times) == 1 else "days with runs"
    count = f"{len(having)} {runs}{what} a year ({year}), not {len(cron.months)}"
    return Note("rare_day", f"`{cron.text}`: {count}: there is {lacks} in {listed(lacking, 12)}; {remedy}")


def _step(cron: Cron, place: Field, word: str) -> Iterator[Note]:
    """Steps that start afresh at the field's end, and steps that never come to a second value."""
    match = _STEP.fullmatch(word)
    values = _stepped(place, match[1], int(match[2])) if match else None
    if match is None or values is None:
        return
    step, gap = int(match[2]), values[0] + _size(place) - values[-1]
    begin = f"`{cron.text}`: `{word}` in the {place.title} field"
    if step > _size(place):
        yield Note("step_too_large", f"{begin} {_single(place, step, values[0])}")
    elif len(values) > 1 and (gap != step or place == DAY) and _wraps(cron, place):
        yield Note("uneven_step", f"{begin} is uneven: {_uneven(place, step, values, gap)}")


def _stepped(place: Field, base: str, step: int) -> Sequence[int] | None:
    """The values of a step that runs to the field's end; None for a range that was cut short on purpose."""
    last = place.low + _size(place) - 1
    first, dash, high = base.partition("-")
    if dash and (int(first) != place.low or int(high) < last):
        return None
    return range(place.low if first == "*" else int(first), last + 1, step)


def _size(place: Field) -> int:
    """How many values a field has until it starts again; the crontab weekday's 7 is its 0."""
    return 7 if place in _DAY_FIELDS[1:] else place.high - place.low + 1


def _wraps(cron: Cron, place: Field) -> bool:
    """Whether the next larger unit has neighbours, so that the field's beginning follows upon its end."""
    if place == SECOND:
        return _neighbours(cron.minutes, 60)
    if place == MINUTE:
        return _neighbours(cron.hours, 24)
    if place == HOUR:
        years = (2024, 2026) if cron.years is None else cron.years  # days enough: a leap year and a common one
        return any(_neighbours(cron.days_in(year, month)) for year in years for month in cron.months)
    if place == DAY:
        return _neighbours(cron.months, 12)
    return place != MONTH or cron.years is None or _neighbours(cron.years)


def _neighbours(values: Sequence[int], circle: int = 0) -> bool:
    """Whether two of the ascending values follow each other; in a circle the first follows the last."""
    steps = {after - before for before, after in pairwise(values)}
    return 1 in steps or (circle > 0 and values[-1] - values[0] == circle - 1)


def _single(place: Field, step: int, value: int) -> str:
    unit = _UNITS.get(place.title)
    remedy = f"use `every: {step}{unit}`" if unit else "write the numbers that are meant"
    return f"has a step past the field's end, so it names {place.title} {value} alone; {remedy}"


def _uneven(place: Field, step: int, values: Sequence[int], gap: int) -> str:
    unit = _UNITS.get(place.title)
    remedy = f"; `every: {step}{unit}` is even" if unit else ""
    if place == DAY:
        return f"day {values[-1]} is followed by day {values[0]} of the next month, not by a gap of {step} days{remedy}"
    noun = "day" if place in _DAY_FIELDS else place.title
    names = f"it names {place.title}s {listed([str(value) for value in values])}"
    return f"{names}, so the last gap is {gap} {noun}{'' if gap == 1 else 's'}, not {step}{remedy}"


def _both(cron: Cron, fields: dict[Field, str], year: int) -> Note:
    weekday = next(word for place, word in fields.items() if place in _DAY_FIELDS[1:])
    dates = listed([day.isoformat() for day in _dates(cron, year)]) or "none"
    rule = f"it runs on EITHER: day {fields[DAY]} or weekday {weekday}"
    if not cron.either_day:
        rule = f"one begins with *, so it runs where BOTH fit: day {fields[DAY]} that is weekday {weekday}"
    says = f"both day fields are restricted, and {rule}"
    return Note("both_day_fields", f"`{cron.text}`: {says}; the next dates from {year} on: {dates}")


def _dates(cron: Cron, year: int) -> list[date]:
    years = range(year, year + YEARS_SEARCHED) if cron.years is None else [one for one in cron.years if one >= year]
    found = (date(one, month, day) for one in years for month in cron.months for day in cron.days_in(one, month))
    return list(islice(found, DATES_SHOWN))
