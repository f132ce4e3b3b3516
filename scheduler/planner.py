"""Which slots become queue rows? Slots due soon are written before they are due; passed-over ones get an answer.

The unique key `(job, slot)` makes any number of planners safe; the mark per job only saves work. A pass is bounded:
after an outage it starts the right slots at once and records at most `RECORD_LIMIT` passed-over slots of a job,
the rest in the passes that follow. Slots that the definition excuses leave no trace. Nothing is ever latched off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Engine, select
from sqlalchemy.dialects.sqlite import insert

from scheduler.admission import FRESH, skip_row
from scheduler.database import read, write
from scheduler.events import run_id
from scheduler.instants import format_instant, from_micros, to_micros
from scheduler.jobs import Job, Schedule
from scheduler.overlaps import settle_overlaps
from scheduler.policy import OUTAGE, PAST, CaughtUp, catch_up, wanted_back
from scheduler.recording import record, scheduler_source
from scheduler.registry import PRIORITIES, JobVersion, current_jobs
from scheduler.tables import Row, marks, runs
from scheduler.timelaw import jitter_bound, jitter_of, next_slot, previous_slot, skipped_by, slots_between

HORIZON = timedelta(seconds=60)
REFRESH = timedelta(seconds=3)
"""A pass that finds nothing new leaves no trace more often than this, so that idle planners cost no disk writes."""
RECORD_LIMIT = 500
"""Passed-over slots that one pass records for one job."""
WALK_LIMIT = 100_000
"""Slots that one pass looks at, forwards or backwards, for one job: most of them may be excused."""
NO_NOTE: Mapping[str, Any] = MappingProxyType({})
_STRIDE = timedelta(hours=1)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Look:
    """What a pass over one job decided: slots that come, what becomes of passed-over ones, and how far it got."""

    coming: tuple[datetime, ...]
    planned_until: datetime
    caught_up: CaughtUp
    skip: tuple[datetime, ...]

    @property
    def run(self) -> list[datetime]:
        """Every slot that runs, ascending."""
        return [*sorted(self.caught_up.run), *self.coming]


def plan(engine: Engine, now: datetime, horizon: timedelta = HORIZON, note: Mapping[str, Any] = NO_NOTE) -> int:
    """One planning pass; answers how many runs it queued. Decides outside, then writes in one transaction.

    `note` goes into the data of the events about passed-over slots, and about those that run in their place.
    """
    versions = [version for version in current_jobs(engine, now) if version.job.run is not None]
    queued = _plan_slots(engine, versions, now, horizon, note)
    settle_overlaps(engine, [version.job for version in versions], now)
    return queued


def _plan_slots(
    engine: Engine, versions: Sequence[JobVersion], now: datetime, horizon: timedelta, note: Mapping[str, Any]
) -> int:
    with read(engine) as connection:
        known = {row["job"]: row for row in connection.execute(select(marks)).mappings()}
    looks = []
    for version in versions:
        schedule = version.job.schedule
        if schedule is not None and version.job.enabled:
            row = known.get(version.job.id)
            one = look(version, schedule, _mark(row, version), now, horizon)
            # The clock may have stepped back behind the last look: then too it is time to say when this one was.
            if one.run or one.skip or row is None or abs(now - from_micros(row["looked_at"])) > REFRESH:
                looks.append((version, one))
    if not looks:
        return 0
    with write(engine) as connection:
        # Read again: a planner that was held up must not plan what has run and been forgotten since.
        settled = _settled(connection)
        return sum([_write(connection, version, one, known, settled, now, note) for version, one in looks])


def look(version: JobVersion, schedule: Schedule, mark: datetime, now: datetime, horizon: timedelta) -> Look:
    """Decide about the slots of one job past `mark`. Pure, and bounded whatever the length of an outage."""
    job = version.job
    until = min(now + horizon, version.valid_until - _TICK) if version.valid_until else now + horizon
    edge = min(until, now - PAST - jitter_bound(schedule))
    coming = _owed(job, schedule, max(mark, edge), until)
    if mark >= edge:
        return Look(tuple(coming), max(mark, until), CaughtUp(), ())
    newest = _newest(job, schedule, mark, edge)
    caught_up = catch_up(job, newest, now, has_current=any(slot <= now for slot in coming))
    skip, reached = _passed_over(job, schedule, mark, edge, caught_up)
    return Look(tuple(coming), reached or until, caught_up, tuple(skip))


def _mark(row: Row | None, version: JobVersion) -> datetime:
    """Where to go on. A slot at the very instant a version begins is that version's, hence the step back."""
    start = version.valid_from - _TICK
    return start if row is None else max(start, from_micros(row["planned_until"]))


def _owed(job: Job, schedule: Schedule, after: datetime, until: datetime) -> list[datetime]:
    return [slot for slot in slots_between(schedule, after, until) if skipped_by(job, slot) is None]


def _newest(job: Job, schedule: Schedule, after: datetime, until: datetime) -> list[datetime]:
    """As many of the newest owed slots in `(after, until]` as catch-up may run."""
    count, walked = wanted_back(job), 0
    found: list[datetime] = []
    end = previous_slot(schedule, until) if count else None
    while end is not None and end > after and len(found) < count and walked < WALK_LIMIT:
        start = max(after, end - _STRIDE)
        slots = slots_between(schedule, start, end)
        walked += len(slots)
        found = [slot for slot in slots if skipped_by(job, slot) is None] + found
        end = previous_slot(schedule, start)
    return found[len(found) - min(count, len(found)) :]


def _passed_over(
    job: Job, schedule: Schedule, after: datetime, until: datetime, caught_up: CaughtUp
) -> tuple[list[datetime], datetime | None]:
    """The oldest passed-over slots, and where to go on when a bound cut them off (None when none did)."""
    skipped: list[datetime] = []
    reached, slot = after, next_slot(schedule, after)
    for _ in range(WALK_LIMIT):
        if slot is None or slot > until:
            return skipped, None
        if len(skipped) == RECORD_LIMIT:
            break
        if slot not in caught_up.run and skipped_by(job, slot) is None:
            skipped.append(slot)
        reached, slot = slot, next_slot(schedule, slot)
    return skipped, reached


def _settled(connection: Connection) -> dict[str, int]:
    query = select(marks.c.job, marks.c.cleared_until).where(marks.c.cleared_until.is_not(None))
    return {row.job: row.cleared_until for row in connection.execute(query)}


def _write(
    connection: Connection,
    version: JobVersion,
    one: Look,
    known: Mapping[str, Row],
    settled: Mapping[str, int],
    now: datetime,
    note: Mapping[str, Any],
) -> int:
    job = version.job
    mark, done = known.get(job.id), settled.get(job.id, -1)
    wanted = [slot for slot in one.run if to_micros(slot) > done]
    queued = sum(_add(connection, version, slot, None, now, note if slot <= now else NO_NOTE) for slot in wanted)
    for slot in one.skip:
        if to_micros(slot) > done:
            _add(connection, version, slot, one.caught_up.reason(slot), now, note)
    if mark is not None and now - from_micros(mark["looked_at"]) > OUTAGE:
        _pass_over_left_behind(connection, job, one, from_micros(mark["looked_at"]), now)
    values = {"job": job.id, "planned_until": to_micros(one.planned_until), "looked_at": to_micros(now)}
    statement = insert(marks).values(values)
    connection.execute(statement.on_conflict_do_update(index_elements=["job"], set_=values))
    return queued


def _add(
    connection: Connection,
    version: JobVersion,
    slot: datetime,
    skip: str | None,
    now: datetime,
    note: Mapping[str, Any],
) -> int:
    """A row for the slot, queued or skipped for a reason; 0 when it has one already."""
    job = version.job
    assert job.schedule is not None
    due = slot + jitter_of(job.id, job.schedule, slot)
    row = run_row(version, run_id(job.id, slot), slot, due)
    if skip is not None:
        row |= {"state": "skipped", "ended_at": to_micros(now)}
    statement = insert(runs).on_conflict_do_nothing().returning(runs.c.run_id)
    if connection.execute(statement, row).first() is None:
        return 0
    if skip is None:
        say_queued(connection, row, now, note)
    else:
        record(connection, "skipped", row, source=scheduler_source(), at=now, data={"reason": skip, **note})
    return 1


def run_row(version: JobVersion, key: str, slot: datetime | None, due: datetime) -> dict[str, Any]:
    """A run as it enters the queue."""
    job = version.job
    return {
        "run_id": key, "job": job.id, "slot": None if slot is None else to_micros(slot), "version": version.version,
        "state": "queued", "priority": PRIORITIES[job.priority], "queue": job.queue, "tenant": job.tenant,
        "due_at": to_micros(due), "available_at": to_micros(due), "attempt": 0, "retries_used": 0, "fence": 0,
        "output_tail": "", "ended_at": None, "by_hand": False,
    }  # fmt: skip


def say_queued(connection: Connection, row: Row, now: datetime, note: Mapping[str, Any] = NO_NOTE) -> None:
    """The `queued` event of a run that has just entered the queue."""
    name = {number: text for text, number in PRIORITIES.items()}[row["priority"]]
    due = format_instant(from_micros(row["due_at"]))
    data = {"queue": row["queue"], "priority": name, "tenant": row["tenant"], "due": due, **note}
    record(connection, "queued", row, source=scheduler_source(), at=now, data=data)


def _pass_over_left_behind(connection: Connection, job: Job, one: Look, looked_at: datetime, now: datetime) -> None:
    """Rows planned before an outage and not started in it follow the catch-up mode like any passed-over slot."""
    # Runs that queue for each other wait rightly: only what fell due while nobody looked was left behind.
    since = to_micros(looked_at) if job.overlap == "queue" else -1
    left = (runs.c.due_at < to_micros(now - PAST), runs.c.due_at > since)
    query = select(runs).where(runs.c.job == job.id, runs.c.state == "queued", FRESH, *left).order_by(runs.c.slot)
    rows = {from_micros(row["slot"]): row for row in connection.execute(query).mappings()}
    # What this very pass decided about newer slots counts: one limit holds for both.
    past = sorted({*rows, *one.caught_up.run, *one.caught_up.late})
    found = catch_up(job, past, now, has_current=any(slot <= now for slot in one.coming))
    for slot, row in rows.items():
        if slot not in found.run and slot not in one.caught_up.run:
            skip_row(connection, row, found.reason(slot), scheduler_source(), now)
