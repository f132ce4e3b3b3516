"""When is a job due? The one answer that scheduler, watchdog, objectives and preview share. Pure: no clock, no I/O.

A slot is an aware UTC instant. Windows are half-open: `(after, until]`. What each kind of schedule and each policy
means stands in docs/schedules.md.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Literal, Protocol

from scheduler.batch_windows import inside
from scheduler.calendars import MAX_SHIFT, business_date, is_holiday, shift
from scheduler.cron import MACROS, NeverError, parse_cron
from scheduler.cron_fields import ScheduleError
from scheduler.day_times import Days, DayTimes, Reading
from scheduler.jobs import REBOOT, Dialect, Job, Schedule
from scheduler.offsets import DAY
from scheduler.repeats import repeat_days

__all__ = [
    "MACROS",
    "NeverError",
    "ScheduleError",
    "check_cron",
    "jitter_bound",
    "jitter_of",
    "next_slot",
    "parts",
    "previous_slot",
    "skipped_by",
    "slots_between",
]

Excuse = Literal["disabled", "holiday", "window"]
_TICK = timedelta.resolution


class Source(Protocol):
    """Anything that names instants in order, forwards and backwards."""

    def between(self, after: datetime, until: datetime) -> list[datetime]:
        """Every instant in `(after, until]`, ascending."""

    def next(self, after: datetime) -> datetime | None:
        """The first instant past `after`."""

    def previous(self, at: datetime) -> datetime | None:
        """The latest instant at or before `at`."""


def check_cron(text: str, dialect: Dialect = "crontab") -> str:
    """The fields of a cron text, macros written out. Raises ScheduleError for what can't be read or can never come."""
    fields = MACROS.get(text.strip().lower(), text.strip()) if dialect == "crontab" else text.strip()
    parse_cron(fields, dialect)
    return fields


def parts(schedule: Schedule) -> tuple[Schedule, ...]:
    """The schedule and its further ones: a job's slots are those of any of them, each counted once."""
    return (schedule, *schedule.also)


def slots_between(schedule: Schedule, after: datetime, until: datetime) -> list[datetime]:
    """Every expected slot in `(after, until]`, ascending, those that `skipped_by` excuses too."""
    sources = _sources(schedule)
    if len(sources) == 1:
        return sources[0].between(after, until)
    return sorted({slot for source in sources for slot in source.between(after, until)})


def next_slot(schedule: Schedule, after: datetime) -> datetime | None:
    """The first expected slot after `after`, or None when the schedule has no more."""
    found = (source.next(after) for source in _sources(schedule))
    return min((slot for slot in found if slot is not None), default=None)


def previous_slot(schedule: Schedule, at: datetime) -> datetime | None:
    """The latest expected slot at or before `at`, or None when the schedule has none that early."""
    found = (source.previous(at) for source in _sources(schedule))
    return max((slot for slot in found if slot is not None), default=None)


def jitter_of(job_id: str, schedule: Schedule, slot: datetime) -> timedelta:
    """The slot's own delay: a fixed function of job and slot, from zero up to (not including) its schedule's bound.

    Where several schedules of the job name the slot, the first of them decides.
    """
    bound = _naming(schedule, slot)[0].jitter if schedule.also else schedule.jitter
    if not bound:
        return timedelta(0)
    digest = hashlib.sha256(f"{job_id}@{slot.isoformat()}".encode()).digest()
    share = int.from_bytes(digest[:8], "big")
    return bound // _TICK * share // 2**64 * _TICK


def jitter_bound(schedule: Schedule) -> timedelta:
    """The longest delay that any slot may have."""
    return max(part.jitter for part in parts(schedule))


def skipped_by(job: Job, slot: datetime) -> Excuse | None:
    """Why the definition itself excuses an expected slot; None when a run is owed.

    A slot that several schedules name is excused as a holiday only when each of them says so.
    """
    if not job.enabled:
        return "disabled"
    if job.schedule is not None and all(_on_holiday(part, slot) for part in _naming(job.schedule, slot)):
        return "holiday"
    if job.window is not None and not inside(job.window, slot):
        return "window"
    return None


def _naming(schedule: Schedule, slot: datetime) -> list[Schedule]:
    """The schedules that name a slot; all of them when none does, so that an answer stays possible."""
    if not schedule.also:
        return [schedule]
    named = [part for part in parts(schedule) if any(source.previous(slot) == slot for source in _own(part))]
    return named or list(parts(schedule))


def _on_holiday(part: Schedule, slot: datetime) -> bool:
    if part.calendar is None or part.holidays is None:
        return False
    day = business_date(part, slot)
    if part.holidays == "skip":
        return is_holiday(part.calendar, day)
    # A slot that should have moved and found no business day near enough.
    return shift(part.calendar, day, 1 if part.holidays == "next_business_day" else -1) is None


def _sources(schedule: Schedule) -> Sequence[Source]:
    if not schedule.also:
        return _own(schedule)
    return [source for part in parts(schedule) for source in _own(part)]


def _own(part: Schedule) -> Sequence[Source]:
    """The sources of one schedule without its further ones."""
    if part.every is not None:
        return (_Every(part.anchor, part.every),)
    if part.cron is None and part.repeat is None:
        return (_At(part.at),)
    return _on_days(part)


@lru_cache(maxsize=4096)
def _on_days(part: Schedule) -> tuple[Source, ...]:
    days, times, follows = _days_and_times(part)
    if not times:
        return ()
    reading: Reading = "first" if part.dst == "skip" else "every" if part.dst == "literal" or follows else "shifted"
    if part.calendar is None or part.holidays in (None, "skip"):
        return (DayTimes(part.timezone, days, times, reading),)
    # Times before the business day begins belong to the day before, and so move by that day's distance.
    edge = timedelta(seconds=part.business_day_starts)
    early, late = tuple(time for time in times if time < edge), tuple(time for time in times if time >= edge)
    groups = ((early, DAY), (late, timedelta(0)))
    return tuple(DayTimes(part.timezone, _moved(part, days, back), group, reading) for group, back in groups if group)


def _days_and_times(part: Schedule) -> tuple[Days, tuple[timedelta, ...], bool]:
    if part.cron == REBOOT:
        return _no_days, (), False
    if part.cron is not None:
        cron = parse_cron(part.cron, part.dialect)
        return cron.days_in, cron.times, cron.follows_clock
    repeat, calendar = part.repeat, part.calendar
    assert repeat is not None
    times = tuple(timedelta(seconds=second) for second in sorted(set(repeat.times)))
    return (lambda year, month: repeat_days(repeat, calendar, year, month)), times, False


def _no_days(_year: int, _month: int) -> tuple[int, ...]:
    return ()


def _moved(part: Schedule, days: Days, back: timedelta) -> Days:
    """The days of a month after each has moved to its business day; `back` leads from a day to its business date."""
    step = 1 if part.holidays == "next_business_day" else -1

    @lru_cache(maxsize=64)
    def moved(year: int, month: int) -> tuple[int, ...]:
        first = date(year, month, 1)
        near = {first - DAY, first, first + (MAX_SHIFT + 5) * DAY}  # no day moves further than MAX_SHIFT
        sources = [date(a, b, day) for a, b in {(one.year, one.month) for one in near} for day in days(a, b)]
        found = {day + (shift(part.calendar, day - back, step) or timedelta(0)) for day in sources}
        return tuple(sorted(day.day for day in found if (day.year, day.month) == (year, month)))

    return moved


@dataclass(frozen=True, slots=True)
class _Every:
    """Real seconds from an anchor, which no clock change and no restart moves."""

    anchor: datetime
    interval: timedelta

    def between(self, after: datetime, until: datetime) -> list[datetime]:
        low, high = (after - self.anchor) // self.interval + 1, (until - self.anchor) // self.interval
        first = self.anchor + low * self.interval
        return [first + number * self.interval for number in range(high - low + 1)]

    def next(self, after: datetime) -> datetime | None:
        return self.anchor + ((after - self.anchor) // self.interval + 1) * self.interval

    def previous(self, at: datetime) -> datetime | None:
        return self.anchor + (at - self.anchor) // self.interval * self.interval


class _At:
    """Fixed instants, in any order."""

    def __init__(self, instants: Sequence[datetime]) -> None:
        self._instants = sorted(set(instants))

    def between(self, after: datetime, until: datetime) -> list[datetime]:
        return self._instants[bisect_right(self._instants, after) : bisect_right(self._instants, until)]

    def next(self, after: datetime) -> datetime | None:
        index = bisect_right(self._instants, after)
        return self._instants[index] if index < len(self._instants) else None

    def previous(self, at: datetime) -> datetime | None:
        index = bisect_right(self._instants, at)
        return self._instants[index - 1] if index else None
