"""Which runs lie dead, and what was decided about one of them? Reads in the caller's transaction; decides nothing."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from sqlalchemy import Connection

from collector.facts import Run
from collector.journal import decode
from collector.listing import Page, position
from collector.rows import run_of
from collector.summary import queue_of
from scheduler.events import RunEvent
from scheduler.instants import format_instant, to_micros
from scheduler.jobs import Job

MAX_EVENTS = 1_000
"""Events of one run that are read; of more, the newest count."""
MAX_SAID = 1_000
"""Characters of a reason or a name that are told."""
_LETTERS = (
    "SELECT blob FROM runs WHERE (first_at, run_key) < (?, ?) AND outcome = 'dead_lettered'"
    " AND (? IS NULL OR job = ?) ORDER BY first_at DESC, run_key DESC"
)
_DECIDED = (
    "SELECT body FROM journal WHERE run_key = ? AND type IN ('dead_lettered', 'redriven', 'discarded')"
    " ORDER BY seq DESC LIMIT ?"
)
Item = dict[str, Any]


def dead_page(
    connection: Connection, jobs: Mapping[str, Job], job: str | None, queue: str | None, cursor: str | None, limit: int
) -> Page[Run]:
    """Dead letters that wait for a person, the newest run first; discarded ones wait no more."""
    letters = (run for run in _letters(connection, job, cursor) if queue in (None, queue_of(run, jobs)))
    found = list(islice(letters, limit + 1))
    page = found[:limit]
    return Page(page, f"{to_micros(page[-1].first_at)}:{page[-1].id}" if len(found) > limit else None)


def decisions(connection: Connection, run: str) -> list[Item]:
    """Each time the run died, was sent round again, or was put away, ascending.

    Items are `type`, `at`, `attempt`, `reason`, `by`; the last two hold foreign text. What was told twice stands once.
    """
    bodies = connection.exec_driver_sql(_DECIDED, (run, MAX_EVENTS)).scalars()
    events = sorted((decode(body) for body in bodies), key=lambda event: event.at)
    told: dict[tuple[str, int], RunEvent] = {}
    for event in events:
        told.setdefault((event.type, event.attempt), event)
    return [_decision(event) for event in told.values()]


def _letters(connection: Connection, job: str | None, cursor: str | None) -> Iterator[Run]:
    at, name = position(cursor) if cursor else (2**62, "")
    # Whether a letter still waits is in the run itself, so those that were discarded are read past.
    with connection.exec_driver_sql(_LETTERS, (at, name, job, job)) as rows:
        for run in map(run_of, rows.scalars()):
            if run.dead_since is not None:
                yield run


def _decision(event: RunEvent) -> Item:
    return {
        "type": event.type,
        "at": format_instant(event.at),
        "attempt": event.attempt,
        "reason": _said(event, "reason"),
        "by": _said(event, "by"),
    }


def _said(event: RunEvent, name: str) -> str | None:
    value = event.data.get(name)
    return str(value)[:MAX_SAID] if value else None
