"""Turns a snapshot into columns for the screen's tables: values in, values out.

Numbers stay numbers, so that a click on a heading sorts them; what is unknown stays None, which the table draws as
"no data". Cells are drawn as plain text, so foreign text needs no Markdown escape here, only a bound.
"""

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import words
from answers import Job, Objective, Queue, Run, Snapshot
from standing import troubles

Table = dict[str, list[Any]]
NEXT_AT_MOST = 10
BURN_WINDOWS = ("5m", "30m", "1h", "2h", "6h", "1d", "3d")


class Wanted(NamedTuple):
    """The filter of the address bar; an empty string lets everything through."""

    job: str = ""
    tenant: str = ""

    def admits(self, job: Job) -> bool:
        """Whether the job's id, description or owner holds the text, and its tenant is the one asked for."""
        text = f"{job.id}\n{job.description}\n{job.owner or ''}".casefold()
        return self.job.strip().casefold() in text and self.tenant in ("", job.tenant or "")


def narrowed(now: Snapshot, wanted: Wanted) -> list[Job]:
    """The jobs that the filter admits, those in trouble first."""
    return sorted((job for job in now.jobs if wanted.admits(job)), key=lambda job: (-troubles(job), job.id))


def objectives(found: Iterable[Objective]) -> Table:
    """Where each objective stands: budget left and burn rates. The worst first."""
    order = list(words.STATES)
    ranked = sorted(found, key=lambda one: (order.index(one.state) if one.state in order else -1, one.id))
    return _columns(
        ["State", "Objective", "Promise", "Attained %", "Budget left %", "Bad", "Of", "Allowed", *_burns()],
        [
            [
                words.STATES.get(one.state, f"? {one.state}"),
                words.plain(one.id),
                _promise(one),
                words.in_percent(one.sli),
                words.in_percent(one.budget.remaining, 1),
                one.bad,
                one.expected,
                _finite(one.budget.allowed),
                *(_finite(one.burn.get(window)) for window in BURN_WINDOWS),
            ]
            for one in ranked
        ],
    )


def _burns() -> list[str]:
    return [f"Burn {window} ×" for window in BURN_WINDOWS]


def _promise(one: Objective) -> str:
    goal = words.NO_DATA if one.objective is None else f"{one.objective * 100:g} %"
    return f"{goal} {words.INDICATORS.get(one.indicator, one.indicator)} in {one.window}"


def jobs(found: list[Job], zone: ZoneInfo, now: datetime) -> Table:
    """One row for each job, in the order given."""
    heads = ["Job", "Last run", "Ended", "On time %", "Success %", "Run p95 s", "Run p99 s", "Late p95 s"]
    counts = ["Retries", "Runs", "Failed", *(str(words.VERDICTS[name]) for name in words.VERDICTS)]
    return _columns([*heads, *counts, "Last error", "Owner"], [_job_row(job, zone, now) for job in found])


def _job_row(job: Job, zone: ZoneInfo, now: datetime) -> list[Any]:
    slots = job.slots
    return [
        words.plain(job.id),
        _last(job),
        words.clock(job.last_run.ended_at, zone, now) if job.last_run and job.last_run.ended_at else None,
        words.in_percent(job.on_time_rate),
        words.in_percent(job.success_rate),
        *(_finite(value) for value in (job.duration_seconds.p95, job.duration_seconds.p99, job.lateness_seconds.p95)),
        *(job.retries, job.runs.total, job.runs.failed + job.runs.dead_lettered),
        *(slots.missed, slots.late, slots.unknown, sum(slots.skipped.values()), slots.on_time, slots.pending),
        words.error(job.last_run.error) if job.last_run else "",
        words.plain(job.owner) if job.owner else None,
    ]


def _last(job: Job) -> str:
    if not job.enabled:
        return "■ disabled"
    if job.running:
        return words.OUTCOMES["running"]
    return words.outcome(job.last_run.outcome) if job.last_run else "– no run yet"


def next_slots(found: Iterable[Job], zone: ZoneInfo, now: datetime) -> Table:
    """The slots that come next, the soonest first, and the zone that each job's own schedule counts in."""
    coming = sorted((slot, job.id, job) for job in found if job.enabled for slot in job.next_slots if slot > now)
    return _columns(
        ["At", "In", "Job", "Schedule", "Schedule's zone"],
        [
            [
                words.clock(slot, zone, now),
                words.until(slot, now),
                words.plain(job_id),
                words.plain(job.schedule.text) if job.schedule else None,
                words.plain(job.schedule.timezone) if job.schedule else None,
            ]
            for slot, job_id, job in coming[:NEXT_AT_MOST]
        ],
    )


def running(found: Iterable[Run], zone: ZoneInfo, now: datetime) -> Table:
    """What runs now, the longest first."""
    ranked = sorted(found, key=lambda run: (run.started_at or now, run.id))
    return _columns(
        ["Job", "Since", "For", "Attempts", "Flags", "Run"],
        [
            [
                words.plain(run.job),
                words.clock(run.started_at, zone, now) if run.started_at else None,
                words.seconds((now - run.started_at).total_seconds()) if run.started_at else None,
                run.attempts,
                words.plain(", ".join(run.flags)),
                words.plain(run.id),
            ]
            for run in ranked
        ],
    )


def dead(found: Iterable[Run], zone: ZoneInfo, now: datetime) -> Table:
    """The dead letters that wait for a person, the newest first."""
    ranked = sorted(found, key=lambda run: (run.ended_at or now, run.id), reverse=True)
    return _columns(
        ["Job", "Died", "Error", "Attempts", "Run"],
        [
            [
                words.plain(run.job),
                words.clock(run.ended_at, zone, now) if run.ended_at else None,
                words.error(run.error),
                run.attempts,
                words.plain(run.id),
            ]
            for run in ranked
        ],
    )


def queues(found: Iterable[Queue]) -> Table:
    """Depth and age of each queue and of its dead letters."""
    return _columns(
        ["Queue", "Waiting", "Oldest waits", "Running", "Dead letters", "Oldest dead"],
        [
            [
                words.plain(one.queue),
                one.depth,
                _age(one.oldest_seconds),
                one.running,
                one.dead_depth,
                _age(one.dead_oldest_seconds),
            ]
            for one in sorted(found, key=lambda one: (-(one.dead_depth or 0), -(one.depth or 0), one.queue))
        ],
    )


def total(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None when nothing is."""
    present = [value for value in values if value is not None]
    return sum(present) if present else None


def _age(value: float | None) -> str | None:
    return None if value is None else words.seconds(value)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _columns(heads: list[str], rows: list[list[Any]]) -> Table:
    return {head: [row[place] for row in rows] for place, head in enumerate(heads)}
