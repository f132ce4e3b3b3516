"""Do the parts of a job fit together, and with the rest of its folder? Pure.

What a single value says wrong is found by its model; here stand the faults that take two parts to see.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from scheduler.building import schedules_of
from scheduler.files import Document, KeyPath, Problem
from scheduler.instants import format_duration
from scheduler.jobs import REBOOT, Job, Schedule
from scheduler.named_calendars import NamedCalendars, unknown_calendar
from scheduler.schema_models import JobModel
from scheduler.timelaw import parts, slots_between

GAPS_FROM = datetime(2026, 1, 1, tzinfo=UTC)
GAPS_UNTIL = datetime(2036, 1, 1, tzinfo=UTC)
MAX_GAP_SLOTS = 400
"""A fixed stretch in which the gaps between slots are measured, so that a file is as right tomorrow as it is today."""


def misfits(
    document: Document, path: KeyPath, model: JobModel, zone: str | None, named: NamedCalendars
) -> Iterator[Problem]:
    """What is wrong with a job whose values are each right. `zone` is the defaults' time zone."""
    schedules = schedules_of(model)
    for number, one in enumerate(schedules):
        at = schedule_path(document, path, number)
        if (one.timezone or zone) is None:
            message, remedy = "has no time zone", "add `timezone: Asia/Jakarta`, or set it in `defaults`"
            yield document.problem(at, message, remedy, value="")
        if one.calendar is not None and one.calendar not in named:
            yield unknown_calendar(document, (*at, "calendar"), one.calendar, named)
    if model.window is not None and not any(one.cron != REBOOT for one in schedules):
        message = "has no slots to hold, because the job has no schedule that names any"
        yield document.problem((*path, "window"), message, "add a schedule, or remove the window", value="")
    if model.run is not None and model.run.http is not None and model.retry.on_exit:
        message = "is about exit codes, and a request has none"
        yield document.problem((*path, "retry", "on_exit"), message, "remove it: a status decides", value="")


def wide_jitter(document: Document, path: KeyPath, job: Job) -> Iterator[Problem]:
    """A jitter that could carry a run past the next slot. Whoever runs a job elsewhere draws what they will."""
    if job.run is None or job.schedule is None:
        return
    for number, one in enumerate(parts(job.schedule)):
        gap = narrow_gap(one)
        if gap is not None:
            message = f"is not below the smallest gap between slots, {format_duration(gap)}"
            at = (*schedule_path(document, path, number), "jitter")
            yield document.problem(at, message, f"write a jitter below {format_duration(gap)}")


def narrow_gap(schedule: Schedule) -> timedelta | None:
    """The smallest gap between a schedule's own slots, if its jitter is not below it; further schedules don't count.

    Looks at the first MAX_GAP_SLOTS slots past GAPS_FROM.
    """
    if schedule.every is not None:
        return schedule.every if schedule.jitter >= schedule.every else None
    if schedule.cron is None and schedule.repeat is None:
        return None
    # Only Quartz has seconds: all other slots are whole minutes apart, so most bounds need no look at them.
    if schedule.jitter < (timedelta(seconds=1) if schedule.dialect == "quartz" else timedelta(minutes=1)):
        return None
    gap = min((later - sooner for sooner, later in pairwise(_slots(replace(schedule, also=())))), default=None)
    return gap if gap is not None and schedule.jitter >= gap else None


def schedule_path(document: Document, path: KeyPath, number: int) -> KeyPath:
    """Where a job's schedule of a number is written: in a list, or alone."""
    job = document.value
    for part in path:
        job = job[part]
    return (*path, "schedule", number) if isinstance(job["schedule"], list) else (*path, "schedule")


def _slots(schedule: Schedule) -> list[datetime]:
    # Slots come fastest in bulk, and how far 400 of them reach is not known beforehand: the stretch doubles.
    stretch = timedelta(seconds=MAX_GAP_SLOTS)
    while True:
        until = min(GAPS_FROM + stretch, GAPS_UNTIL)
        found = slots_between(schedule, GAPS_FROM, until)
        if len(found) >= MAX_GAP_SLOTS or until == GAPS_UNTIL:
            return found[:MAX_GAP_SLOTS]
        stretch *= 2
