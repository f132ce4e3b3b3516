"""The durable queue: how a run is taken by exactly one worker, and how that worker keeps it.

Every function is one transaction begun with the write lock held, so two claims never see the same row as free. How
a run ends is in `endings.py`.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Engine, and_, delete, func, insert, or_, select, update

from scheduler.database import read, write
from scheduler.events import run_id as run_id_of
from scheduler.executors.traces import traceparent
from scheduler.instants import format_instant, from_micros, to_micros
from scheduler.jobs import Job
from scheduler.leases import LEASE, Moment
from scheduler.planner import run_row, say_queued
from scheduler.policy import Active, Admission, admit
from scheduler.recording import record
from scheduler.registry import JobReader, JobVersion, current_jobs
from scheduler.tables import Row, runs
from scheduler.timelaw import previous_slot

PAGE = 100
"""Candidates read at a time while claiming."""
_KEY = re.compile(r"[A-Za-z0-9._:@!+-]{1,80}")


class UnknownJobError(LookupError):
    """A run was asked for a job that has no current definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A run that one worker holds. Whatever it writes about the run counts only while `fence` stands."""

    run_id: str
    job: Job
    slot: datetime | None
    attempt: int
    fence: int
    retries_used: int
    worker: str
    started_at: datetime


def trigger_run(engine: Engine, job: str, key: str, now: datetime) -> str:
    """Queue a run of `job` outside its schedule; answers its id `<job>!<key>`, the same one for the same key.

    A key with characters that ids may not hold, or over 80 of them, is replaced by its SHA-256. Raises
    UnknownJobError for a job that is not defined, ValueError for one that is run elsewhere.
    """
    version = _startable(engine, job, now)
    name = key if _KEY.fullmatch(key) else hashlib.sha256(key.encode()).hexdigest()
    row = run_row(version, f"{job}!{name}", None, now)
    with write(engine) as connection:
        if connection.execute(select(runs.c.run_id).where(runs.c.run_id == row["run_id"])).first() is None:
            connection.execute(insert(runs), row)
            say_queued(connection, row, now)
    return str(row["run_id"])


def make_up_slot(engine: Engine, job: str, slot: datetime, now: datetime) -> str:
    """Queue the run of a slot that was passed over, due now; answers its id `<job>@<slot>`.

    Raises UnknownJobError as `trigger_run`, and ValueError for an instant that is no slot, lies ahead, or has its run
    already: a slot has at most one (I1).
    """
    version = _startable(engine, job, now)
    schedule = version.job.schedule
    if schedule is None or previous_slot(schedule, slot) != slot:
        raise ValueError(f"{format_instant(slot)} is no slot of {job!r}; `tepat slots {job}` lists them")
    if slot > now:
        raise ValueError(f"slot {format_instant(slot)} of {job!r} lies ahead and will run by itself; name a past one")
    row = run_row(version, run_id_of(job, slot), slot, now)
    with write(engine) as connection:
        before = connection.execute(select(runs.c.state).where(runs.c.run_id == row["run_id"])).scalar()
        if before not in (None, "skipped"):
            raise ValueError(f"slot {format_instant(slot)} of {job!r} has its run already, which is {before}")
        connection.execute(delete(runs).where(runs.c.run_id == row["run_id"]))
        connection.execute(insert(runs), row)
        say_queued(connection, row, now)
    return str(row["run_id"])


def _startable(engine: Engine, job: str, now: datetime) -> JobVersion:
    """The job's current version, which must have something to run here."""
    version = next((one for one in current_jobs(engine, now) if one.job.id == job), None)
    if version is None:
        raise UnknownJobError(f"no job {job!r} is defined; apply the job files, or check the id")
    if version.job.run is None:
        raise ValueError(f"job {job!r} has no `run`: it is run elsewhere and only watched, so it can't be started here")
    return version


def claim(
    engine: Engine,
    jobs: JobReader,
    moment: Moment,
    worker: str,
    limit: int,
    *,
    lease: timedelta = LEASE,
    incarnation: str = "",
) -> list[Claimed]:
    """Take up to `limit` runs that may start now: by priority, then oldest due first.

    A slot that fell due while another run of its job was on is skipped (overlap `forbid`) in the same transaction.
    """
    if limit < 1 or not _anything_due(engine, moment):
        return []
    claiming = _Claiming(jobs, _Holder(worker, incarnation, moment, moment.lease_end(lease)), limit)
    with write(engine) as connection:
        while len(claiming.taken) < limit:
            page = _candidates(connection, moment, claiming.blocked)
            if not page:
                break
            for row in page:
                claiming.consider(connection, row)
    return claiming.taken


def heartbeat(engine: Engine, moment: Moment, held: Sequence[Claimed], *, lease: timedelta = LEASE) -> set[str]:
    """Renew the leases of `held`; answers the ids whose fence no longer stands: their work must stop."""
    lost = set()
    with write(engine) as connection:
        for one in held:
            statement = update(runs).where(*fence_stands(one)).values(
                lease_until=moment.lease_end(lease), boot_id=moment.boot_id
            )  # fmt: skip
            if connection.execute(statement).rowcount == 0:
                lost.add(one.run_id)
    return lost


def report(engine: Engine, claimed: Claimed, at: datetime, kind: Literal["stage", "heartbeat"], data: Any) -> bool:
    """Say what an attempt told about itself; False, and nothing is said, when its fence no longer stands."""
    with write(engine) as connection:
        row = connection.execute(select(runs).where(*fence_stands(claimed))).mappings().first()
        if row is not None:
            record(connection, kind, row, source=f"worker/{claimed.worker}", at=at, data=data)
    return row is not None


def fence_stands(claimed: Claimed) -> tuple[Any, ...]:
    """The condition under which a worker's word still counts (I8)."""
    return (runs.c.run_id == claimed.run_id, runs.c.fence == claimed.fence, runs.c.state == "running")


def next_available(engine: Engine) -> datetime | None:
    """When the next queued run may start; None when nothing is queued."""
    with read(engine) as connection:
        value = connection.execute(select(func.min(runs.c.available_at)).where(runs.c.state == "queued")).scalar()
    return None if value is None else from_micros(value)


def depths(engine: Engine, now: datetime) -> list[dict[str, Any]]:
    """Per queue: due runs that wait and the oldest's age in seconds, running ones, dead letters and their age."""
    due = and_(runs.c.state == "queued", runs.c.due_at <= to_micros(now))
    dead = runs.c.dead_since.is_not(None)
    query = select(
        runs.c.queue,
        func.count().filter(due).label("depth"),
        func.min(runs.c.due_at).filter(due).label("oldest"),
        func.count().filter(runs.c.state == "running").label("running"),
        func.count().filter(dead).label("dead_depth"),
        func.min(runs.c.dead_since).label("dead_oldest"),
    ).where(or_(runs.c.state.in_(("queued", "running")), dead))
    with read(engine) as connection:
        rows = connection.execute(query.group_by(runs.c.queue).order_by(runs.c.queue)).mappings().all()
    return [
        {"queue": row["queue"], "depth": row["depth"], "running": row["running"], "dead_depth": row["dead_depth"],
         "oldest_seconds": _age(row["oldest"], now), "dead_oldest_seconds": _age(row["dead_oldest"], now)}
        for row in rows
    ]  # fmt: skip


def _age(since: int | None, now: datetime) -> float | None:
    return None if since is None else max(0.0, (to_micros(now) - since) / 1_000_000)


@dataclass(frozen=True, slots=True)
class _Holder:
    worker: str
    incarnation: str
    moment: Moment
    lease_until: int


def _anything_due(engine: Engine, moment: Moment) -> bool:
    # An idle worker asks twice a second: a read needs no write lock and no sync to disk.
    query = select(runs.c.run_id).where(runs.c.state == "queued", runs.c.available_at <= moment.micros).limit(1)
    with read(engine) as connection:
        return connection.execute(query).first() is not None


def _candidates(connection: Connection, moment: Moment, blocked: set[str]) -> Sequence[Row]:
    query = (
        select(runs)
        .where(runs.c.state == "queued", runs.c.available_at <= moment.micros, runs.c.job.not_in(blocked))
        .order_by(runs.c.priority, runs.c.due_at, runs.c.run_id)
        .limit(PAGE)
    )
    return connection.execute(query).mappings().all()


class _Claiming:
    """One claim under way: what is taken, and the jobs whose runs must all wait this time."""

    def __init__(self, jobs: JobReader, holder: _Holder, limit: int) -> None:
        self.taken: list[Claimed] = []
        self.blocked: set[str] = set()
        self._jobs, self._holder, self._limit = jobs, holder, limit

    def consider(self, connection: Connection, row: Row) -> None:
        """Take the row, skip its slot, or note that its job waits."""
        if len(self.taken) >= self._limit or row["job"] in self.blocked:
            return
        job = self._jobs.get(connection, row["job"], row["version"])
        admission = _admission(connection, job, row)
        if admission.answer == "start":
            self.taken.append(_take(connection, job, row, self._holder))
        elif admission.answer == "skip":
            _skip(connection, row, self._holder, admission.reason)
        else:
            self.blocked.add(row["job"])


def _admission(connection: Connection, job: Job, row: Row) -> Admission:
    due = row["due_at"]
    on = and_(runs.c.state == "running", runs.c.started_at < due)
    was_on = and_(runs.c.ended_at > due, runs.c.started_at < due)
    others = and_(runs.c.job == row["job"], runs.c.run_id != row["run_id"])
    running = connection.execute(select(func.count()).where(others, runs.c.state == "running")).scalar_one()
    covers = connection.execute(select(runs.c.run_id).where(others, or_(on, was_on)).limit(1)).first() is not None
    fresh_slot = row["slot"] is not None and row["attempt"] == 0
    return admit(job, Active(running, covers), fresh_slot=fresh_slot)


def _take(connection: Connection, job: Job, row: Row, holder: _Holder) -> Claimed:
    moment = holder.moment
    attempt, fence = row["attempt"] + 1, row["fence"] + 1
    connection.execute(
        update(runs)
        .where(runs.c.run_id == row["run_id"])
        .values(
            state="running", attempt=attempt, fence=fence, worker=holder.worker, incarnation=holder.incarnation,
            lease_until=holder.lease_until, boot_id=moment.boot_id, started_at=moment.micros, ended_at=None,
        )
    )  # fmt: skip
    data = {"worker": holder.worker, "fence": fence, "traceparent": traceparent(row["run_id"], attempt)}
    record(connection, "started", row, source=f"worker/{holder.worker}", at=moment.now, data=data, attempt=attempt)
    return Claimed(
        run_id=row["run_id"],
        job=job,
        slot=None if row["slot"] is None else from_micros(row["slot"]),
        attempt=attempt,
        fence=fence,
        retries_used=row["retries_used"],
        worker=holder.worker,
        started_at=moment.now,
    )


def _skip(connection: Connection, row: Row, holder: _Holder, reason: str) -> None:
    now = holder.moment.now
    ended = update(runs).where(runs.c.run_id == row["run_id"])
    connection.execute(ended.values(state="skipped", ended_at=to_micros(now)))
    record(connection, "skipped", row, source=f"worker/{holder.worker}", at=now, data={"reason": reason})
