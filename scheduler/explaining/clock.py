"""What a change of the clocks makes of a schedule near an instant, in words. Pure.

Answers: is there a time of the schedule that the clock does not show that day, or shows twice, and what follows?
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from scheduler.cron import parse_cron
from scheduler.explaining.words import listed, moment, reading
from scheduler.jobs import REBOOT, Schedule
from scheduler.offsets import Transition, after_gap, readings, transitions, wall
from scheduler.timelaw import slots_between

_TICK = timedelta.resolution
_NEAR = timedelta(days=2)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ClockNote:
    """What a change does. `decides`: it is why the instant is a slot, or is none; else it is worth knowing that day."""

    code: Literal["dst_gap", "dst_fold"]
    decides: bool
    sentences: tuple[str, ...]


def clock_note(part: Schedule, at: datetime) -> ClockNote | None:
    """The first change that touches the day of `at` and a time that the schedule names; None for most days."""
    if part.repeat is None and part.cron in (None, REBOOT):
        return None
    today = wall(part.timezone, at).date()
    for change in transitions(part.timezone, at - _NEAR, at + _NEAR):
        times = _named(part, change)
        if times and change.opens.date() <= today <= change.closes.date():
            note = _gap(part, change, times, at) if change.after > change.before else _fold(part, times, at)
            if note is not None:
                return note
    return None


def _named(part: Schedule, change: Transition) -> list[datetime]:
    """The wall times in the gap or the doubled time that the schedule names: its slots, were its zone UTC."""
    plain = replace(part, timezone="UTC", also=())
    opens, closes = (edge.replace(tzinfo=UTC) for edge in (change.opens, change.closes))
    return [slot.replace(tzinfo=None) for slot in slots_between(plain, opens - _TICK, closes - _TICK)]


def _follows(part: Schedule) -> bool:
    return part.cron is not None and parse_cron(part.cron, part.dialect).follows_clock


def _gap(part: Schedule, change: Transition, times: list[datetime], at: datetime) -> ClockNote:
    zone, minute = part.timezone, at.replace(second=0, microsecond=0)
    # Somebody who asks about a time that the clock never showed has reckoned with the offset before or after.
    meant = [(minute + offset).replace(tzinfo=None) for offset in (change.before, change.after)]
    asked = any(one <= time < one + _MINUTE for one in meant for time in times)
    lands = part.dst == "once" and not _follows(part)
    moved = after_gap(zone, times[0])
    does = "do" if len(times) > 1 else "does"
    says = f"{_times(times)} {does} not exist on {times[0].date()} in {zone}"
    edges = f"the clocks go forward from {_edge(change.opens, times)} to {_edge(change.closes, times)}"
    return ClockNote("dst_gap", asked or (lands and minute == moved), (f"{says}: {edges}.", _gap_rule(part, moved)))


def _gap_rule(part: Schedule, moved: datetime) -> str:
    if part.dst == "once" and _follows(part):
        return "The minute or hour field begins with `*`, so the line follows the clock, and nothing is made up for."
    if part.dst == "once":
        then = f"{reading(wall(part.timezone, moved))} ({moment(moved)})"
        return f"`dst: once` lets it run at the first real minute after the gap, {then}."
    return f"`dst: {part.dst}` leaves it out on that day."


def _fold(part: Schedule, times: list[datetime], at: datetime) -> ClockNote | None:
    zone = part.timezone
    local = wall(zone, at).replace(second=0, microsecond=0)
    time = next((one for one in times if local <= one < local + _MINUTE), None)
    if time is None:
        return None
    first, second = readings(zone, time)[:2]
    both = f"first at {moment(first)}, again at {moment(second)}"
    twice = f"{reading(time)} comes twice on {time.date()} in {zone}: {both}."
    return ClockNote("dst_fold", at >= second, (twice, _fold_rule(part)))


def _fold_rule(part: Schedule) -> str:
    if part.dst == "literal":
        return "`dst: literal` runs at both."
    if part.dst == "once" and _follows(part):
        return "The minute or hour field begins with `*`, so the line follows the clock and runs at both."
    return f"`dst: {part.dst}` runs at the first only."


def _times(times: list[datetime]) -> str:
    return listed([reading(time) for time in times])


def _edge(edge: datetime, times: list[datetime]) -> str:
    # A gap may be a whole day, and its edges then lie on others.
    return reading(edge) if edge.date() == times[0].date() else f"{edge.date()} {reading(edge)}"
