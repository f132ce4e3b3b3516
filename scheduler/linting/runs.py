"""How long a job's runs may take, against how often it is due and how long it is given to stop. Pure.

`measured` is the job's duration in seconds that 95 of 100 runs stay within, where the service knows it.
"""

import math
from collections.abc import Iterator
from datetime import timedelta

from scheduler.instants import format_duration
from scheduler.jobs import Command, Job
from scheduler.linting.codes import Note
from scheduler.linting.slots import shortest_interval

TINY = timedelta(seconds=5)
"""A start limit below this is broken by any pause of the machine."""

DEFAULT_TIMEOUT = Command(argv=()).timeout


def run_notes(job: Job, year: int, measured: float | None = None) -> Iterator[Note]:
    """What is doubtful about a job's runs; of the measured duration only when one is given."""
    if job.overlap == "allow":
        yield from _overlap(job)
    if job.schedule is not None:
        yield from _limits(job)
        interval = shortest_interval(job.schedule, year)
        if interval is not None:
            yield from _against(job, interval, measured)
    if job.run is not None and measured is not None and measured > job.run.grace.total_seconds():
        yield Note("grace_too_short", _grace(job.run, measured))


def _overlap(job: Job) -> Iterator[Note]:
    labels = job.labels
    because = "mutates" if labels.get("mutates", "false") != "false" else "tier" if _critical(job) else None
    if because is not None:
        says = f"`overlap: allow` on a job labelled `{because}: {labels[because]}`: two runs may change the same things"
        yield Note("overlap_mutates", f"{says} at once; use `forbid` or `queue`")


def _critical(job: Job) -> bool:
    return job.labels.get("tier") == "critical"


def _limits(job: Job) -> Iterator[Note]:
    limit = job.on_time
    if job.run is None and job.run_deadline is None and limit.complete_within is None:
        says = "nothing limits how long a run may take: one that hangs is never overdue"
        yield Note("no_deadline", f"{says}; give `deadline: {{run: ...}}` or `on_time: {{complete_within: ...}}`")
    if limit.start_within is not None and limit.start_within < TINY:
        says = f"`start_within: {format_duration(limit.start_within)}` is broken by any pause of the machine"
        yield Note("start_within_tiny", f"{says}, and a run that works well counts as late; use 5s or more")


def _against(job: Job, interval: timedelta, measured: float | None) -> Iterator[Note]:
    """What was measured speaks louder than the limits; a run that ends as the next begins does not overlap."""
    if measured is not None and measured > interval.total_seconds():
        says = f"runs take {_seconds(measured)} (p95), and the shortest interval is {format_duration(interval)}"
        yield Note("run_time_exceeds_interval", f"{says}: {_outcome(job, measured / interval.total_seconds())}")
        return
    longer = [f"{name} {format_duration(value)}" for name, value in _given(job) if value > interval]
    if longer:
        says = f"{' and '.join(longer)} {'is' if len(longer) == 1 else 'are'} longer than the shortest interval"
        message = f"{says} of {format_duration(interval)}: one slow run touches the slots after it; {_SHORTEN}"
        yield Note("limit_exceeds_interval", message)


_SHORTEN = "shorten the limit, or be due less often"


def _given(job: Job) -> Iterator[tuple[str, timedelta]]:
    """The limits somebody chose: said of the default, it would be said of every job that is due within the hour."""
    if job.on_time.complete_within is not None:
        yield "on_time.complete_within", job.on_time.complete_within
    if job.run is not None and job.run.timeout != DEFAULT_TIMEOUT:
        yield "run.timeout", job.run.timeout


def _outcome(job: Job, ratio: float) -> str:
    taken = math.ceil(ratio)
    if job.overlap == "forbid":
        return f"with `overlap: forbid` {taken - 1} of {taken} slots are skipped; be due less often"
    if job.overlap == "queue":
        return "with `overlap: queue` the backlog grows without end; be due less often"
    if job.overlap == "replace":
        return "with `overlap: replace` most runs are stopped before they end; be due less often"
    return f"with `overlap: allow` about {taken} run at once; be due less often"


def _grace(command: Command, measured: float) -> str:
    says = f"`run.grace: {format_duration(command.grace)}` is shorter than the work, which takes {_seconds(measured)}"
    return f"{says} (p95): a run that is told to stop is killed before it could end; lengthen the grace"


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s"
