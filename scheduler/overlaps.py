"""What overlapping runs do to each other, beyond waiting: a due slot replaces a run, and a full line turns slots away.

Part of a planning pass, so that it happens though every worker is busy. `policy.admit` decides.
"""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, Engine, func, select, update

from scheduler.admission import FRESH, IN_LINE, admission, skip_row
from scheduler.database import read, write
from scheduler.instants import to_micros
from scheduler.jobs import Job
from scheduler.policy import QUEUE_LIMIT
from scheduler.recording import scheduler_source
from scheduler.tables import Row, runs


def settle_overlaps(engine: Engine, jobs: Iterable[Job], now: datetime) -> None:
    """Tell running ones to make way (`overlap: replace`), and skip what finds the line full (`overlap: queue`)."""
    concerned = [job for job in jobs if job.overlap in ("replace", "queue")]
    if not concerned:
        return
    with read(engine) as connection:
        due = _due(connection, now)
    settled = [job for job in concerned if due.get(job.id, 0) > (QUEUE_LIMIT if job.overlap == "queue" else 0)]
    if not settled:
        return
    with write(engine) as connection:
        for job in settled:
            if job.overlap == "queue":
                _turn_away(connection, job, now)
            else:
                _make_way(connection, job, now)


def _due(connection: Connection, now: datetime) -> dict[str, int]:
    """How many due runs wait, by job."""
    waiting = (runs.c.state == "queued", runs.c.due_at <= to_micros(now))
    query = select(runs.c.job, func.count()).where(*waiting).group_by(runs.c.job)
    return {row[0]: row[1] for row in connection.execute(query)}


def _turn_away(connection: Connection, job: Job, now: datetime) -> None:
    """Slots past the limit; what a person asked for, and retries, take no place of theirs."""
    waiting = (runs.c.job == job.id, runs.c.state == "queued", runs.c.due_at <= to_micros(now), FRESH)
    rows = connection.execute(select(runs).where(*waiting).order_by(*IN_LINE).offset(QUEUE_LIMIT)).mappings().all()
    for number, row in enumerate(rows, start=QUEUE_LIMIT):
        found = admission(connection, job, row, now, waiting=number)
        if found.answer == "skip":
            skip_row(connection, row, found.reason, scheduler_source(), now)


def _make_way(connection: Connection, job: Job, now: datetime) -> None:
    """The newest due slot replaces whatever ran when it fell due, and every older slot that waits for the same."""
    waiting = (runs.c.job == job.id, runs.c.state == "queued", runs.c.due_at <= to_micros(now), FRESH)
    rows = connection.execute(select(runs).where(*waiting).order_by(runs.c.slot)).mappings().all()
    if not rows or admission(connection, job, rows[-1], now).answer != "replace":
        return
    _tell(connection, job, rows[-1])
    for row in rows[:-1]:
        skip_row(connection, row, "overlap", scheduler_source(), now)


def _tell(connection: Connection, job: Job, newer: Row) -> None:
    running = (runs.c.job == job.id, runs.c.state == "running", runs.c.started_at < newer["due_at"])
    connection.execute(update(runs).where(*running).values(replaced_by=newer["run_id"]))
