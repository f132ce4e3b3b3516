"""When do a zone's clocks change, and which days does that touch? Pure: zone rules come from the pinned tzdata package.

All instants are aware UTC; wall times are naive datetimes; offsets are east of UTC.
"""

import zoneinfo
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

# Zones come from the pinned tzdata package alone, so that hosts with other system zone files still agree on slots.
zoneinfo.reset_tzpath(to=())

DAY = timedelta(days=1)
_STRIDE = timedelta(hours=6)  # no zone has changed its clocks forth and back within so short a time since 1970
_SECOND = timedelta(seconds=1)
_FIRST_YEAR, _LAST_YEAR = 2, 9997


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of a zone's offset: `before` holds until `at`, `after` from `at` on. A gap where `after` is larger."""

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def opens(self) -> datetime:
        """The wall time at which the gap or the doubled time begins."""
        return _naive(self.at + min(self.before, self.after))

    @property
    def closes(self) -> datetime:
        """The wall time just past the gap or the doubled time."""
        return _naive(self.at + max(self.before, self.after))


def transitions(zone: str, since: datetime, until: datetime) -> list[Transition]:
    """Every change in `[since, until]`, ascending."""
    years = range(max(since.year, _FIRST_YEAR), min(until.year, _LAST_YEAR) + 1)
    return [change for year in years for change in _changes(zone, year) if since <= change.at <= until]


def offset_at(zone: str, instant: datetime) -> timedelta:
    """The offset that holds at an instant."""
    found = instant.astimezone(zoneinfo.ZoneInfo(zone)).utcoffset()
    assert found is not None
    return found


def wall(zone: str, instant: datetime) -> datetime:
    """What the clock on the wall reads, as a naive datetime."""
    return instant.astimezone(zoneinfo.ZoneInfo(zone)).replace(tzinfo=None)


def new_year(year: int) -> int:
    """The ordinal of the day before a year's first: a day's ordinal minus this is its number in the year."""
    return date(year, 1, 1).toordinal() - 1


@lru_cache(maxsize=512)
def midnights(zone: str, year: int) -> tuple[datetime | None, ...]:
    """For each day of a year, from index 1 on, the instant of its midnight; None for days that a change touches.

    A day that no change touches takes 24 hours, and every wall time in it is read exactly once.
    """
    start = datetime(year, 1, 1, tzinfo=UTC)
    near = transitions(zone, start - 3 * DAY, datetime(year + 1, 1, 4, tzinfo=UTC))
    touched = {day for change in near for day in _touched(change)}
    offset = near[0].before if near else offset_at(zone, start)
    found: list[datetime | None] = [None]
    for number in range((date(year + 1, 1, 1) - date(year, 1, 1)).days):
        midnight = start + number * DAY
        while near and near[0].opens <= _naive(midnight):
            offset = near.pop(0).after
        found.append(None if midnight.date() in touched else midnight - offset)
    return tuple(found)


def midnight(zone: str, day: date) -> datetime | None:
    """The instant of a day's midnight, or None when a change touches the day."""
    return midnights(zone, day.year)[day.toordinal() - new_year(day.year)]


def untouched(zone: str, day: date, step: int) -> date:
    """The nearest day from `day` on, in steps of 1 or -1, that no change touches."""
    while midnight(zone, day) is None:
        day += step * DAY
    return day


def readings(zone: str, at: datetime) -> list[datetime]:
    """Every instant, ascending, at which the clock on the wall reads `at` (naive): none in a gap, two in a fold."""
    bounds, offsets = _near(zone, at.date())
    found = []
    for index, offset in enumerate(offsets):
        instant = _aware(at) - offset
        begun = index == 0 or instant >= bounds[index - 1]
        if begun and (index == len(bounds) or instant < bounds[index]):
            found.append(instant)
    return found


def after_gap(zone: str, at: datetime) -> datetime:
    """The first full minute of the wall clock after the gap that swallows `at` (naive)."""
    change = next(change for change in _around(zone, at.date()) if change.opens <= at < change.closes)
    seconds = change.closes.second
    return change.at + timedelta(seconds=60 - seconds if seconds else 0)


def _around(zone: str, day: date) -> list[Transition]:
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return transitions(zone, noon - 2 * DAY, noon + 2 * DAY)


# A line of every minute asks 1,440 times about the same day.
@lru_cache(maxsize=512)
def _near(zone: str, day: date) -> tuple[tuple[datetime, ...], tuple[timedelta, ...]]:
    """The changes near a day: their instants, and the offsets before, between and after them."""
    changes = _around(zone, day)
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    first = changes[0].before if changes else offset_at(zone, noon)
    return tuple(change.at for change in changes), (first, *(change.after for change in changes))


def _touched(change: Transition) -> list[date]:
    day, last = change.opens.date(), (change.closes - timedelta.resolution).date()
    return [day + number * DAY for number in range((last - day).days + 1)]


@lru_cache(maxsize=4096)
def _changes(zone: str, year: int) -> tuple[Transition, ...]:
    """The changes of one UTC year: found by sampling, and each then halved down to its second."""
    at, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    found = []
    before = offset_at(zone, at - _SECOND)
    at -= _SECOND
    while at < end - _SECOND:
        coming = min(at + _STRIDE, end - _SECOND)
        after = offset_at(zone, coming)
        if after != before:
            found.append(Transition(_halve(zone, at, coming), before, after))
        at, before = coming, after
    return tuple(found)


def _halve(zone: str, low: datetime, high: datetime) -> datetime:
    before = offset_at(zone, low)
    while high - low > _SECOND:
        middle = low + (high - low) // 2 // _SECOND * _SECOND
        if offset_at(zone, middle) == before:
            low = middle
        else:
            high = middle
    return high


def _naive(value: datetime) -> datetime:
    return value.replace(tzinfo=None)


def _aware(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC)
