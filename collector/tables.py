"""What the ledger keeps, table by table. Holds no logic: `journal.py` and `store.py` write, `reports.py` reads.

Instants are INTEGER microseconds since 1970-01-01T00:00:00Z, so that they compare and index exactly.
"""

from typing import ClassVar

from sqlalchemy import BigInteger, Column, Engine, Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field, SQLModel


def _micros(*, nullable: bool = False, primary_key: bool = False) -> Column[int]:
    return Column(BigInteger, nullable=nullable, primary_key=primary_key)


class JournalRow(SQLModel, table=True):
    """One run event as it was first said. `digest`: SHA-256 of its canonical JSON; `conflict`: two contents came."""

    __tablename__: ClassVar[str] = "journal"
    __table_args__ = (
        UniqueConstraint("source", "event_id"),
        Index("journal_run", "run_key"),
        Index("journal_conflicts", "job", sqlite_where=text("conflict")),
    )
    seq: int = Field(primary_key=True)
    source: str
    event_id: str
    received_at: int = Field(sa_column=_micros())
    type: str
    job: str | None = None
    run_key: str | None = None
    at: int = Field(sa_column=_micros())
    digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    conflict: bool = False
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class RunRow(SQLModel, table=True):
    """One folded run: `blob` is all of it as JSON, the other columns are what lists are filtered and sorted by."""

    __tablename__: ClassVar[str] = "runs"
    __table_args__ = (
        Index("runs_ended", "ended_at"),
        Index("runs_totals", "job", "outcome"),
        Index("runs_job", "job", "first_at"),
        Index("runs_first", "first_at"),
    )
    run_key: str = Field(primary_key=True)
    job: str
    source: str
    slot: int | None = Field(default=None, sa_column=_micros(nullable=True))
    outcome: str | None = None
    first_at: int = Field(sa_column=_micros())
    started_at: int | None = Field(default=None, sa_column=_micros(nullable=True))
    ended_at: int | None = Field(default=None, sa_column=_micros(nullable=True))
    duration: float | None = None
    starts: int = 0
    retries: int = 0
    duplicate_starts: int = 0
    dead_arrivals: int = 0
    blob: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class SlotRow(SQLModel, table=True):
    """One slot and its verdict as last judged. `limit_at` is the instant after which silence becomes `missed`.

    `limits` is the slot with all its limits as JSON: a later version of the job must not judge it by other ones.
    """

    __tablename__: ClassVar[str] = "slots"
    __table_args__ = (Index("slots_at", "slot"), Index("slots_totals", "job", "verdict"))
    job: str = Field(primary_key=True)
    slot: int = Field(sa_column=_micros(primary_key=True))
    verdict: str
    reason: str
    limit_at: int = Field(sa_column=_micros())
    settled_at: int | None = Field(default=None, sa_column=_micros(nullable=True))
    run: str | None = None
    started_at: int | None = Field(default=None, sa_column=_micros(nullable=True))
    lateness: float | None = None
    limits: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class HeartbeatRow(SQLModel, table=True):
    """The collector was alive at `at`; a hole between two rows is a time in which silence proves nothing."""

    __tablename__: ClassVar[str] = "heartbeats"
    at: int = Field(sa_column=_micros(primary_key=True))


class EpisodeRow(SQLModel, table=True):
    """One uninterrupted time that an alert fires. `state` is what the alert life cycle carries on, as JSON."""

    __tablename__: ClassVar[str] = "episodes"
    __table_args__ = (UniqueConstraint("slo", "severity", "started_at"), Index("episodes_open", "resolved_at"))
    id: str = Field(primary_key=True)
    slo: str
    severity: str
    started_at: int = Field(sa_column=_micros())
    resolved_at: int | None = Field(default=None, sa_column=_micros(nullable=True))
    reason: str
    state: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class NoticeRow(SQLModel, table=True):
    """One notice that was owed: a row before it is a message. Delivery is the outbox's."""

    __tablename__: ClassVar[str] = "notices"
    __table_args__ = (Index("notices_episode", "episode"),)
    id: str = Field(primary_key=True)
    episode: str
    at: int = Field(sa_column=_micros())
    status: str
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class RollupRow(SQLModel, table=True):
    """What a job's runs and slots add up to in one UTC minute: `counts` is a JSON object of whole numbers."""

    __tablename__: ClassVar[str] = "rollups"
    job: str = Field(primary_key=True)
    minute: int = Field(sa_column=_micros(primary_key=True))
    counts: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class MetaRow(SQLModel, table=True):
    """Single facts by name, as text: since when a job is watched, the store's version."""

    __tablename__: ClassVar[str] = "meta"
    name: str = Field(primary_key=True)
    value: str


OWN_TABLES = ("journal", "runs", "slots", "heartbeats", "episodes", "notices", "rollups", "meta")


def create_tables(engine: Engine) -> None:
    """Makes what isn't there yet; what is there stays as it is."""
    wanted = [SQLModel.metadata.tables[name] for name in OWN_TABLES]
    SQLModel.metadata.create_all(engine, tables=wanted)
