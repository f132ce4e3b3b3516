"""The outbox's two tables in the ledger: what is owed to which channel, and what state each channel is in."""

from sqlalchemy import Column, Engine, Index, Integer, Table, Text, UniqueConstraint
from sqlmodel import SQLModel

NOTICES = Table(
    "notice_outbox",
    SQLModel.metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("notice_id", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("episode", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("next_try_at", Integer, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("fold", Text),
    Column("lease_boot", Text),
    Column("lease_until", Integer),
    Column("lease_token", Text),
    Column("last_try_at", Integer),
    Column("answer", Integer),
    Column("reason", Text, nullable=False, default=""),
    Column("delivered_at", Integer),
    UniqueConstraint("notice_id", "channel", name="notice_outbox_key"),
    Index("notice_outbox_owed", "state", "channel", "seq"),
    Index("notice_outbox_episode", "episode"),
)

CHANNELS = Table(
    "notice_channel",
    SQLModel.metadata,
    Column("name", Text, primary_key=True),
    Column("blocked_until", Integer),
    Column("disabled_at", Integer),
    Column("disabled_target", Text),
    Column("reason", Text, nullable=False, default=""),
)


def create_tables(engine: Engine) -> None:
    """Make the two tables where they are missing."""
    SQLModel.metadata.create_all(engine, tables=[NOTICES, CHANNELS])
