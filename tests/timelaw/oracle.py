"""When is a cron text due? By looking at every minute: no cron library, no code of the product, no cleverness.

It reads the clock on a zone's wall at every minute and compares it with its own small reading of the five fields. It is
slow, and short enough to be checked by eye; all that the product answers about cron texts must equal what it finds.
"""

import calendar
import zoneinfo
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

# The zone data of the tzdata package, as in the product, and never the system's own.
zoneinfo.reset_tzpath(to=())

Policy = Literal["once", "skip", "literal"]
POLICIES: tuple[Policy, ...] = ("once", "skip", "literal")
MINUTE = timedelta(minutes=1)
LOOK_BACK = timedelta(hours=25)
"""Longer than any clock was ever put back, so that the second reading of a time is known to be the second."""


class Reading(NamedTuple):
    """An instant (UTC) at which the wall shows a full minute; `again` when it has shown the same before."""

    instant: datetime
    hour: int
    minute: int
    again: bool


class Gap(NamedTuple):
    """Minutes (naive) that a wall never showed, and the instant (UTC) of the first full minute after."""

    missing: tuple[datetime, ...]
    then: datetime


@dataclass(frozen=True)
class Wall:
    """The clock on a zone's wall over some days, for as many expressions as one likes."""

    days: tuple[tuple[date, tuple[Reading, ...]], ...]
    gaps: tuple[Gap, ...]


def wall_of(zone: str, after: datetime, until: datetime) -> Wall:
    """Every full minute that the wall shows in `(after, until]`, by its local day, and the gaps that end in there."""
    shown: dict[datetime, datetime] = {}
    readings: list[tuple[date, Reading]] = []
    gaps: list[Gap] = []
    before: datetime | None = None
    for instant, wall in _full_minutes(zone, after - LOOK_BACK, until):
        again = shown.setdefault(wall, instant) != instant
        if after < instant:
            readings.append((wall.date(), Reading(instant, wall.hour, wall.minute, again)))
            if before is not None and wall - before > MINUTE:
                gaps.append(Gap(tuple(_minutes(before + MINUTE, wall)), instant))
        before = wall
    days = groupby(readings, key=lambda pair: pair[0])
    return Wall(tuple((day, tuple(reading for _, reading in pairs)) for day, pairs in days), tuple(gaps))


def _full_minutes(zone: str, begin: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Instants in `[begin, end]` (UTC) at which the wall shows a full minute, and what it shows."""
    tz = zoneinfo.ZoneInfo(zone)
    grid = list(_minutes(begin.astimezone(UTC).replace(second=0, microsecond=0), end + MINUTE))
    walls = [_shown(tz, instant) for instant in grid]
    # Liberia was 44 minutes and 30 seconds behind until 1972: its wall showed full minutes half a minute past ours.
    odd = {(60 - wall.second) % 60 for wall in walls}
    if odd == {0}:
        yield from ((instant, wall) for instant, wall in zip(grid, walls, strict=True) if begin <= instant <= end)
        return
    for instant in sorted(instant + timedelta(seconds=second) for instant in grid for second in odd):
        wall = _shown(tz, instant)
        if wall.second == 0 and begin <= instant <= end:
            yield instant, wall


def _shown(tz: zoneinfo.ZoneInfo, instant: datetime) -> datetime:
    return instant.astimezone(tz).replace(tzinfo=None, fold=0)


def _minutes(begin: datetime, end: datetime) -> Iterator[datetime]:
    while begin < end:
        yield begin
        begin += MINUTE


@dataclass(frozen=True)
class Fields:
    """The five fields as sets, and as the texts that they were."""

    minutes: frozenset[int]
    hours: frozenset[int]
    months: frozenset[int]
    day: str
    weekday: str
    follows_clock: bool

    def on(self, day: date) -> bool:
        """Whether a date matches. Both day fields must, if one begins with a star; otherwise one is enough."""
        if day.month not in self.months:
            return False
        found = (_by_date(self.day, day), _by_weekday(self.weekday, day))
        return all(found) if self.day[0] == "*" or self.weekday[0] == "*" else any(found)

    def at(self, wall: datetime) -> bool:
        """Whether a minute on the wall matches."""
        return wall.minute in self.minutes and wall.hour in self.hours and self.on(wall.date())

    def dates(self) -> set[int]:
        """The numbers of a day field without `L` and `W`."""
        return set(numbers_of(self.day, 1, 31))

    def ever(self) -> bool:
        """Whether any date matches; the 28 years from 2000 hold every kind of year."""
        first = date(2000, 1, 1).toordinal()
        return any(self.on(date.fromordinal(first + number)) for number in range(28 * 366))


def fields_of(text: str) -> Fields:
    """A cron text of five fields that is known to be right: nothing is checked here."""
    minute, hour, day, month, weekday = text.upper().split()
    return Fields(
        minutes=frozenset(numbers_of(minute, 0, 59)),
        hours=frozenset(numbers_of(hour, 0, 23)),
        months=frozenset(numbers_of(month, 1, 12)),
        day=day,
        weekday=weekday,
        follows_clock=minute[0] == "*" or hour[0] == "*",
    )


NAMES = {name.upper(): number for number, name in enumerate(calendar.month_abbr) if number}
NAMES |= {name: number for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))}


def numbers_of(text: str, low: int, high: int) -> Iterator[int]:
    """The numbers of a field without `L`, `W` and `#`, not in order; a `*` runs from `low` to `high`."""
    for term in text.split(","):
        span, _, step = term.partition("/")
        first, _, last = span.partition("-")
        begin = low if span == "*" else _number(first)
        end = high if span == "*" or (step and not last) else _number(last or first)
        yield from range(begin, end + 1, int(step or 1))


def _number(word: str) -> int:
    return NAMES[word] if word in NAMES else int(word)


def weekdays_of(text: str) -> set[int]:
    """A weekday field without `L` and `#` as numbers; Sunday is 0."""
    return {number % 7 for number in numbers_of(text, 0, 7)}


def _by_date(text: str, day: date) -> bool:
    return any(_dated(term, day) for term in text.split(","))


def _dated(term: str, day: date) -> bool:
    last = calendar.monthrange(day.year, day.month)[1]
    if term == "L":
        return day.day == last
    if term == "LW":
        return day.day == max(number for number in range(1, last + 1) if day.replace(day=number).weekday() < 5)
    if term[-1] == "W":
        aim = int(term[:-1])
        workdays = [number for number in range(1, last + 1) if day.replace(day=number).weekday() < 5]
        return aim <= last and day.day == min(workdays, key=lambda number: abs(number - aim))
    return day.day in numbers_of(term, 1, 31)


def _by_weekday(text: str, day: date) -> bool:
    return any(_named(term, day) for term in text.split(","))


def _named(term: str, day: date) -> bool:
    sunday_is_0 = day.isoweekday() % 7
    if "#" in term:
        word, _, nth = term.partition("#")
        return sunday_is_0 == _number(word) % 7 and (day.day - 1) // 7 + 1 == int(nth)
    if term[-1] == "L":
        same_day_next_week = day + timedelta(days=7)
        return sunday_is_0 == _number(term[:-1]) % 7 and same_day_next_week.month != day.month
    return sunday_is_0 in weekdays_of(term)


def slots_on(wall: Wall, fields: Fields, policy: Policy) -> list[datetime]:
    """The slots of an expression while the clock on the wall ran as given, ascending, UTC."""
    matching = _matching(wall.days, fields)
    if policy == "literal" or (policy == "once" and fields.follows_clock):
        return [reading.instant for reading in matching]
    found = [reading.instant for reading in matching if not reading.again]
    if policy == "once":
        found += [gap.then for gap in wall.gaps if any(map(fields.at, gap.missing)) and gap.then not in found]
    return sorted(found)


def _matching(days: Iterable[tuple[date, tuple[Reading, ...]]], fields: Fields) -> Iterator[Reading]:
    minutes, hours = fields.minutes, fields.hours
    for day, readings in days:
        if fields.on(day):
            yield from (reading for reading in readings if reading.minute in minutes and reading.hour in hours)


def expected(text: str, zone: str, policy: Policy, after: datetime, until: datetime) -> list[datetime]:
    """The slots of a cron text in `(after, until]`, ascending, UTC."""
    return slots_on(wall_of(zone, after, until), fields_of(text), policy)


def jumps(zone: str, since: int, until: int) -> list[datetime]:
    """The instants (UTC) between two years at which a zone's offset changes, found hour by hour and so to the hour."""
    tz = zoneinfo.ZoneInfo(zone)
    first, last = datetime(since, 1, 1, tzinfo=UTC), datetime(until, 1, 1, tzinfo=UTC)
    days = [first + timedelta(days=number) for number in range((last - first).days)]
    found = []
    for one, two in pairwise(days):
        if one.astimezone(tz).utcoffset() != two.astimezone(tz).utcoffset():
            hours = [one + timedelta(hours=number) for number in range(1, 25)]
            old = one.astimezone(tz).utcoffset()
            found.append(next(hour for hour in hours if hour.astimezone(tz).utcoffset() != old))
    return found
