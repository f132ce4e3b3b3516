"""Which ended runs does the queue forget? Those past a job's `history`, the oldest first; the collector keeps its own.

A slot must never run again because its row is gone (I1), whatever clocks and files do afterwards: the job's mark
remembers up to where slots are settled, and planner and making-up heed it. A triggered run's row is what keeps its key
from running twice, so it stays, without its output. Skipped slots never ran and are no part of a history.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Engine, delete, func, or_, select, update

from scheduler.database import read, write
from scheduler.instants import to_micros
from scheduler.jobs import Job
from scheduler.tables import Row, marks, runs

FORGET_LIMIT = 500
"""Runs that one pass forgets, of all jobs together."""
_SUCCEEDED, _FAILED = ("succeeded",), ("failed", "cancelled")


def forget(engine: Engine, jobs: Iterable[Job], now: datetime, limit: int = FORGET_LIMIT) -> int:
    """One pass over all jobs with a `history`; answers how many runs it forgot, at most `limit`."""
    forgotten = 0
    for job in jobs:
        if job.history is None or forgotten >= limit:
            continue
        for states, keep in ((_SUCCEEDED, job.history.succeeded), (_FAILED, job.history.failed)):
            if keep is not None:
                forgotten += _forget(engine, job.id, states, keep, limit - forgotten, now)
    return forgotten


def _forget(engine: Engine, job: str, states: Sequence[str], keep: int, limit: int, now: datetime) -> int:
    with read(engine) as connection:
        if not _beyond(connection, job, states, keep, limit, now):
            return 0
    with write(engine) as connection:
        rows = _beyond(connection, job, states, keep, limit, now)
        slots = [row for row in rows if row["slot"] is not None]
        _empty(connection, [row["run_id"] for row in rows if row["slot"] is None])
        _delete(connection, job, slots)
    return len(rows)


def _beyond(
    connection: Connection, job: str, states: Sequence[str], keep: int, limit: int, now: datetime
) -> Sequence[Row]:
    """Ended runs past the newest `keep`, the oldest first; never a dead letter that waits for a person."""
    heavy = or_(runs.c.slot.is_not(None), runs.c.output_tail != "", runs.c.error.is_not(None))
    ended = select(runs.c.run_id, runs.c.slot, runs.c.ended_at).where(
        runs.c.job == job, runs.c.state.in_(states), runs.c.dead_since.is_(None), heavy
    )
    past = ended.order_by(runs.c.ended_at.desc(), runs.c.run_id.desc()).limit(-1).offset(keep).subquery()
    free = select(past).where(past.c.ended_at <= _needed_since(job, now), _is_planned(job, past.c.slot))
    return connection.execute(free.order_by(past.c.ended_at, past.c.run_id).limit(limit)).mappings().all()


def _needed_since(job: str, now: datetime) -> ColumnElement[int]:
    """What ended after the oldest waiting run fell due still decides whether that one overlaps."""
    oldest = select(func.min(runs.c.due_at)).where(runs.c.job == job, runs.c.state == "queued").scalar_subquery()
    return func.min(func.coalesce(oldest, to_micros(now)), to_micros(now))


def _is_planned(job: str, slot: ColumnElement[int]) -> ColumnElement[bool]:
    """While passed-over slots below are still being recorded, the mark must not rise above them."""
    planned = select(marks.c.planned_until).where(marks.c.job == job).scalar_subquery()
    return or_(slot.is_(None), slot <= planned)


def _delete(connection: Connection, job: str, rows: Sequence[Row]) -> None:
    if not rows:
        return
    connection.execute(delete(runs).where(runs.c.run_id.in_([row["run_id"] for row in rows])))
    until = max(row["slot"] for row in rows)
    raised = func.max(func.coalesce(marks.c.cleared_until, until), until)
    connection.execute(update(marks).where(marks.c.job == job).values(cleared_until=raised))


def _empty(connection: Connection, run_ids: Sequence[str]) -> None:
    if run_ids:
        connection.execute(update(runs).where(runs.c.run_id.in_(run_ids)).values(output_tail="", error=None))
