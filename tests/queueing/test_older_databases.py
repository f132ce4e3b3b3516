"""A queue database that was made before a column was known opens, keeps its rows, and works."""

import sqlite3
from pathlib import Path
from threading import Barrier, Thread

import pytest
from queueing.farm import START, at, minutely, new_queue, states, take_one

from scheduler.database import open_sqlite
from scheduler.endings import Result, finish
from scheduler.planner import plan
from scheduler.tables import create_tables

NEW_COLUMNS = {"runs": ("by_hand", "replaced_by"), "marks": ("cleared_until",)}


def columns(path: Path) -> dict[str, set[str]]:
    with sqlite3.connect(path) as connection:
        found = {table: connection.execute(f"PRAGMA table_info({table})").fetchall() for table in NEW_COLUMNS}
    connection.close()
    return {table: {row[1] for row in rows} for table, rows in found.items()}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database with a planned run, as it was before the columns came."""
    engine = new_queue(tmp_path, minutely())
    plan(engine, START)
    engine.dispose()
    connection = sqlite3.connect(tmp_path / "queue.db")
    for table, names in NEW_COLUMNS.items():
        for name in names:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
    connection.commit()
    connection.close()
    return tmp_path / "queue.db"


def test_an_older_database_gets_the_columns_it_lacks_and_keeps_its_rows(old: Path) -> None:
    assert "by_hand" not in columns(old)["runs"]
    engine = open_sqlite(old, durable=False)
    create_tables(engine)
    assert all(set(names) <= columns(old)[table] for table, names in NEW_COLUMNS.items())
    assert finish(engine, at(1), take_one(engine, at(0)), Result(None, 1.0))
    plan(engine, at(5).now)
    assert states(engine) == {"tidy@2026-03-01T08:00:00Z": "succeeded", "tidy@2026-03-01T08:01:00Z": "queued"}


def test_processes_that_open_it_at_the_same_time_do_not_stumble_over_each_other(old: Path) -> None:
    barrier, problems = Barrier(4), []

    def open_it() -> None:
        engine = open_sqlite(old, durable=False)
        barrier.wait()
        try:
            create_tables(engine)
        except Exception as error:  # noqa: BLE001 - whatever it is fails the test
            problems.append(error)
        engine.dispose()

    threads = [Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert "replaced_by" in columns(old)["runs"]


def test_opening_a_database_that_is_whole_writes_nothing(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    with engine.begin() as connection:
        before = connection.exec_driver_sql("PRAGMA data_version").scalar()
    other = open_sqlite(tmp_path / "queue.db", durable=False)
    create_tables(other)
    with engine.begin() as connection:
        assert connection.exec_driver_sql("PRAGMA data_version").scalar() == before
