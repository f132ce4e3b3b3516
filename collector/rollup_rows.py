"""Rollups kept by (job, minute), moved on in the same transaction as the runs and slots that they count.

What a run or slot added before is read from its own row, so call these before that row is written.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import Connection

from collector.facts import Run, Verdict
from collector.rollups import BucketKey, Rollup, changed, coarser, of_run, of_verdict
from scheduler.instants import to_micros

_run_decoder = msgspec.json.Decoder(Run)
_counts_decoder = msgspec.json.Decoder(dict[str, int])
_RUNS_BEFORE = "SELECT blob FROM runs WHERE run_key IN (SELECT value FROM json_each(?))"
_BUCKETS = "SELECT minute, counts FROM rollups WHERE job = ? AND minute IN (SELECT value FROM json_each(?))"
_PUT = "INSERT OR REPLACE INTO rollups (job, minute, counts) VALUES (?, ?, ?)"
_BETWEEN = "SELECT minute, counts FROM rollups WHERE job = ? AND minute >= ? AND minute < ? ORDER BY minute"


@dataclass(slots=True)
class _Move:
    out: list[Rollup] = field(default_factory=list)
    into: list[Rollup] = field(default_factory=list)


def count_runs(connection: Connection, runs: Mapping[str, Run | None]) -> None:
    """Moves the rollups on for runs as they now are; None: it is no run any more."""
    moves: dict[BucketKey, _Move] = defaultdict(_Move)
    for (blob,) in connection.exec_driver_sql(_RUNS_BEFORE, (_json(runs),)):
        _out(moves, of_run(_run_decoder.decode(blob)))
    for run in runs.values():
        _into(moves, of_run(run))
    _write(connection, moves)


def count_slots(connection: Connection, verdicts: Iterable[tuple[Verdict | None, Verdict]]) -> None:
    """Moves the rollups on for slots: each one's verdict before (None: it had none) and now."""
    moves: dict[BucketKey, _Move] = defaultdict(_Move)
    for before, now in verdicts:
        _out(moves, None if before is None else of_verdict(before))
        _into(moves, of_verdict(now))
    _write(connection, moves)


def rollups_between(
    connection: Connection, job: str, since: datetime, until: datetime, step: timedelta
) -> dict[int, Rollup]:
    """The job's buckets up to `until`, from the whole step that holds `since` on, by their start in microseconds."""
    size = step // timedelta(microseconds=1)
    found = connection.exec_driver_sql(_BETWEEN, (job, to_micros(since) // size * size, to_micros(until)))
    return coarser(((minute, Rollup(_counts_decoder.decode(counts))) for minute, counts in found), step)


def _out(moves: dict[BucketKey, _Move], found: tuple[BucketKey, Rollup] | None) -> None:
    if found is not None:
        moves[found[0]].out.append(found[1])


def _into(moves: dict[BucketKey, _Move], found: tuple[BucketKey, Rollup] | None) -> None:
    if found is not None:
        moves[found[0]].into.append(found[1])


def _write(connection: Connection, moves: Mapping[BucketKey, _Move]) -> None:
    stored = _stored(connection, moves)
    puts = []
    for key, move in moves.items():
        before = stored.get(key, Rollup())
        after = changed(before, move.out, move.into)
        if after != before:
            puts.append((*key, msgspec.json.encode(after, order="sorted")))
    if puts:
        connection.exec_driver_sql(_PUT, puts)


def _stored(connection: Connection, keys: Iterable[BucketKey]) -> dict[BucketKey, Rollup]:
    minutes: dict[str, list[int]] = defaultdict(list)
    for job, minute in keys:
        minutes[job].append(minute)
    return {
        (job, minute): Rollup(_counts_decoder.decode(counts))
        for job, wanted in minutes.items()
        for minute, counts in connection.exec_driver_sql(_BUCKETS, (job, _json(wanted)))
    }


def _json(values: Iterable[str] | Iterable[int]) -> str:
    return msgspec.json.encode(list(values)).decode()
