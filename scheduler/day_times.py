"""Times of a day on the days of a zone's calendar, as instants: the fast path of the time law. Pure.

It goes by local day: a day that no clock change touches takes 24 hours, and its instants are its midnight plus the
times. Only the few days a year that a change touches are worked out reading by reading.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from scheduler.offsets import DAY, after_gap, midnight, midnights, new_year, readings, untouched, wall

Days = Callable[[int, int], Sequence[int]]
"""Year and month to the days of that month, ascending."""
Reading = Literal["every", "first", "shifted"]
"""Of a time that the clock reads twice, take every reading or the first; `shifted` moves a missing one past the gap."""

SEARCH_YEARS = 400
"""The calendar repeats after 400 years: what has not come by then never does."""
FIRST_YEAR, LAST_YEAR = 1900, 9000
"""Past these years there are no slots: zones have no rules worth the name, and dates come to their end."""
_FIRST, _LAST = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(LAST_YEAR, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, eq=False, slots=True)
class DayTimes:
    """Instants at `times` (ascending, since midnight) on `days` in `zone`; clock changes as `reading` says."""

    zone: str
    days: Days
    times: tuple[timedelta, ...]
    reading: Reading

    def between(self, after: datetime, until: datetime) -> list[datetime]:
        """Every instant in `(after, until]`, ascending."""
        after, until = max(after, _FIRST), min(until, _LAST)
        if until <= after:
            return []
        first, last = self._stretch(after, until)
        whole = until - DAY
        found: list[datetime] = []
        touched = False
        for year, month in _months(first, last):
            table, base = midnights(self.zone, year), date(year, month, 1).toordinal() - new_year(year) - 1
            for number in _within(self.days(year, month), year, month, first, last):
                start = table[base + number]
                if start is None:
                    touched = True
                    found += self._read(date(year, month, number))
                elif after < start <= whole:
                    found += [start + time for time in self.times]
                else:  # a day at the range's edge: a look of one minute must not pay for 1,440
                    low, high = bisect_right(self.times, after - start), bisect_right(self.times, until - start)
                    found += [start + time for time in self.times[low:high]]
        if touched:  # a doubled time past midnight mixes two days; a missing one can land on another slot
            found = list(dict.fromkeys(sorted(found)))
        return found[bisect_right(found, after) : bisect_right(found, until)]

    def next(self, after: datetime) -> datetime | None:
        """The first instant past `after`."""
        for day in self._days_from(wall(self.zone, max(after, _FIRST)).date()):
            start = midnight(self.zone, day)
            if start is None:
                found = self.between(after, self._around(day)[1])
                if found:
                    return found[0]
            elif start + self.times[-1] > after:
                return start + self.times[bisect_right(self.times, after - start)]
        return None

    def previous(self, at: datetime) -> datetime | None:
        """The latest instant at or before `at`."""
        day = wall(self.zone, min(at, _LAST)).date()
        if midnight(self.zone, day) is None:
            day = untouched(self.zone, day, 1)
        for earlier in self._days_back(day):
            start = midnight(self.zone, earlier)
            if start is None:
                begin, end = self._around(earlier)
                found = self.between(begin, min(at, end))
                if found:
                    return found[-1]
            elif start + self.times[0] <= at:
                return start + self.times[bisect_right(self.times, at - start) - 1]
        return None

    def _around(self, day: date) -> tuple[datetime, datetime]:
        """Just before the first and just after the last instant of a stretch of days that changes touch."""
        before, behind = (midnight(self.zone, untouched(self.zone, day, step)) for step in (-1, 1))
        assert before is not None
        assert behind is not None
        return before + DAY - timedelta.resolution, behind

    def _stretch(self, after: datetime, until: datetime) -> tuple[date, date]:
        """The local days that can hold instants of the range: days that changes touch are taken as a whole."""
        first, last = wall(self.zone, after).date(), wall(self.zone, until).date()
        if midnight(self.zone, first - DAY) is None or midnight(self.zone, first) is None:
            first = untouched(self.zone, first - DAY, -1)
        if midnight(self.zone, last) is None:
            last = untouched(self.zone, last, 1)
        return first, last

    def _read(self, day: date) -> list[datetime]:
        """The instants of a day that a change touches, in the order of the clock's reading."""
        found: list[datetime] = []
        for time in self.times:
            at = datetime(day.year, day.month, day.day) + time  # noqa: DTZ001 - what a clock on the wall reads
            instants = readings(self.zone, at)
            if instants:
                found += instants if self.reading == "every" else instants[:1]
            elif self.reading == "shifted":
                found.append(after_gap(self.zone, at))
        return found

    def _days_from(self, first: date) -> Iterator[date]:
        year, month = first.year, first.month
        while year <= min(first.year + SEARCH_YEARS, LAST_YEAR):
            days = self.days(year, month)
            skip = bisect_left(days, first.day) if (year, month) == (first.year, first.month) else 0
            for number in days[skip:]:
                yield date(year, month, number)
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)

    def _days_back(self, last: date) -> Iterator[date]:
        year, month = last.year, last.month
        while year >= max(last.year - SEARCH_YEARS, FIRST_YEAR):
            days = self.days(year, month)
            keep = bisect_right(days, last.day) if (year, month) == (last.year, last.month) else len(days)
            for number in reversed(days[:keep]):
                yield date(year, month, number)
            year, month = (year, month - 1) if month > 1 else (year - 1, 12)


def _months(first: date, last: date) -> Iterator[tuple[int, int]]:
    year, month = first.year, first.month
    while (year, month) <= (last.year, last.month):
        yield year, month
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)


def _within(days: Sequence[int], year: int, month: int, first: date, last: date) -> Sequence[int]:
    low = bisect_left(days, first.day) if (year, month) == (first.year, first.month) else 0
    high = bisect_right(days, last.day) if (year, month) == (last.year, last.month) else len(days)
    return days[low:high]
