"""Which slots become queue rows? Slots due soon are written before they are due; passed-over ones get an answer.

The unique key `(job, slot)` makes any number of planners safe; the mark per job only saves work. A pass is bounded:
after an outage it starts the right slots at once and records at most `RECORD_LIMIT` passed-over slots of a job,
the rest in the passes that follow. Nothing is ever latched off.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, select, update
from sqlalchemy.dialects.sqlite import insert

from scheduler.database import read, write
from scheduler.events import run_id
from scheduler.instants import format_instant, from_micros, to_micros
from scheduler.jobs import Job, Schedule
from scheduler.policy import CATCH_UP_LIMIT, catch_up
from scheduler.recording import record, scheduler_source
from scheduler.registry import PRIORITIES, JobVersion, current_jobs
from scheduler.tables import Row, marks, runs
from scheduler.timelaw import jitter_of, next_slot, previous_slot, slots_between

HORIZON = timedelta(seconds=60)
PAST = timedelta(seconds=5)
"""A slot due longer ago than this was passed over; up to here a planner is merely a little late."""
OUTAGE = timedelta(seconds=10)
"""A planner that has not looked for so long was down: rows it left behind are passed over too."""
REFRESH = timedelta(seconds=3)
"""A pass that finds nothing new leaves no trace more often than this, so that idle planners cost no disk writes."""
RECORD_LIMIT = 500
"""Passed-over slots that one pass records for one job."""
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Look:
    """What a pass over one job decided: slots to run, slots to record as passed over, and how far it got."""

    run: tuple[datetime, ...]
    skip: tuple[datetime, ...]
    planned_until: datetime


def plan(engine: Engine, now: datetime, horizon: timedelta = HORIZON) -> int:
    """One planning pass; answers how many runs it queued. Decides outside, then writes in one transaction."""
    with read(engine) as connection:
        known = {row["job"]: row for row in connection.execute(select(marks)).mappings()}
    looks = []
    for version in current_jobs(engine, now):
        schedule = version.job.schedule
        if schedule is not None and version.job.run is not None and version.job.enabled:
            row = known.get(version.job.id)
            one = look(version, schedule, _mark(row, version), now, horizon)
            if one.run or one.skip or row is None or now - from_micros(row["looked_at"]) > REFRESH:
                looks.append((version, one))
    if not looks:
        return 0
    with write(engine) as connection:
        return sum([_write(connection, version, one, known.get(version.job.id), now) for version, one in looks])


def look(version: JobVersion, schedule: Schedule, mark: datetime, now: datetime, horizon: timedelta) -> Look:
    """Decide about the slots of one job past `mark`. Pure, and bounded whatever the length of an outage."""
    job = version.job
    until = min(now + horizon, version.valid_until - _TICK) if version.valid_until else now + horizon
    edge = min(until, now - PAST - schedule.jitter)
    coming = slots_between(schedule, max(mark, edge), until)
    if mark >= edge:
        return Look(tuple(coming), (), max(mark, until))
    has_current = any(slot <= now for slot in coming)
    newest = _newest(schedule, mark, edge, CATCH_UP_LIMIT if job.catch_up == "all" else 1)
    chosen = catch_up(job.catch_up, newest, has_current=has_current)
    skip, reached = _passed_over(schedule, mark, edge, chosen)
    return Look(tuple(sorted(chosen)) + tuple(coming), tuple(skip), reached or until)


def _mark(row: Row | None, version: JobVersion) -> datetime:
    """Where to go on. A slot at the very instant a version begins is that version's, hence the step back."""
    start = version.valid_from - _TICK
    return start if row is None else max(start, from_micros(row["planned_until"]))


def _newest(schedule: Schedule, after: datetime, until: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    slot = previous_slot(schedule, until)
    while slot is not None and slot > after and len(found) < count:
        found.append(slot)
        slot = previous_slot(schedule, slot - _TICK)
    return found[::-1]


def _passed_over(
    schedule: Schedule, after: datetime, until: datetime, chosen: frozenset[datetime]
) -> tuple[list[datetime], datetime | None]:
    """The oldest passed-over slots, and where to go on when the bound cut them off (None when it did not)."""
    skipped: list[datetime] = []
    slot = next_slot(schedule, after)
    while slot is not None and slot <= until:
        if len(skipped) == RECORD_LIMIT:
            return skipped, skipped[-1]
        if slot not in chosen:
            skipped.append(slot)
        slot = next_slot(schedule, slot)
    return skipped, None


def _write(connection: Connection, version: JobVersion, one: Look, mark: Row | None, now: datetime) -> int:
    job = version.job
    queued = sum(_add(connection, version, slot, "queued", now) for slot in one.run)
    for slot in one.skip:
        _add(connection, version, slot, "skipped", now)
    if mark is not None and now - from_micros(mark["looked_at"]) > OUTAGE:
        _pass_over_left_behind(connection, job, one, now)
    values = {"job": job.id, "planned_until": to_micros(one.planned_until), "looked_at": to_micros(now)}
    statement = insert(marks).values(values)
    connection.execute(statement.on_conflict_do_update(index_elements=["job"], set_=values))
    return queued


def _add(connection: Connection, version: JobVersion, slot: datetime, state: str, now: datetime) -> int:
    job = version.job
    assert job.schedule is not None
    due = slot + jitter_of(job.id, job.schedule, slot)
    row = run_row(version, run_id(job.id, slot), slot, due) | {"state": state}
    if state == "skipped":
        row["ended_at"] = to_micros(now)
    statement = insert(runs).on_conflict_do_nothing().returning(runs.c.run_id)
    if connection.execute(statement, row).first() is None:
        return 0
    if state == "queued":
        say_queued(connection, row, now)
    else:
        record(connection, "skipped", row, source=scheduler_source(), at=now, data={"reason": "catch_up"})
    return 1


def run_row(version: JobVersion, key: str, slot: datetime | None, due: datetime) -> dict[str, Any]:
    """A run as it enters the queue."""
    job = version.job
    return {
        "run_id": key, "job": job.id, "slot": None if slot is None else to_micros(slot), "version": version.version,
        "state": "queued", "priority": PRIORITIES[job.priority], "queue": job.queue, "tenant": job.tenant,
        "due_at": to_micros(due), "available_at": to_micros(due), "attempt": 0, "retries_used": 0, "fence": 0,
        "output_tail": "", "ended_at": None,
    }  # fmt: skip


def say_queued(connection: Connection, row: Row, now: datetime) -> None:
    """The `queued` event of a run that has just entered the queue."""
    name = {number: text for text, number in PRIORITIES.items()}[row["priority"]]
    due = format_instant(from_micros(row["due_at"]))
    data = {"queue": row["queue"], "priority": name, "tenant": row["tenant"], "due": due}
    record(connection, "queued", row, source=scheduler_source(), at=now, data=data)


def _pass_over_left_behind(connection: Connection, job: Job, one: Look, now: datetime) -> None:
    """Rows planned before an outage and not started in it follow the catch-up mode like any passed-over slot."""
    edge = to_micros(now - PAST)
    where = (runs.c.job == job.id, runs.c.state == "queued", runs.c.attempt == 0, runs.c.slot.is_not(None))
    rows = connection.execute(select(runs).where(*where, runs.c.due_at < edge).order_by(runs.c.slot)).mappings().all()
    newer = any(slot <= now for slot in one.run)
    keep = catch_up(job.catch_up, [from_micros(row["slot"]) for row in rows], has_current=newer)
    # What this very pass chose to catch up is among the rows, and stays.
    stays = keep | frozenset(one.run)
    _skip_rows(connection, (row for row in rows if from_micros(row["slot"]) not in stays), now)


def _skip_rows(connection: Connection, rows: Iterable[Row], now: datetime) -> None:
    for row in rows:
        ended = update(runs).where(runs.c.run_id == row["run_id"]).values(state="skipped", ended_at=to_micros(now))
        connection.execute(ended)
        record(connection, "skipped", row, source=scheduler_source(), at=now, data={"reason": "catch_up"})
