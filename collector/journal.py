"""The append-only journal: each event once, by `(source, id)`, in the caller's transaction. It decides nothing else.

The same key with other content: the content with the smaller SHA-256 of its canonical JSON stands, whichever came
first, so that the order of arrival can't change what is known (I3).
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection

from scheduler.events import RunEvent, canonical
from scheduler.instants import to_micros

Key = tuple[str, str]
_INSERT = (
    "INSERT INTO journal (source, event_id, received_at, type, job, run_key, at, digest, conflict, body)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_REPLACE = (
    "UPDATE journal SET type=?, job=?, run_key=?, at=?, digest=?, conflict=1, body=? WHERE source=? AND event_id=?"
)
_KNOWN = (
    "SELECT event_id, digest, conflict, body FROM journal"
    " WHERE source = ? AND event_id IN (SELECT value FROM json_each(?))"
)


@dataclass(slots=True)
class _Entry:
    """The journal's line for one key while a batch is taken in."""

    event: RunEvent
    digest: bytes
    stored: bool = False
    conflict: bool = False
    changed: bool = False
    withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class Appended:
    """What a batch changed: `fresh` says per event, in order, if its key was new; `events` are the new keys' contents.

    `withdrawn`: a content that stood before was replaced, so what is known must be worked out anew from the journal.
    """

    fresh: tuple[bool, ...]
    events: tuple[RunEvent, ...]
    withdrawn: bool


def append(connection: Connection, events: Sequence[RunEvent], received_at: datetime) -> Appended:
    """Journals what is new of `events`, all received at `received_at`, and says what that changed."""
    entries = _known(connection, events)
    fresh = tuple(_take(entries, msgspec.structs.replace(event, received_at=received_at)) for event in events)
    _write(connection, entries.values())
    return Appended(
        fresh,
        tuple(entry.event for entry in entries.values() if not entry.stored),
        any(entry.withdrawn for entry in entries.values()),
    )


def decode(body: bytes) -> RunEvent:
    """A journal line's event."""
    return _DECODER.decode(body)


def events_of_runs(connection: Connection, run_keys: Iterable[str]) -> dict[str, list[RunEvent]]:
    """Every journaled event of each run, found by the index on `run_key`."""
    found: dict[str, list[RunEvent]] = defaultdict(list)
    query = "SELECT run_key, body FROM journal WHERE run_key IN (SELECT value FROM json_each(?)) ORDER BY seq"
    for key, body in connection.exec_driver_sql(query, (_json(list(run_keys)),)):
        found[key].append(decode(body))
    return found


def events_since(connection: Connection, since: datetime) -> Iterator[RunEvent]:
    """What is needed to know the present: the events of runs that ended after `since`, are open, or wait dead.

    Events without a run id are taken by when they happened.
    """
    at = to_micros(since)
    query = (
        "SELECT body FROM journal WHERE (run_key IS NULL AND at >= ?) OR (run_key IS NOT NULL AND run_key NOT IN"
        " (SELECT run_key FROM runs WHERE coalesce(ended_at, first_at) < ?"
        " AND coalesce(outcome, '') NOT IN ('queued', 'running', 'dead_lettered'))) ORDER BY seq"
    )
    for (body,) in connection.exec_driver_sql(query, (at, at)):
        yield decode(body)


def event_count(connection: Connection) -> int:
    """How many events stand in the journal."""
    return int(connection.exec_driver_sql("SELECT count(*) FROM journal").scalar_one())


_DECODER = msgspec.json.Decoder(RunEvent)


def _known(connection: Connection, events: Sequence[RunEvent]) -> dict[Key, _Entry]:
    ids: dict[str, set[str]] = defaultdict(set)
    for event in events:
        ids[event.source].add(event.id)
    entries: dict[Key, _Entry] = {}
    for source, wanted in ids.items():
        for event_id, digest, conflict, body in connection.exec_driver_sql(_KNOWN, (source, _json(sorted(wanted)))):
            entries[source, event_id] = _Entry(decode(body), digest, stored=True, conflict=bool(conflict))
    return entries


def _take(entries: dict[Key, _Entry], event: RunEvent) -> bool:
    key, digest = (event.source, event.id), hashlib.sha256(canonical(event)).digest()
    entry = entries.get(key)
    if entry is None:
        entries[key] = _Entry(event, digest, changed=True)
        return True
    if digest != entry.digest:
        _settle_conflict(entry, event, digest)
    return False


def _settle_conflict(entry: _Entry, event: RunEvent, digest: bytes) -> None:
    entry.changed = entry.changed or not entry.conflict or digest < entry.digest
    entry.conflict = True
    if digest < entry.digest:
        entry.withdrawn = entry.stored
        # The line keeps its first arrival: only what was said is replaced.
        entry.event = msgspec.structs.replace(event, received_at=entry.event.received_at)
        entry.digest = digest


def _write(connection: Connection, entries: Iterable[_Entry]) -> None:
    changed = [entry for entry in entries if entry.changed]
    inserts = [_columns(entry) for entry in changed if not entry.stored]
    updates = [_update(entry) for entry in changed if entry.stored]
    if inserts:
        connection.exec_driver_sql(_INSERT, inserts)
    if updates:
        connection.exec_driver_sql(_REPLACE, updates)


def _columns(entry: _Entry) -> tuple[Any, ...]:
    event = entry.event
    received = to_micros(event.received_at or event.at)
    head = (event.source, event.id, received, event.type, event.job, run_key(event), to_micros(event.at))
    return (*head, entry.digest, int(entry.conflict), msgspec.json.encode(event))


def _update(entry: _Entry) -> tuple[Any, ...]:
    event = entry.event
    head = (event.type, event.job, run_key(event), to_micros(event.at), entry.digest, msgspec.json.encode(event))
    return (*head, event.source, event.id)


def run_key(event: RunEvent) -> str | None:
    """The key that an event's run is found by: the run id it gives, or none for what names no run."""
    return event.run


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
