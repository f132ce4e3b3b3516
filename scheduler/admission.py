"""What else is there of a job when one of its runs would start? Reads the queue for `policy.admit`; decides nothing.

Every function works in its caller's transaction.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, select, update

from scheduler.instants import from_micros, to_micros
from scheduler.jobs import Job
from scheduler.policy import PAST, Active, Admission, admit, passed_over, too_late
from scheduler.recording import record
from scheduler.tables import Row, marks, runs

FRESH = and_(runs.c.slot.is_not(None), runs.c.attempt == 0, runs.c.by_hand.is_(False))
"""Scheduled runs that never began and that no person asked for: what policies of a slot may turn away."""
IN_LINE = (func.coalesce(runs.c.slot, runs.c.due_at), runs.c.run_id)
"""The order in which runs of one job follow each other."""


def admission(connection: Connection, job: Job, row: Row, now: datetime, waiting: int = 0) -> Admission:
    """May this queued run start at `now`? `waiting` counts the due runs that queue before it."""
    return admit(job, _active(connection, job, row, now, waiting), fresh_slot=is_fresh(row))


def is_fresh(row: Row) -> bool:
    """What `FRESH` asks for, of a row that was read."""
    return row["slot"] is not None and row["attempt"] == 0 and not row["by_hand"]


def first_in_line(connection: Connection, job: str) -> Row | None:
    """The queued run of a job that all its others wait for; it may itself wait for its retry."""
    query = select(runs).where(runs.c.job == job, runs.c.state == "queued").order_by(*IN_LINE).limit(1)
    return connection.execute(query).mappings().first()


def superseding(connection: Connection, row: Row, now: datetime) -> str | None:
    """The newest run that replaces one that waits for its retry: its slot fell due after that attempt began."""
    if row["slot"] is None or row["attempt"] == 0 or row["by_hand"]:
        return None
    newer = (runs.c.slot > row["slot"], runs.c.due_at > row["started_at"], runs.c.due_at <= to_micros(now))
    query = select(runs.c.run_id).where(runs.c.job == row["job"], *newer, runs.c.state != "skipped")
    return connection.execute(query.order_by(runs.c.slot.desc()).limit(1)).scalar()


def skip_row(connection: Connection, row: Row, reason: str, source: str, now: datetime) -> None:
    """A queued slot will not run."""
    _end(connection, row, now, state="skipped")
    record(connection, "skipped", row, source=source, at=now, data={"reason": reason})


def cancel_row(connection: Connection, row: Row, by: str, source: str, now: datetime) -> None:
    """A queued retry makes way for the run `by`."""
    _end(connection, row, now, state="cancelled", replaced_by=by)
    record(connection, "cancelled", row, source=source, at=now, data={"reason": f"replaced by {by}"})


def _end(connection: Connection, row: Row, now: datetime, **values: Any) -> None:
    ended = update(runs).where(runs.c.run_id == row["run_id"])
    connection.execute(ended.values(ended_at=to_micros(now), **values))


def _active(connection: Connection, job: Job, row: Row, now: datetime, waiting: int) -> Active:
    others = and_(runs.c.job == row["job"], runs.c.run_id != row["run_id"])
    before = runs.c.started_at < row["due_at"]
    query = select(func.count(), func.count().filter(before)).where(others, runs.c.state == "running")
    running, outlasting = connection.execute(query).one()
    slot, due = row["slot"], from_micros(row["due_at"])
    fresh = is_fresh(row)
    return Active(
        running=running,
        covers_due=outlasting > 0 or (fresh and _was_on(connection, and_(others, before), row)),
        outlasts=outlasting > 0,
        waiting=waiting,
        late=fresh and too_late(job, from_micros(slot), due, now),
        passed_over=fresh and now - due > PAST and passed_over(due, _looked_at(connection, row["job"]), now),
    )


def _was_on(connection: Connection, others: ColumnElement[bool], row: Row) -> bool:
    """Whether a run that has ended since was on at the due instant."""
    query = select(runs.c.run_id).where(others, runs.c.ended_at > row["due_at"]).limit(1)
    return connection.execute(query).first() is not None


def _looked_at(connection: Connection, job: str) -> datetime | None:
    value = connection.execute(select(marks.c.looked_at).where(marks.c.job == job)).scalar()
    return None if value is None else from_micros(value)
