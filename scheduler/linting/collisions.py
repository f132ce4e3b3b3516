"""Jobs of one queue that start at one instant: a plain count, with no opinion on where there is room. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from scheduler.findings import Finding
from scheduler.instants import format_instant
from scheduler.jobs import Job
from scheduler.linting.codes import JobCode, listed
from scheduler.linting.slots import year_start
from scheduler.timelaw import jitter_of, skipped_by, slots_between

MAX_AT_ONCE = 10
"""So many jobs of one queue may start at one instant without a word."""
DAYS_COUNTED = 7
"""The first days of the year are counted: they hold a month's first day and each day of a week."""
STARTS_COUNTED = 1_500
"""Of each job so many starts are counted: a day of a job that runs each minute."""

CODE: JobCode = "collision"


def collisions(jobs: Sequence[Job], sources: Mapping[str, str], year: int) -> Iterator[Finding]:
    """One warning for each queue with more than MAX_AT_ONCE jobs at one instant, about the fullest instant.

    Jobs that are switched off, watched only, or without a schedule start nothing here.
    """
    starts: dict[str, dict[datetime, list[str]]] = defaultdict(lambda: defaultdict(list))
    for job in jobs:
        if job.enabled and job.run is not None:
            for at in _starts(job, year):
                starts[job.queue][at].append(job.id)
    for queue, instants in starts.items():
        at, names = max(sorted(instants.items()), key=lambda item: len(item[1]))  # of equals the earliest
        if len(names) > MAX_AT_ONCE:
            says = f"{len(names)} jobs of queue {queue} start at {format_instant(at)}: {listed(names, 5)}"
            remedy = "spread them with `H` in the cron fields or with `jitter`"
            yield Finding("warning", CODE, sources.get(names[0], names[0]), f"{says}; {remedy}")


def _starts(job: Job, year: int) -> set[datetime]:
    """When the job's first runs of the year start: each slot and its own jitter."""
    if job.schedule is None:
        return set()
    start, step = year_start(year) - timedelta.resolution, timedelta(hours=1)
    end = start + timedelta(days=DAYS_COUNTED)
    slots: list[datetime] = []
    while start < end and len(slots) < STARTS_COUNTED:
        until = min(start + step, end)
        slots += slots_between(job.schedule, start, until)
        start, step = until, step * 2
    owed = (slot for slot in slots[:STARTS_COUNTED] if skipped_by(job, slot) is None)
    return {slot + jitter_of(job.id, job.schedule, slot) for slot in owed}
