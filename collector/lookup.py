"""One slot or one run by its key, as the ledger last knew it. Reads in the caller's transaction; decides nothing."""

from datetime import datetime

from sqlalchemy import Connection

from collector.facts import Run, Verdict
from collector.rows import SLOT_COLUMNS, run_of, verdict_of
from scheduler.instants import from_micros, to_micros


def verdict_at(connection: Connection, job: str, slot: datetime) -> Verdict | None:
    """The verdict of a slot; None for one that this ledger never owed, or does not owe yet."""
    query = f"SELECT {SLOT_COLUMNS} FROM slots WHERE job = ? AND slot = ?"  # noqa: S608 - constant column names
    row = connection.exec_driver_sql(query, (job, to_micros(slot))).first()
    return None if row is None else verdict_of(row)


def run_by_key(connection: Connection, key: str) -> Run | None:
    """A run by its id, those too of which only a skip was heard."""
    blob = connection.exec_driver_sql("SELECT blob FROM runs WHERE run_key = ?", (key,)).scalar()
    return None if blob is None else run_of(blob)


def watched_since(connection: Connection) -> datetime | None:
    """The instant up to which this ledger owes no slot; None before its first look."""
    value = connection.exec_driver_sql("SELECT value FROM meta WHERE name = 'born'").scalar()
    return None if value is None else from_micros(int(value))
