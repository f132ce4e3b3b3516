"""What does a queued run wait for? Asks the queue, and the same function that claims ask; changes nothing."""

from datetime import datetime

from sqlalchemy import Connection, Engine, select

from scheduler.admission import admission, first_in_line
from scheduler.database import read
from scheduler.instants import format_instant, from_micros
from scheduler.jobs import Job
from scheduler.policy import Admission
from scheduler.registry import JobReader
from scheduler.tables import Row, runs


def waits_for(engine: Engine, run_id: str, now: datetime) -> str:
    """A sentence about what keeps a run in the queue; empty for a run that is not queued here."""
    with read(engine) as connection:
        row = connection.execute(select(runs).where(runs.c.run_id == run_id)).mappings().first()
        if row is None or row["state"] != "queued":
            return ""
        available = from_micros(row["available_at"])
        if available > now:
            what = "its next attempt" if row["attempt"] else "its due instant"
            return f"It waits for {what}, {format_instant(available)}."
        job = JobReader().get(connection, row["job"], row["version"])
        return _kept_back(connection, job, row, now)


def _kept_back(connection: Connection, job: Job, row: Row, now: datetime) -> str:
    first = first_in_line(connection, job.id) if job.overlap == "queue" else None
    if first is not None and first["run_id"] != row["run_id"]:
        return f"It waits for its turn: {first['run_id']} is before it (`overlap: queue`)."
    return _says(job, row, admission(connection, job, row, now))


def _says(job: Job, row: Row, found: Admission) -> str:
    if found.answer == "start":
        return f"Nothing of the job holds it back: it waits for a free worker of the queue `{row['queue']}`."
    if found.answer == "skip":
        return f"It will not run: the next worker that looks skips it, reason `{found.reason}`."
    if found.answer == "replace":
        return "It waits for the run that it replaces to end (`overlap: replace`)."
    if found.reason == "concurrency":
        return f"It waits, because as many runs of the job are on as may be (`concurrency: {job.concurrency}`)."
    if found.reason == "outage":
        return "It fell due while no planner looked: it waits for the next planning pass to decide about it."
    return f"It waits for another run of the job to end (`overlap: {job.overlap}`)."
