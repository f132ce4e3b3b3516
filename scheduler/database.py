"""Engines and transactions: the one place that knows how SQLite is opened and how a write begins."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event

BUSY_TIMEOUT_MS = 10_000


def open_sqlite(path: Path | str, *, durable: bool = True) -> Engine:
    """An engine on a SQLite file in WAL mode. `durable` keeps `synchronous=FULL`, which promise I2 rests on."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(f"sqlite:///{path}", connect_args={"check_same_thread": False})

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        # SQLAlchemy begins transactions, not the driver: a driver-made deferred BEGIN that reads first and writes
        # later fails at once with SQLITE_BUSY_SNAPSHOT, and the busy timeout does not help.
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            f"synchronous={'FULL' if durable else 'NORMAL'}",
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            "foreign_keys=ON",
            "journal_size_limit=16777216",
        ):
            connection.execute(f"PRAGMA {pragma}")

    return engine


@contextmanager
def write(engine: Engine) -> Iterator[Connection]:
    """One write transaction, begun with the write lock held: committed at the end, rolled back on any error."""
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.rollback()
            raise
        connection.commit()


@contextmanager
def read(engine: Engine) -> Iterator[Connection]:
    """One consistent view for reading; it never waits for a writer."""
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        try:
            yield connection
        finally:
            connection.rollback()
