"""When is a job due? The one answer that scheduler, watchdog, objectives and preview share. Pure: no clock, no I/O.

A slot is an aware UTC instant. Windows are half-open: `(after, until]`.
"""

import hashlib
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import takewhile

from cronsim import CronSim, CronSimError

from scheduler.jobs import Schedule

# Zones come from the pinned tzdata package alone, so that hosts with other system zone files still agree on slots.
zoneinfo.reset_tzpath(to=())

MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_TICK = timedelta(microseconds=1)


class ScheduleError(ValueError):
    """A schedule that names no slots: says which text is wrong and what to write."""


@lru_cache(maxsize=4096)
def check_cron(text: str) -> str:
    """The five-field form of a cron text. Raises ScheduleError for what can't be read or can never come."""
    fields = MACROS.get(text.strip().lower(), text.strip())
    if len(fields.split()) != 5:
        raise ScheduleError(f"{text!r} is not a cron expression; write five fields: minute hour day month weekday")
    try:
        sim = CronSim(fields, datetime(2024, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise ScheduleError(f"{text!r} is not a cron expression: {error}") from None
    if next(sim, None) is None:
        raise ScheduleError(f"{text!r} can never fire: no month has such a day")
    return fields


def slots_between(schedule: Schedule, after: datetime, until: datetime) -> list[datetime]:
    """Every slot in `(after, until]`, ascending. DST policy `once`: see docs/concepts.md."""
    return list(takewhile(lambda slot: slot <= until, _slots_after(schedule, after)))


def next_slot(schedule: Schedule, after: datetime) -> datetime | None:
    """The first slot after `after`, or None when the schedule has no more."""
    return next(_slots_after(schedule, after), None)


def previous_slot(schedule: Schedule, at: datetime) -> datetime | None:
    """The latest slot at or before `at`, or None when the schedule has none that early."""
    if schedule.cron is not None:
        zone = zoneinfo.ZoneInfo(schedule.timezone)
        # cronsim looks strictly before, and in whole minutes: the next minute makes `at` itself a candidate.
        start = (at + timedelta(minutes=1)).replace(second=0, microsecond=0)
        found = CronSim(check_cron(schedule.cron), start.astimezone(zone), reverse=True)
        earlier = next((slot for slot in map(_utc, found) if slot <= at), None)
        # Walking back through a doubled hour can pass over its first half; walking forward again finds it.
        return None if earlier is None else max(slots_between(schedule, earlier, at), default=earlier)
    if schedule.every is not None:
        return schedule.anchor + (at - schedule.anchor) // schedule.every * schedule.every
    return max((slot for slot in schedule.at if slot <= at), default=None)


def jitter_of(job_id: str, schedule: Schedule, slot: datetime) -> timedelta:
    """The slot's own delay: a fixed function of job and slot, from zero up to (not including) the schedule's bound."""
    if not schedule.jitter:
        return timedelta(0)
    digest = hashlib.sha256(f"{job_id}@{slot.isoformat()}".encode()).digest()
    share = int.from_bytes(digest[:8], "big")
    return schedule.jitter // _TICK * share // 2**64 * _TICK


def _slots_after(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    if schedule.cron is not None:
        zone = zoneinfo.ZoneInfo(schedule.timezone)
        yield from map(_utc, CronSim(check_cron(schedule.cron), after.astimezone(zone)))
    elif schedule.every is not None:
        slot = schedule.anchor + ((after - schedule.anchor) // schedule.every + 1) * schedule.every
        while True:
            yield slot
            slot += schedule.every
    else:
        yield from sorted(slot for slot in set(schedule.at) if slot > after)


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)
