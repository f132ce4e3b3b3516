"""What a year of a job's slots shows: none left, all of them skipped, an interval that does not fit a day. Pure."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from scheduler.instants import EPOCH, format_duration, format_instant
from scheduler.jobs import REBOOT, Job, Schedule
from scheduler.linting.codes import Note
from scheduler.timelaw import next_slot, parts, previous_slot, skipped_by, slots_between

SLOTS_MEASURED = 1_000
"""The shortest interval is looked for among the year's first so many slots."""
SLOTS_JUDGED = 250_000
"""A job with more slots a year is not searched for one that is not skipped; it is given the benefit of the doubt."""

_DAY = timedelta(days=1)
_TICK = timedelta.resolution


def year_start(year: int) -> datetime:
    """The first instant of a year, in UTC."""
    return datetime(year, 1, 1, tzinfo=UTC)


def slot_notes(job: Job, year: int) -> Iterator[Note]:
    """Whether anything of the job is due at all, and whether its `every` fits a day."""
    if job.schedule is None:
        return
    yield from _never(replace(job, enabled=True), job.schedule, year)
    for part in parts(job.schedule):
        if part.every is not None and part.anchor == EPOCH and _DAY % part.every and part.every % _DAY:
            yield Note("uneven_every", _uneven(part.every))


@lru_cache(maxsize=4096)
def shortest_interval(schedule: Schedule, year: int) -> timedelta | None:
    """The shortest time between two slots of a year (of its first SLOTS_MEASURED); None when it has fewer than two."""
    if schedule.every is not None and not schedule.also:
        return schedule.every
    at, end, step = year_start(year) - _TICK, year_start(year + 1) - _TICK, timedelta(hours=1)
    slots: list[datetime] = []
    while at < end and len(slots) < SLOTS_MEASURED:
        until = min(at + step, end)
        slots += slots_between(schedule, at, until)
        at, step = until, step * 2
    return min((after - before for before, after in pairwise(slots[:SLOTS_MEASURED])), default=None)


def _never(job: Job, schedule: Schedule, year: int) -> Iterator[Note]:
    if all(part.cron == REBOOT for part in parts(schedule)):
        return
    start = year_start(year)
    if job.valid_from is not None and next_slot(schedule, job.valid_from - _TICK) is None:
        says = f"never fires: it is valid from {format_instant(job.valid_from)}, and {_last(schedule, job.valid_from)}"
        yield Note("never_fires", f"{says}; give it a later slot, or an earlier valid_from", "error")
    elif next_slot(schedule, start - _TICK) is None:
        says = f"nothing is due in {year} or later: {_last(schedule, start)}"
        yield Note("never_fires", f"{says}; remove the job, or give it new slots")
    elif job.window is not None or any(part.holidays is not None for part in parts(schedule)):
        yield from _all_skipped(job, schedule, max(start, job.valid_from or start), year)


def _last(schedule: Schedule, at: datetime) -> str:
    last = previous_slot(schedule, at)
    return "it has no slot" if last is None else f"its last slot is {format_instant(last)}"


def _all_skipped(job: Job, schedule: Schedule, start: datetime, year: int) -> Iterator[Note]:
    """A window is the same every day: a job that it never lets start is wrong. A holiday may be this year's alone."""
    reasons: set[str] = set()
    count, at, end = 0, start - _TICK, year_start(year + 1) - _TICK
    while at < end:
        until = min(at + _DAY, end)
        for slot in slots_between(schedule, at, until):
            reason = skipped_by(job, slot)
            count += 1
            if reason is None or count > SLOTS_JUDGED:
                return
            reasons.add(reason)
        at = until
    if count:
        why = " or ".join(_REASONS[reason] for reason in sorted(reasons))
        says = f"never fires: each of its {count} slots in {year} is skipped, because it is {why}"
        yield Note("never_fires", f"{says}; {_REMEDY}", "error" if reasons == {"window"} else "warning")


_REASONS = {"holiday": "on a holiday", "window": "outside the job's window"}
_REMEDY = "move the schedule, the window or the calendar"


def _uneven(every: timedelta) -> str:
    text = format_duration(every)
    counted = f"counted in real seconds from {format_instant(EPOCH)}, its times of day move from day to day"
    return f"`every: {text}` does not divide a day: {counted}; give an `anchor` if that is meant, or use `cron`"
