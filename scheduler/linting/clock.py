"""Times that a zone's clock does not show on some day, or shows twice, and zone names that look the other way round.

Answers: which of a schedule's fixed times does a change of the clocks touch this year, and what becomes of them? Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from scheduler.cron import parse_cron
from scheduler.instants import format_instant
from scheduler.jobs import REBOOT, Job, Schedule
from scheduler.linting.codes import Note, listed
from scheduler.offsets import Transition, after_gap, readings, transitions, wall
from scheduler.timelaw import parts, slots_between

TIMES_SHOWN = 4
_INVERTED = re.compile(r"Etc/GMT([+-])([1-9]\d?)")
_TICK = timedelta.resolution
_MARGIN = timedelta(days=2)


def zone_notes(job: Job) -> Iterator[Note]:
    """`Etc/GMT-1` is an hour ahead of UTC, which is the reverse of how offsets are written everywhere else."""
    zones = [part.timezone for part in parts(job.schedule)] if job.schedule else []
    for zone in dict.fromkeys([*zones, *([job.window.timezone] if job.window else [])]):
        match = _INVERTED.fullmatch(zone)
        if match:
            sign, hours = match.groups()
            true = "-" if sign == "+" else "+"
            mirrored = f"Etc/GMT{true}{hours}"
            yield Note("inverted_zone", f"{zone} is UTC{true}{hours}; for UTC{sign}{hours} write {mirrored} or a place")


def clock_notes(schedule: Schedule, year: int) -> Iterator[Note]:
    """Fixed times that are missing or doubled on days of `year`; nothing for what follows the clock or ignores it."""
    if not _fixed(schedule):
        return
    for change in _changes(schedule.timezone, year):
        times = _named(schedule, change)
        if times and change.after > change.before:
            yield Note("gap_time", _missing(schedule, change, times))
        elif times:
            yield Note("fold_time", _doubled(schedule, change, times))


def _fixed(schedule: Schedule) -> bool:
    if schedule.cron is None or schedule.cron == REBOOT:
        return schedule.repeat is not None
    return not parse_cron(schedule.cron, schedule.dialect).follows_clock


def _changes(zone: str, year: int) -> list[Transition]:
    start, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    return [change for change in transitions(zone, start - _MARGIN, end + _MARGIN) if change.opens.year == year]


def _named(schedule: Schedule, change: Transition) -> list[datetime]:
    """The wall times in the gap or the doubled time that the schedule names: its slots, were its zone UTC."""
    plain = replace(schedule, timezone="UTC", also=())
    opens, closes = (edge.replace(tzinfo=UTC) for edge in (change.opens, change.closes))
    return [slot.replace(tzinfo=None) for slot in slots_between(plain, opens - _TICK, closes - _TICK)]


def _missing(schedule: Schedule, change: Transition, times: list[datetime]) -> str:
    does = "do" if len(times) > 1 else "does"
    moved = after_gap(schedule.timezone, times[0])
    reads = wall(schedule.timezone, moved)
    to = _clock(reads) if reads.date() == times[0].date() else f"{reads.date()} {_clock(reads)}"
    rule = "leaves that day's run out" if len(times) == 1 else "leaves those runs out"
    if schedule.dst == "once":
        rule = f"runs {'them once' if len(times) > 1 else 'it'} at {to} ({format_instant(moved)})"
    says = f"{_times(times)} {does} not exist on {_date(times)} in {schedule.timezone}"
    return f"{says}: clocks go forward from {_clock(change.opens)}; `dst: {schedule.dst}` {rule}"


def _doubled(schedule: Schedule, change: Transition, times: list[datetime]) -> str:
    first, second = readings(schedule.timezone, times[0])[:2]
    rule = f"runs {'each' if len(times) > 1 else 'it'} once, the first time ({format_instant(first)})"
    if schedule.dst == "literal":
        rule = f"runs {'each' if len(times) > 1 else 'it'} twice ({format_instant(first)} and {format_instant(second)})"
    says = f"{_times(times)} {'come' if len(times) > 1 else 'comes'} twice on {_date(times)} in {schedule.timezone}"
    return f"{says}: clocks go back from {_clock(change.closes)}; `dst: {schedule.dst}` {rule}"


def _times(times: list[datetime]) -> str:
    return listed([_clock(time) for time in times], TIMES_SHOWN)


def _date(times: list[datetime]) -> str:
    return times[0].date().isoformat()


def _clock(time: datetime) -> str:
    return f"{time:%H:%M:%S}".removesuffix(":00")
