"""Pages of slots and runs: filters, bounds and cursors. A page says where the next one begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from collector.facts import Run, Verdict
from collector.rows import SLOT_COLUMNS, run_of, verdict_of
from collector.verdicts import judge, slot_of
from scheduler.instants import to_micros
from scheduler.jobs import Job
from scheduler.timelaw import slots_between

MAX_PAGE = 5_000
T = TypeVar("T")


class CursorError(ValueError):
    """A cursor that no page gave out."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page's values, and the cursor of the next page, or None at the end."""

    values: list[T]
    next: str | None


def slots_page(
    connection: Connection, since: datetime, until: datetime, job: str | None, cursor: str | None, limit: int
) -> Page[Verdict]:
    """Known slots in `(since, until]`, ascending."""
    at, name = position(cursor) if cursor else (to_micros(since), "\U0010ffff")
    query = (
        f"SELECT {SLOT_COLUMNS} FROM slots WHERE (slot, job) > (?, ?) AND slot <= ? AND (? IS NULL OR job = ?)"  # noqa: S608 - constant column names
        " ORDER BY slot, job LIMIT ?"
    )
    found = connection.exec_driver_sql(query, (at, name, to_micros(until), job, job, limit + 1)).all()
    verdicts = [verdict_of(row) for row in found[:limit]]
    more = len(found) > limit
    return Page(verdicts, f"{to_micros(verdicts[-1].slot)}:{verdicts[-1].job}" if more else None)


def upcoming(jobs: Mapping[str, Job], since: datetime, until: datetime, limit: int) -> list[Verdict]:
    """Slots in `(since, until]` that nobody has to judge yet: `pending`, or skipped where the definition says so."""
    found: list[Verdict] = []
    for job in jobs.values():
        if job.schedule is not None:
            slots = slots_between(job.schedule, since, until)[:limit]
            found += [judge(slot_of(job, at), (), (), since) for at in slots]
    return sorted(found, key=lambda verdict: (verdict.slot, verdict.job))[:limit]


def runs_page(
    connection: Connection, outcome: str | None, job: str | None, cursor: str | None, limit: int
) -> Page[Run]:
    """Runs, the newest first."""
    at, name = position(cursor) if cursor else (2**62, "")
    query = (
        "SELECT first_at, run_key, blob FROM runs WHERE (first_at, run_key) < (?, ?) AND outcome IS NOT NULL"
        " AND (? IS NULL OR outcome = ?) AND (? IS NULL OR job = ?) ORDER BY first_at DESC, run_key DESC LIMIT ?"
    )
    found: list[Any] = list(connection.exec_driver_sql(query, (at, name, outcome, outcome, job, job, limit + 1)).all())
    page = found[:limit]
    return Page([run_of(row[2]) for row in page], f"{page[-1][0]}:{page[-1][1]}" if len(found) > limit else None)


def position(cursor: str) -> tuple[int, str]:
    """Where a page begins: microseconds and a name. Raises CursorError."""
    at, colon, name = cursor.partition(":")
    if not colon or not at.lstrip("-").isdigit() or len(at) > 19:
        raise CursorError(f"{cursor[:60]!r} is not a cursor; send the `next` of the page before, or leave it out")
    return int(at), name
