"""Runs and slots to rows and back, in the caller's transaction. Decides nothing."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection

from collector.facts import Run, Verdict
from collector.slots import Judged
from collector.verdicts import Slot
from scheduler.instants import from_micros, to_micros

_RUN = (
    "INSERT OR REPLACE INTO runs (run_key, job, source, slot, outcome, first_at, started_at, ended_at, duration,"
    " starts, retries, duplicate_starts, dead_arrivals, blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SLOT = (
    "INSERT OR REPLACE INTO slots (job, slot, verdict, reason, limit_at, settled_at, run, started_at, lateness, limits)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
SLOT_COLUMNS = "job, slot, verdict, reason, limit_at, settled_at, run, started_at, lateness"
_run_decoder = msgspec.json.Decoder(Run)
_slot_decoder = msgspec.json.Decoder(Slot)


def put_runs(connection: Connection, runs: Mapping[str, Run | None]) -> None:
    """Writes runs as they now are; None takes a run out that is no run any more."""
    gone = [(key,) for key, run in runs.items() if run is None]
    present = [_run_row(run) for run in runs.values() if run is not None]
    if gone:
        connection.exec_driver_sql("DELETE FROM runs WHERE run_key = ?", gone)
    if present:
        connection.exec_driver_sql(_RUN, present)


def put_slots(connection: Connection, judged: Iterable[Judged]) -> None:
    """Writes slots with their verdicts."""
    found = [_slot_row(each) for each in judged]
    if found:
        connection.exec_driver_sql(_SLOT, found)


def run_of(blob: bytes) -> Run:
    """A run as `put_runs` kept it."""
    return _run_decoder.decode(blob)


def verdict_of(row: Any) -> Verdict:
    """A verdict from SLOT_COLUMNS."""
    job, slot, kind, reason, limit, settled, run, started, lateness = row
    return Verdict(
        job=job,
        slot=from_micros(slot),
        kind=kind,
        reason=reason,
        limit=from_micros(limit),
        settled_at=instant(settled),
        run=run,
        started_at=instant(started),
        lateness=lateness,
    )


def slots_since(connection: Connection, since: datetime) -> Iterator[Judged]:
    """Slots from `since` on and those still open, ascending."""
    columns = f"{SLOT_COLUMNS}, limits"
    query = f"SELECT {columns} FROM slots WHERE slot >= ? OR verdict IN ('pending', 'unknown') ORDER BY slot"  # noqa: S608
    for *row, limits in connection.exec_driver_sql(query, (to_micros(since),)):
        yield Judged(_slot_decoder.decode(limits), verdict_of(row))


def slot_marks(connection: Connection) -> dict[str, datetime]:
    """By job, the newest slot that is known: slots after it are still to be owed."""
    found = connection.exec_driver_sql("SELECT job, max(slot) FROM slots GROUP BY job")
    return {job: from_micros(slot) for job, slot in found}


def born(connection: Connection, now: datetime) -> datetime:
    """Since when this ledger watches: no slot before it is owed. Written at the first call."""
    connection.exec_driver_sql("INSERT OR IGNORE INTO meta (name, value) VALUES ('born', ?)", (str(to_micros(now)),))
    value = connection.exec_driver_sql("SELECT value FROM meta WHERE name = 'born'").scalar_one()
    return from_micros(int(value))


def instant(micros: int | None) -> datetime | None:
    """A nullable instant column."""
    return None if micros is None else from_micros(micros)


def _micros(value: datetime | None) -> int | None:
    return None if value is None else to_micros(value)


def _run_row(run: Run) -> tuple[Any, ...]:
    times = (to_micros(run.first_at), _micros(run.started_at), _micros(run.ended_at), run.duration)
    counts = (run.starts, run.retries, run.duplicate_starts, run.dead_arrivals)
    head = (run.id, run.job, run.source, _micros(run.slot), run.outcome)
    return (*head, *times, *counts, msgspec.json.encode(run, order="deterministic"))


def _slot_row(judged: Judged) -> tuple[Any, ...]:
    verdict = judged.verdict
    head = (verdict.job, to_micros(verdict.slot), verdict.kind, verdict.reason, to_micros(verdict.limit))
    tail = (_micros(verdict.settled_at), verdict.run, _micros(verdict.started_at), verdict.lateness)
    return (*head, *tail, msgspec.json.encode(judged.slot))
