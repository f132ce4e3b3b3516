"""Which version of each job holds when? Definitions and their versions, kept in the queue database.

A change is a new version from an instant on; no version is ever rewritten. Slots before that instant stay the old
version's, so changing a schedule invents no runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import msgspec
from sqlalchemy import Connection, Engine, delete, insert, or_, select, update

from scheduler.database import read, write
from scheduler.definitions import digest, job_from_json, job_to_json
from scheduler.instants import from_micros, to_micros
from scheduler.jobs import Job
from scheduler.recording import record, scheduler_source
from scheduler.tables import Row, definitions, marks, runs
from scheduler.timelaw import jitter_of, previous_slot, skipped_by

PRIORITIES = {"critical": 0, "important": 1, "background": 2}


@dataclass(frozen=True, slots=True)
class JobVersion:
    """One version of a job, valid in [valid_from, valid_until); `valid_until` None means until further notice."""

    job: Job
    version: int
    valid_from: datetime
    valid_until: datetime | None


def apply_definitions(engine: Engine, jobs: Iterable[Job], now: datetime) -> dict[str, str]:
    """Make `jobs` the current definitions. Answers what changed: job id to `added`, `changed` or `removed`.

    A first version holds from `job.valid_from` or now, a later one from now (or a `valid_from` still to come). What
    is planned but not begun under a version that ended is withdrawn or taken over, in the same transaction.
    """
    wanted = {job.id: job for job in jobs}
    with write(engine) as connection:
        newest = _newest(connection)
        changes = {}
        for job_id in sorted(wanted.keys() | newest.keys()):
            change = _apply_one(connection, wanted.get(job_id), newest.get(job_id), now)
            if change is not None:
                changes[job_id] = change
        return changes


def current_jobs(engine: Engine, now: datetime) -> list[JobVersion]:
    """The versions that hold at `now`, by job id; removed jobs are not among them."""
    at = to_micros(now)
    query = select(definitions).where(
        definitions.c.valid_from <= at, or_(definitions.c.valid_until.is_(None), definitions.c.valid_until > at)
    )
    with read(engine) as connection:
        return [_version(row) for row in connection.execute(query.order_by(definitions.c.job)).mappings()]


def job_history(engine: Engine, job: str | None = None) -> list[JobVersion]:
    """Every version of every job (or of one), by job id and version: what slots of the past are judged by."""
    query = select(definitions).order_by(definitions.c.job, definitions.c.version)
    if job is not None:
        query = query.where(definitions.c.job == job)
    with read(engine) as connection:
        return [_version(row) for row in connection.execute(query).mappings()]


class JobReader:
    """Decoded definitions by (job, version). Versions never change, so what was read once stays right."""

    def __init__(self, limit: int = 10_000) -> None:
        self._known: dict[tuple[str, int], Job] = {}
        self._limit = limit

    def get(self, connection: Connection, job: str, version: int) -> Job:
        """The job as that version defines it. LookupError when the database holds no such version."""
        key = (job, version)
        if key not in self._known:
            query = select(definitions.c.body).where(definitions.c.job == job, definitions.c.version == version)
            body = connection.execute(query).scalar()
            if body is None:
                raise LookupError(f"job {job!r} has no version {version} in the queue database; apply the job files")
            if len(self._known) >= self._limit:
                self._known.clear()
            self._known[key] = decode_job(body)
        return self._known[key]


def decode_job(body: str) -> Job:
    """A definition as it is stored, back to the checked value."""
    return job_from_json(msgspec.json.decode(body))


def _newest(connection: Connection) -> dict[str, Row]:
    rows = connection.execute(select(definitions).order_by(definitions.c.job, definitions.c.version)).mappings()
    return {row["job"]: row for row in rows}


def _apply_one(connection: Connection, job: Job | None, row: Row | None, now: datetime) -> str | None:
    stands = row is not None and row["valid_until"] is None
    if job is None:
        if row is None or not stands:
            return None
        _close(connection, row, now)
        _replan(connection, row["job"], None, 0, now)
        return "removed"
    if row is not None and stands and row["digest"] == digest(job):
        return None
    valid_from = _valid_from(job, row, now)
    if row is not None and stands:
        _close(connection, row, valid_from)
    version = 1 if row is None else row["version"] + 1
    body = msgspec.json.encode(job_to_json(job)).decode()
    connection.execute(
        insert(definitions),
        {"job": job.id, "version": version, "digest": digest(job), "body": body,
         "valid_from": to_micros(valid_from), "valid_until": None},
    )  # fmt: skip
    if row is not None:
        _replan(connection, job.id, job, version, valid_from)
    return "changed" if stands else "added"


def _valid_from(job: Job, row: Row | None, now: datetime) -> datetime:
    if job.valid_from is None:
        return now
    return job.valid_from if row is None else max(now, job.valid_from)


def _close(connection: Connection, row: Row, at: datetime) -> None:
    # A version that was to begin later than its end never holds: its end may not come before its beginning.
    where = (definitions.c.job == row["job"], definitions.c.version == row["version"])
    end = max(to_micros(at), row["valid_from"])
    connection.execute(update(definitions).where(*where).values(valid_until=end))


def _replan(connection: Connection, job_id: str, job: Job | None, version: int, since: datetime) -> None:
    """Withdraw what the ended version planned past `since`, keep what the new one owes too, and plan anew."""
    at = to_micros(since)
    query = select(runs).where(runs.c.job == job_id, runs.c.state == "queued", runs.c.attempt == 0, runs.c.slot > at)
    for row in connection.execute(query).mappings().all():
        if job is not None and _owes(job, from_micros(row["slot"])):
            _take_over(connection, row, job, version)
        else:
            _withdraw(connection, row, since)
    connection.execute(update(marks).where(marks.c.job == job_id, marks.c.planned_until > at).values(planned_until=at))


def _owes(job: Job, slot: datetime) -> bool:
    """Whether the job names the slot, runs it here, and does not excuse it."""
    if job.run is None or job.schedule is None or previous_slot(job.schedule, slot) != slot:
        return False
    return skipped_by(job, slot) is None


def _take_over(connection: Connection, row: Row, job: Job, version: int) -> None:
    assert job.schedule is not None
    slot = from_micros(row["slot"])
    due = to_micros(slot + jitter_of(job.id, job.schedule, slot))
    values = {"version": version, "due_at": due, "available_at": due, "queue": job.queue, "tenant": job.tenant,
              "priority": PRIORITIES[job.priority]}  # fmt: skip
    connection.execute(update(runs).where(runs.c.run_id == row["run_id"]).values(values))


def _withdraw(connection: Connection, row: Row, at: datetime) -> None:
    # Deleted, not marked: nothing of it ever began, and its key must be free if the slot becomes owed again.
    data = {"reason": "definition changed"}
    record(connection, "cancelled", row, source=scheduler_source(), at=at, data=data)
    connection.execute(delete(runs).where(runs.c.run_id == row["run_id"]))


def _version(row: Row) -> JobVersion:
    until = row["valid_until"]
    return JobVersion(
        decode_job(row["body"]),
        row["version"],
        from_micros(row["valid_from"]),
        None if until is None else from_micros(until),
    )
