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

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from scheduler.admission import admission, cancel_row, first_in_line, skip_row, superseding
from scheduler.database import read, write
from scheduler.events import run_id as run_id_of
from scheduler.executors.traces import traceparent
from scheduler.instants import format_instant, from_micros, to_micros
from scheduler.jobs import Job
from scheduler.leases import LEASE, Moment
from scheduler.planner import run_row, say_queued
from scheduler.recording import record
from scheduler.registry import JobReader, JobVersion, current_jobs
from scheduler.tables import Row, marks, runs
from scheduler.timelaw import previous_slot, skipped_by

PAGE = 100
"""Candidates read at a time while claiming."""
EXCUSES = {
    "disabled": "the job is not enabled",
    "holiday": "it falls on a holiday of its calendar",
    "window": "it lies outside the job's batch window",
}
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

    Raises UnknownJobError as `trigger_run`, and ValueError for an instant that is no slot, is excused, lies ahead, or
    has its run already: a slot has at most one (I1).
    """
    version = _startable(engine, job, now)
    schedule = version.job.schedule
    if schedule is None or previous_slot(schedule, slot) != slot:
        raise ValueError(f"{format_instant(slot)} is no slot of {job!r}; `tepat slots {job}` lists them")
    excuse = skipped_by(version.job, slot)
    if excuse is not None:
        why = f"slot {format_instant(slot)} of {job!r} is excused by its definition: {EXCUSES[excuse]}"
        raise ValueError(f"{why}; no run is owed for it, and `tepat run {job}` makes an extra run")
    if slot > now:
        raise ValueError(f"slot {format_instant(slot)} of {job!r} lies ahead and will run by itself; name a past one")
    row = run_row(version, run_id_of(job, slot), slot, now) | {"by_hand": True}
    with write(engine) as connection:
        before = connection.execute(select(runs.c.state).where(runs.c.run_id == row["run_id"])).scalar()
        if before not in (None, "skipped"):
            raise ValueError(f"slot {format_instant(slot)} of {job!r} has its run already, which is {before}")
        if before is None and _is_cleared(connection, job, slot):
            why = f"slot {format_instant(slot)} of {job!r} may have had its run, which `history` has cleared away"
            raise ValueError(f"{why}; `tepat run {job}` makes an extra run")
        connection.execute(delete(runs).where(runs.c.run_id == row["run_id"]))
        connection.execute(insert(runs), row)
        say_queued(connection, row, now)
    return str(row["run_id"])


def _is_cleared(connection: Connection, job: str, slot: datetime) -> bool:
    cleared = connection.execute(select(marks.c.cleared_until).where(marks.c.job == job)).scalar()
    return cleared is not None and to_micros(slot) <= cleared


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

    Slots that will not run (they overlap, or a deadline of their start has passed) are skipped in the same transaction.
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


def told_to_stop(engine: Engine, held: Sequence[Claimed]) -> set[str]:
    """The ids among `held` that must make way for a newer run; only a read, so that it can be asked at each poll."""
    wanted = {one.run_id: one.fence for one in held}
    query = select(runs.c.run_id, runs.c.fence).where(
        runs.c.run_id.in_(wanted), runs.c.state == "running", runs.c.replaced_by.is_not(None)
    )
    with read(engine) as connection:
        return {row.run_id for row in connection.execute(query) if wanted[row.run_id] == row.fence}


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


@dataclass(frozen=True, slots=True)
class _Holder:
    worker: str
    incarnation: str
    moment: Moment
    lease_until: int

    @property
    def source(self) -> str:
        """As events name it."""
        return f"worker/{self.worker}"


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
        if job.overlap == "queue":
            self._consider_line(connection, row["job"])
        elif job.overlap != "replace" or not self._made_way(connection, row):
            self._decide(connection, job, row)

    def _consider_line(self, connection: Connection, name: str) -> None:
        """Runs that queue for each other go in the order of their slots, whatever the order of what is due."""
        first = first_in_line(connection, name)
        if first is None:
            return
        if first["available_at"] > self._holder.moment.micros:
            self.blocked.add(name)
        else:
            self._decide(connection, self._jobs.get(connection, name, first["version"]), first)

    def _made_way(self, connection: Connection, row: Row) -> bool:
        now = self._holder.moment.now
        newer = superseding(connection, row, now)
        if newer is not None:
            cancel_row(connection, row, newer, self._holder.source, now)
        return newer is not None

    def _decide(self, connection: Connection, job: Job, row: Row) -> None:
        now = self._holder.moment.now
        found = admission(connection, job, row, now)
        if found.answer == "start":
            self.taken.append(_take(connection, job, row, self._holder))
        elif found.answer == "skip":
            skip_row(connection, row, found.reason, self._holder.source, now)
        else:
            # To replace is the planner's part, which goes on though every worker is busy: here the run waits.
            self.blocked.add(row["job"])


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
    record(connection, "started", row, source=holder.source, at=moment.now, data=data, attempt=attempt)
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
