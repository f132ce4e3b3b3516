"""What a definition says about one slot of a job, in words. Pure.

Answers: which slot is meant, why is no run owed for it, what is surprising about it, and when does it start?
"""

from dataclasses import replace
from datetime import datetime
from typing import Literal

from scheduler.calendars import business_date, holiday_name
from scheduler.explaining.clock import clock_note
from scheduler.explaining.fields import fitting
from scheduler.explaining.no_slot import moved_here
from scheduler.explaining.versions import base, limit
from scheduler.explaining.words import calendar_words, clock, dated, day, length, moment, placed, reading, window_words
from scheduler.instants import format_duration
from scheduler.jobs import Job, Schedule
from scheduler.offsets import wall
from scheduler.timelaw import Excuse, jitter_bound, jitter_of, parts, previous_slot

SlotCode = Literal["slot", "jitter", "dst_gap", "dst_fold", "moved"]


def opening(job: Job, slot: datetime, at: datetime) -> str:
    """Which slot is meant; where `at` is none itself, the sentence says why this one is."""
    assert job.schedule is not None
    zone = job.schedule.timezone
    if slot == at:
        return f"{placed(zone, slot)} is a slot of {job.id}."
    if slot > at:
        early = format_duration(job.early)
        near = f"lies {length(slot - at)} before the one of {dated(zone, slot)}, and a run may start {early} early"
    elif at <= limit(job, slot):
        near = f"lies within the limit of the one of {dated(zone, slot)}"
    else:
        near = f"lies in the minute of the one of {dated(zone, slot)}, past its limit ({moment(limit(job, slot))})"
    return f"{placed(zone, at)} is no slot of {job.id} itself, but {near}: that slot is meant."


def excuse_told(job: Job, slot: datetime, excuse: Excuse) -> str:
    """Why no run is owed for an expected slot."""
    if excuse == "disabled":
        return "The job is disabled (`enabled: false`), so no run is owed."
    if excuse == "window":
        assert job.window is not None
        here = reading(wall(job.window.timezone, slot))
        return f"The clock reads {here}, outside the window {window_words(job.window)}, so no run is owed."
    return _holiday(naming(job, slot)[0], slot)


def definition_told(job: Job, slot: datetime, at: datetime) -> tuple[SlotCode, list[str]]:
    """What is worth knowing about an owed slot: a change of the clocks, a move, a surprising field, jitter."""
    part = naming(job, slot)[0]
    code: SlotCode = "slot"
    sentences = []
    note, moved = clock_note(part, slot), moved_here(part, slot)
    if note is not None and (note.decides or note.code == "dst_fold"):
        code, sentences = note.code, list(note.sentences)
    if moved is not None:
        code, sentences = "moved", [*sentences, moved]
    elif not sentences and part.cron is not None:
        sentences += fitting(part.cron, part.dialect, wall(part.timezone, slot))
    delayed = _jitter(job, slot)
    if delayed:
        sentences.append(delayed)
        code = "jitter" if at < base(job, slot) else code
    return code, sentences


def naming(job: Job, slot: datetime) -> list[Schedule]:
    """The schedules of a job, each alone, that name a slot."""
    assert job.schedule is not None
    alone = [replace(part, also=()) for part in parts(job.schedule)]
    return [part for part in alone if previous_slot(part, slot) == slot]


def _holiday(part: Schedule, slot: datetime) -> str:
    on, calendar = business_date(part, slot), part.calendar
    assert calendar is not None
    belongs = ""
    if on != wall(part.timezone, slot).date():
        belongs = f"Until {clock(part.business_day_starts)} it still is the business day before. "
    name = holiday_name(calendar, on)
    if part.holidays != "skip" or name is None:
        return f"{belongs}{day(on)} is no business day, and none is near enough to move to, so no run is owed."
    return f"{belongs}{day(on)} is {name} in {calendar_words(calendar)}, and `holidays: skip` owes no run then."


def _jitter(job: Job, slot: datetime) -> str:
    assert job.schedule is not None
    bound = jitter_bound(job.schedule)
    if not bound:
        return ""
    if job.run is None:
        until = moment(slot + bound)
        return f"Whoever runs it may delay it by up to {format_duration(bound)}, so it may start until {until}."
    delay = jitter_of(job.id, job.schedule, slot)
    if not delay:
        return ""
    return f"Its jitter is {length(delay)} for this slot, so the run starts at {moment(slot + delay)}."
