"""Why does one schedule not name an instant? The field, day or interval that stands against it, in words. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from scheduler.calendars import MAX_SHIFT, business_date, holiday_name, shift
from scheduler.explaining.clock import clock_note
from scheduler.explaining.fields import FieldCode, misfits
from scheduler.explaining.words import (
    DAY_NAMES,
    MONTH_NAMES,
    calendar_words,
    clock,
    dated,
    day,
    length,
    listed,
    reading,
    repeat_words,
    schedule_words,
    spans,
)
from scheduler.instants import format_instant
from scheduler.jobs import REBOOT, Dialect, Repeat, Schedule
from scheduler.offsets import after_gap, readings, wall
from scheduler.repeats import repeat_days
from scheduler.timelaw import previous_slot

Against = FieldCode | Literal["time", "starting", "interval", "instants", "reboot", "dst_gap", "dst_fold", "moved"]
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Objection:
    """What stands against an instant: the reason's name, and the words."""

    code: Against
    sentences: tuple[str, ...]


def objection(part: Schedule, at: datetime) -> Objection:
    """Why `part` (without its further schedules) does not name `at`; asked only where that is so."""
    if part.cron == REBOOT:
        says = "`@reboot` is a run at the host's start: it has no slots, so nothing is owed at any instant."
        return Objection("reboot", (says,))
    if part.every is not None:
        return Objection("interval", (_between(part, part.every, at),))
    if part.cron is None and part.repeat is None:
        return Objection("instants", (_fixed(part),))
    return _of_days(part, at)


def moved_here(part: Schedule, slot: datetime) -> str | None:
    """Where a slot comes from that a holiday has moved, in words; None for one that stands where it was written."""
    if part.holidays in (None, "skip") or named(plain(part), slot):
        return None
    step = 1 if part.holidays == "next_business_day" else -1
    for number in range(1, MAX_SHIFT + 1):
        for origin in readings(part.timezone, wall(part.timezone, slot) - step * number * _DAY):
            if named(plain(part), origin) and _distance(part, origin) == step * number * _DAY:
                from_there = f"moved it here from {dated(part.timezone, origin)}"
                return f"`holidays: {part.holidays}` {from_there}: {_closed(part, origin)}."
    return None


def named(part: Schedule, at: datetime) -> bool:
    """Whether the schedule names an instant in the minute of `at`, at or before it."""
    found = previous_slot(part, at)
    return found is not None and found >= at.replace(second=0, microsecond=0)


def plain(part: Schedule) -> Schedule:
    """The schedule alone, before any holiday has moved a slot."""
    return replace(part, holidays=None, also=())


def _of_days(part: Schedule, at: datetime) -> Objection:
    note = clock_note(part, at)
    if note is not None and note.decides:
        return Objection(note.code, note.sentences)
    if part.holidays not in (None, "skip") and named(plain(part), at):
        return Objection("moved", (_moved_away(part, at),))
    aside = () if note is None else note.sentences
    local = wall(part.timezone, at)
    if part.repeat is not None:
        found = _against_repeat(part, part.repeat, local)
    else:
        assert part.cron is not None
        found = _against_fields(part.cron, part.dialect, local)
    return Objection(found.code, (*found.sentences, *aside))


def _against_fields(text: str, dialect: Dialect, local: datetime) -> Objection:
    wrong = misfits(text, dialect, local)
    # The coarsest field decides: on a wrong day, nobody asks about the minute.
    return Objection(wrong[0].code, tuple(misfit.sentence for misfit in wrong))


def _against_repeat(part: Schedule, repeat: Repeat, local: datetime) -> Objection:
    if local.date() < repeat.starting:
        says = f"`{repeat_words(repeat)}` begins on {day(repeat.starting)}, which is later."
        return Objection("starting", (says,))
    days = repeat_days(repeat, part.calendar, local.year, local.month)
    if local.day not in days:
        others = f"; in {MONTH_NAMES[local.month - 1]} {local.year} it falls on day {spans(days)}" if days else ""
        says = f"`{repeat_words(repeat)}` does not fall on {day(local.date())}{others}."
        return Objection("day", (says,))
    times = listed([clock(second) for second in repeat.times])
    says = f"The day is right, but the clock reads {reading(local)}, and `{repeat_words(repeat)}` allows only {times}."
    return Objection("time", (says,))


def _between(part: Schedule, every: timedelta, at: datetime) -> str:
    passed = (at - part.anchor) % every
    counted = f"It runs {schedule_words(part)}, counted in real time from {format_instant(part.anchor)}"
    return f"{counted}; this instant lies {length(passed)} past one of those."


def _fixed(part: Schedule) -> str:
    if len(part.at) == 1:
        return f"It is due {schedule_words(part)} and at no other instant."
    return f"It is due at {len(part.at)} fixed instants, and this is none of them."


def _moved_away(part: Schedule, at: datetime) -> str:
    slot = previous_slot(plain(part), at) or at
    distance = _distance(part, slot)
    target = wall(part.timezone, slot) + distance
    to = next(iter(readings(part.timezone, target)), None) or after_gap(part.timezone, target)
    return f"{_closed(part, slot)}, so `holidays: {part.holidays}` moves the slot to {dated(part.timezone, to)}."


def _distance(part: Schedule, slot: datetime) -> timedelta:
    step = 1 if part.holidays == "next_business_day" else -1
    return shift(part.calendar, business_date(part, slot), step) or timedelta(0)


def _closed(part: Schedule, slot: datetime) -> str:
    """Why a slot's business date is no business day: `2026-12-25 is Christmas Day in the calendar `id``."""
    on = business_date(part, slot)
    name = None if part.calendar is None else holiday_name(part.calendar, on)
    if name is None:
        return f"{on} is a {DAY_NAMES[on.weekday()]}, no business day by {calendar_words(part.calendar)}"
    return f"{day(on)} is {name} in {calendar_words(part.calendar)}"
