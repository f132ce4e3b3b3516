"""What the ledger knows, as the API's items: jobs, slots, runs. One function makes each number for every reader (I5).

Reads committed rows in the caller's transaction; judges nothing and reads no clock.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from collector.facts import Run, Verdict
from collector.hints import zone_hint
from collector.rows import SLOT_COLUMNS, run_of, verdict_of
from collector.summary import job_summary, run_flags
from scheduler.explaining.words import schedule_words
from scheduler.instants import format_instant, from_micros, to_micros
from scheduler.jobs import Job, Schedule
from scheduler.timelaw import next_slot, parts, skipped_by

WINDOW = timedelta(days=1)
NEXT_SLOTS = 3
HINT_WINDOW = timedelta(days=31)
HINT_LOOK = 200  # runs, and missed slots, that a hint looks at
MAX_EXCUSED = 1500
"""A day of minutes: so many slots outside a window, or on holidays, are looked past to find the next ones."""
Item = dict[str, Any]


def job_items(connection: Connection, jobs: Mapping[str, Job], now: datetime) -> list[Item]:
    """Every defined job, and every job that something was heard of, with its numbers of the last day."""
    verdicts, runs = verdicts_of_day(connection, now), runs_of_day(connection, now)
    totals, last, conflicts = _totals(connection), _last_runs(connection), _conflicts(connection)
    items = []
    for name in sorted(jobs.keys() | runs.keys() | totals.keys()):
        summary = job_summary(verdicts.get(name, ()), runs.get(name, ()), jobs.get(name), now)
        more = {"conflict"} if name in conflicts else set()
        if summary["slots"]["missed"]:
            more |= _hint_of_weeks(connection, jobs.get(name), now)
        summary["flags"] = sorted({*summary["flags"], *more})
        running = summary["runs"]["running"]
        about = _about(name, jobs.get(name), now)
        found = {"running": running, "window": "1d", **summary, "last_run": last.get(name)}
        items.append({**about, **found, "totals": totals.get(name) or _no_totals()})
    return items


def _hint_of_weeks(connection: Connection, job: Job | None, now: datetime) -> set[str]:
    """A daily job's pattern shows in weeks, not in a day: its newest runs without a slot, against its missed slots."""
    if job is None:
        return set()
    since = to_micros(now - HINT_WINDOW)
    query = "SELECT slot FROM slots WHERE job = ? AND verdict = 'missed' AND slot > ? ORDER BY slot DESC LIMIT ?"
    missed = {from_micros(slot) for (slot,) in connection.exec_driver_sql(query, (job.id, since, HINT_LOOK))}
    query = "SELECT blob FROM runs WHERE job = ? AND first_at > ? AND slot IS NULL ORDER BY first_at DESC LIMIT ?"
    runs = [run_of(blob) for (blob,) in connection.exec_driver_sql(query, (job.id, since, HINT_LOOK))]
    hint = zone_hint(job, missed, runs)
    return set() if hint is None else {hint}


def verdicts_of_day(connection: Connection, now: datetime) -> dict[str, list[Verdict]]:
    """The slots of `(now - 1 day, now]` by job."""
    query = f"SELECT {SLOT_COLUMNS} FROM slots WHERE slot > ? AND slot <= ? ORDER BY slot"  # noqa: S608 - constant column names
    found: dict[str, list[Verdict]] = defaultdict(list)
    for row in connection.exec_driver_sql(query, (to_micros(now - WINDOW), to_micros(now))):
        found[row[0]].append(verdict_of(row))
    return found


def runs_of_day(connection: Connection, now: datetime) -> dict[str, list[Run]]:
    """The runs that ended in the last day, and those still open, by job."""
    query = "SELECT blob FROM runs WHERE ended_at > ? OR ended_at IS NULL"
    found: dict[str, list[Run]] = defaultdict(list)
    for (blob,) in connection.exec_driver_sql(query, (to_micros(now - WINDOW),)):
        run = run_of(blob)
        found[run.job].append(run)
    return found


def dead_runs(connection: Connection) -> list[Run]:
    """Every run that ever came to a dead-letter queue."""
    return [run_of(blob) for (blob,) in connection.exec_driver_sql("SELECT blob FROM runs WHERE dead_arrivals > 0")]


def slot_item(verdict: Verdict) -> Item:
    """One slot as the API lists it."""
    return {
        "job": verdict.job,
        "slot": format_instant(verdict.slot),
        "verdict": verdict.kind,
        "reason": verdict.reason,
        "limit": format_instant(verdict.limit),
        "settled_at": _text(verdict.settled_at),
        "run": verdict.run,
        "started_at": _text(verdict.started_at),
        "lateness_seconds": verdict.lateness,
    }


def run_item(run: Run, job: Job | None, now: datetime) -> Item:
    """One run as the API lists it. `output_tail` and `error` hold foreign text: escape it for where it goes."""
    return {
        "id": run.id,
        "job": run.job,
        "slot": _text(run.slot),
        "outcome": run.outcome,
        "attempts": run.starts,
        "started_at": _text(run.started_at),
        "ended_at": _text(run.ended_at),
        "duration_seconds": run.duration,
        "error": run.error,
        "flags": sorted(run_flags(run, job, now)),
        "output_tail": run.output_tail,
    }


def schedule_text(schedule: Schedule) -> str:
    """The schedule as a person wrote it, shortly; several are joined, each with its zone where that is another."""
    zones = [part.timezone for part in parts(schedule)]
    texts = [schedule_words(part) for part in parts(schedule)]
    if len(set(zones)) > 1:
        texts = [f"{text} ({zone})" for text, zone in zip(texts, zones, strict=True)]
    return "; ".join(texts)


def coming_slots(job: Job, now: datetime) -> list[datetime]:
    """The next few slots after `now` that the job owes; none for a job without schedule, or one that is disabled.

    Of slots that the definition excuses, no more than `MAX_EXCUSED` are looked past.
    """
    found: list[datetime] = []
    if job.schedule is None or not job.enabled:
        return found
    at = next_slot(job.schedule, now)
    for _ in range(MAX_EXCUSED + NEXT_SLOTS):
        if at is None or len(found) == NEXT_SLOTS:
            break
        found += [] if skipped_by(job, at) else [at]
        at = next_slot(job.schedule, at)
    return found


def _about(name: str, job: Job | None, now: datetime) -> Item:
    """What the definition says; a job that no file defines has only its name."""
    job = job or Job(id=name)
    schedule = job.schedule
    return {
        "id": name,
        **{key: getattr(job, key) for key in ("description", "owner", "impact", "type", "runbook")},
        "labels": dict(job.labels),
        **{key: getattr(job, key) for key in ("queue", "tenant", "priority", "enabled")},
        "schedule": None if schedule is None else {"text": schedule_text(schedule), "timezone": schedule.timezone},
        "next_slots": [format_instant(slot) for slot in coming_slots(job, now)],
    }


def _totals(connection: Connection) -> dict[str, Item]:
    """Since ever, by job: runs by outcome, slots by verdict, attempts and their like."""
    found: dict[str, Item] = defaultdict(_no_totals)
    query = (
        "SELECT job, outcome, count(*), sum(starts), sum(retries), sum(duplicate_starts) FROM runs"
        " GROUP BY job, outcome"
    )
    for job, outcome, count, starts, retries, duplicates in connection.exec_driver_sql(query):
        totals = found[job]
        if outcome is not None:
            totals["runs"][outcome] = count
        totals["attempts"] += starts
        totals["retries"] += retries
        totals["duplicate_starts"] += duplicates
    for job, verdict, count in connection.exec_driver_sql("SELECT job, verdict, count(*) FROM slots GROUP BY 1, 2"):
        found[job]["slots"][verdict] = count
    return found


def _no_totals() -> Item:
    return {"runs": {}, "slots": {}, "attempts": 0, "retries": 0, "duplicate_starts": 0}


def _last_runs(connection: Connection) -> dict[str, Item]:
    """By job, the newest run that has begun or ended."""
    # Not by first_at: runs planned in one pass share it.
    newest = "PARTITION BY job ORDER BY coalesce(started_at, ended_at) DESC, run_key DESC"
    begun = "started_at IS NOT NULL OR ended_at IS NOT NULL"
    ranked = f"SELECT blob, row_number() OVER ({newest}) AS n FROM runs WHERE {begun}"  # noqa: S608 - constant texts
    query = f"SELECT blob FROM ({ranked}) WHERE n = 1"  # noqa: S608 - constant texts
    keys = ("id", "outcome", "started_at", "ended_at", "duration_seconds", "error")
    runs: Iterable[Run] = [run_of(blob) for (blob,) in connection.exec_driver_sql(query)]
    items = {run.job: run_item(run, None, run.first_at) for run in runs}
    return {job: {key: item[key] for key in keys} for job, item in items.items()}


def _conflicts(connection: Connection) -> set[str]:
    return {job for (job,) in connection.exec_driver_sql("SELECT DISTINCT job FROM journal WHERE conflict")}


def _text(value: datetime | None) -> str | None:
    return None if value is None else format_instant(value)
