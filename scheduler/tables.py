"""What the queue database holds: the only place that names its columns. Rows only; no decisions about them.

Instants are INTEGER microseconds since 1970 (UTC). `lease_until` is microseconds of the host's boot clock, and means
nothing under another `boot_id`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from sqlalchemy import Column, Connection, Engine, Index, Table, UniqueConstraint, inspect
from sqlalchemy.orm import registry
from sqlalchemy.schema import CreateColumn
from sqlmodel import Field, SQLModel

from scheduler.database import read, write


class QueueTable(SQLModel, registry=registry()):
    """Its own registry: the ledger's tables may bear the same names, and neither file gets the other's."""


class DefinitionRow(QueueTable, table=True):
    """One version of one job; `valid_until` is null while it stands, and set when it was replaced or removed."""

    __tablename__: ClassVar[Any] = "definitions"
    job: str = Field(primary_key=True)
    version: int = Field(primary_key=True)
    digest: str
    body: str
    valid_from: int
    valid_until: int | None = None


class MarkRow(QueueTable, table=True):
    """How far a job is planned, and when a planner last looked: a long silence between looks is an outage.

    Slots up to `cleared_until` are settled for ever, though their rows may be gone: `history` has deleted some of them.
    """

    __tablename__: ClassVar[Any] = "marks"
    job: str = Field(primary_key=True)
    planned_until: int
    looked_at: int
    cleared_until: int | None = None


class RunRow(QueueTable, table=True):
    """One run, from the queue to its end. `attempt` counts tries begun; `fence` grows with each claim.

    `by_hand` marks what a person asked for again: no deadline, window or overlap takes it back. `replaced_by` is set on
    a running row that must make way, and names the run that waits for its end.
    """

    __tablename__: ClassVar[Any] = "runs"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("job", "slot"),
        Index("runs_due", "state", "priority", "available_at"),
        Index("runs_ended", "job", "ended_at"),
        Index("runs_active", "job", "state"),
    )
    run_id: str = Field(primary_key=True)
    job: str
    slot: int | None = None
    version: int
    state: str
    priority: int
    queue: str
    tenant: str
    due_at: int
    available_at: int
    attempt: int = 0
    retries_used: int = 0
    fence: int = 0
    lease_until: int | None = None
    boot_id: str | None = None
    worker: str | None = None
    incarnation: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    dead_since: int | None = None
    error: str | None = None
    output_tail: str = ""
    by_hand: bool = Field(default=False, sa_column_kwargs={"server_default": "0"})
    replaced_by: str | None = None


class OutboxRow(QueueTable, table=True):
    """A run event that the collector has not acknowledged yet, as wire JSON. `seq` is the order it was written in."""

    __tablename__: ClassVar[Any] = "outbox"
    seq: int | None = Field(default=None, primary_key=True)
    body: str


class RejectedRow(QueueTable, table=True):
    """A run event that the collector refused, kept with its reason for a person to look at."""

    __tablename__: ClassVar[Any] = "outbox_rejected"
    seq: int = Field(primary_key=True)
    body: str
    reason: str
    rejected_at: int


Row = Mapping[Any, Any]
"""A row as queries answer it, by column name."""

_TABLES = QueueTable.metadata.tables
definitions: Table = _TABLES["definitions"]
marks: Table = _TABLES["marks"]
runs: Table = _TABLES["runs"]
outbox: Table = _TABLES["outbox"]
outbox_rejected: Table = _TABLES["outbox_rejected"]


def create_tables(engine: Engine) -> None:
    """Make the queue's tables where they are not there yet, and columns that a database made earlier lacks."""
    with read(engine) as connection:
        ready = all(inspect(connection).has_table(name) for name in _TABLES) and not _missing(connection)
    if ready:
        return
    # With the write lock held: several processes open a new database at the same time.
    with write(engine) as connection:
        QueueTable.metadata.create_all(connection)
        for column in _missing(connection):
            definition = CreateColumn(column).compile(dialect=connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {column.table.name} ADD COLUMN {definition}")


def _missing(connection: Connection) -> list[Column[Any]]:
    """Columns that the tables which are there do not have."""
    found = inspect(connection)
    lacking: list[Column[Any]] = []
    for name, table in _TABLES.items():
        if found.has_table(name):
            known = {column["name"] for column in found.get_columns(name)}
            lacking += [column for column in table.columns if column.name not in known]
    return lacking
