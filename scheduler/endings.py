"""How a run leaves a worker's hands: finished, given back, lost, dead-lettered, and sent round again by a person.

Each is one transaction with its events. A worker's word counts only while its fence stands (I8).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, select, update

from scheduler.database import read, write
from scheduler.instants import format_instant, to_micros
from scheduler.jobs import Retry
from scheduler.leases import Moment
from scheduler.policy import ErrorKind, after_failure
from scheduler.processes import is_dead
from scheduler.queue import Claimed, fence_stands
from scheduler.recording import record, scheduler_source, tail_for_event
from scheduler.registry import JobReader
from scheduler.tables import Row, runs

_draw = random.SystemRandom()
MESSAGE_LENGTH = 300
"""Characters of an error message that are kept."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong with an attempt."""

    kind: ErrorKind
    message: str
    exit_code: int | None = None

    def wire(self) -> dict[str, Any]:
        """As events carry it; the exit code only where there was one."""
        value: dict[str, Any] = {"kind": self.kind, "message": self.message[:MESSAGE_LENGTH]}
        return value if self.exit_code is None else value | {"exit_code": self.exit_code}


@dataclass(frozen=True, slots=True)
class Result:
    """How an attempt ended: `problem` None is success. `seconds` is monotonic, None if unmeasured.

    `retry_after` is how long the other side asked to be left alone before another attempt.
    """

    problem: Problem | None
    seconds: float | None
    output: str = ""
    retry_after: timedelta = timedelta(0)


def finish(engine: Engine, moment: Moment, claimed: Claimed, result: Result, fraction: float | None = None) -> bool:
    """Write an attempt's end. False, and nothing is changed, when the fence no longer stands.

    `fraction` (0 to 1) decides the back-off's jitter; by default it is drawn.
    """
    with write(engine) as connection:
        row = connection.execute(select(runs).where(*fence_stands(claimed))).mappings().first()
        if row is None:
            return False
        source = f"worker/{claimed.worker}"
        if result.problem is None:
            _succeed(connection, row, moment.now, result, source)
        else:
            _fail(connection, row, _Failure(moment.now, source, result, claimed.job.retry, _share(fraction)))
    return True


def release(engine: Engine, moment: Moment, claimed: Claimed, seconds: float | None) -> bool:
    """Give an interrupted run back: it starts anew with the next attempt number and has used no retry."""
    problem = Problem("interrupted", "the worker was stopped; the run goes back to the queue")
    return finish(engine, moment, claimed, Result(problem, seconds), 0.0)


def sweep(
    engine: Engine, jobs: JobReader, moment: Moment, before: Callable[[str, int], None], fraction: float | None = None
) -> list[str]:
    """Take runs back whose worker shows no sign of life; answers their ids.

    A run is lost when its lease has expired, or when its worker process of this host is gone. `before` is called with
    run id and fence first: it stops what may still run of that attempt, or two would run at once.
    """
    with read(engine) as connection:
        query = select(runs).where(runs.c.state == "running")
        rows = [row for row in connection.execute(query).mappings() if _is_lost(row, moment)]
    lost = []
    for row in rows:
        before(row["run_id"], row["fence"])
        if _give_back(engine, jobs, row, moment, _share(fraction)):
            lost.append(row["run_id"])
    return lost


def redrive(engine: Engine, run_id: str, now: datetime, by: str) -> bool:
    """Send a dead letter round again, with all its retries; False when the run is no dead letter."""
    with write(engine) as connection:
        row = _dead_letter(connection, run_id)
        if row is None:
            return False
        _change(connection, row, state="queued", dead_since=None, retries_used=0, available_at=to_micros(now),
                ended_at=None, by_hand=True)  # fmt: skip
        data = {"queue": row["queue"], "by": by}
        record(connection, "redriven", row, source=scheduler_source(), at=now, data=data, attempt=row["attempt"] + 1)
    return True


def discard(engine: Engine, run_id: str, now: datetime, by: str, reason: str) -> bool:
    """Put a dead letter away for good; its outcome stays. False when the run is no dead letter."""
    with write(engine) as connection:
        row = _dead_letter(connection, run_id)
        if row is None:
            return False
        _change(connection, row, dead_since=None)
        data = {"queue": row["queue"], "by": by, "reason": reason}
        record(connection, "discarded", row, source=scheduler_source(), at=now, data=data)
    return True


def _succeed(connection: Connection, row: Row, now: datetime, result: Result, source: str) -> None:
    _change(connection, row, state="succeeded", ended_at=to_micros(now), error=None, output_tail=result.output)
    data = {"seconds": result.seconds, "output_tail": tail_for_event(result.output)}
    record(connection, "succeeded", row, source=source, at=now, data=data)


@dataclass(frozen=True, slots=True)
class _Failure:
    """A failed attempt with all that decides what follows it."""

    now: datetime
    source: str
    result: Result
    retry: Retry
    fraction: float


def _share(fraction: float | None) -> float:
    return _draw.random() if fraction is None else fraction


def _fail(connection: Connection, row: Row, failure: _Failure) -> None:
    now, source, result = failure.now, failure.source, failure.result
    assert result.problem is not None
    replaced = row["replaced_by"] is not None
    kind, used = result.problem.kind, row["retries_used"]
    asked = result.retry_after
    then = after_failure(failure.retry, kind, used, failure.fraction, replaced=replaced, asked=asked)
    if then.reason == "replaced":
        _cancel(connection, row, failure)
        return
    error = result.problem.wire()
    data: dict[str, Any] = {"error": error}
    if result.seconds is not None:
        data["seconds"] = result.seconds
    kept = {"error": msgspec.json.encode(error).decode(), "output_tail": result.output}
    if then.again:
        retry_at = now + then.delay
        used += then.uses_retry
        _change(connection, row, state="queued", available_at=to_micros(retry_at), retries_used=used, **kept)
        data["retry_at"] = format_instant(retry_at)
        record(connection, "retrying", row, source=source, at=now, data=data)
        return
    if result.output:
        data["output_tail"] = tail_for_event(result.output)
    micros = to_micros(now)
    _change(connection, row, state="failed", ended_at=micros, dead_since=micros, **kept)
    record(connection, "failed", row, source=source, at=now, data=data)
    letter = {"queue": row["queue"], "reason": then.reason}
    record(connection, "dead_lettered", row, source=source, at=now, data=letter)


def _cancel(connection: Connection, row: Row, failure: _Failure) -> None:
    """The run has made way for a newer one: that is its end, and no failure."""
    by, result = row["replaced_by"], failure.result
    _change(connection, row, state="cancelled", ended_at=to_micros(failure.now), output_tail=result.output,
            replaced_by=by)  # fmt: skip
    data: dict[str, Any] = {"reason": f"replaced by {by}"}
    if result.seconds is not None:
        data["seconds"] = result.seconds
    if result.output:
        data["output_tail"] = tail_for_event(result.output)
    record(connection, "cancelled", row, source=failure.source, at=failure.now, data=data)


def _is_lost(row: Row, moment: Moment) -> bool:
    return moment.expired(row["lease_until"], row["boot_id"]) or is_dead(row["incarnation"] or "")


def _give_back(engine: Engine, jobs: JobReader, seen: Row, moment: Moment, fraction: float) -> bool:
    with write(engine) as connection:
        row = connection.execute(select(runs).where(runs.c.run_id == seen["run_id"])).mappings().one()
        # Between the look and this transaction the worker may have finished or renewed: then nothing is lost.
        if row["state"] != "running" or row["fence"] != seen["fence"] or not _is_lost(row, moment):
            return False
        job = jobs.get(connection, row["job"], row["version"])
        problem = Problem("lost", f"worker {row['worker']} shows no sign of life")
        result = Result(problem, None)
        _fail(connection, row, _Failure(moment.now, scheduler_source(), result, job.retry, fraction))
    return True


def _dead_letter(connection: Connection, run_id: str) -> Row | None:
    query = select(runs).where(runs.c.run_id == run_id, runs.c.dead_since.is_not(None))
    return connection.execute(query).mappings().first()


def _change(connection: Connection, row: Row, **values: Any) -> None:
    # Whatever a run becomes, its lease is over; the fence stays, so that an old one never fits again.
    free = {"lease_until": None, "boot_id": None, "incarnation": None, "replaced_by": None}
    connection.execute(update(runs).where(runs.c.run_id == row["run_id"]).values(free | values))
