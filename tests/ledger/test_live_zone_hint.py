"""The ledger hints at a wrong zone from weeks of a daily job's runs, though its numbers are of one day."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ledger.test_live_and_backtest import _started

from collector.reports import job_items
from collector.tables import create_tables
from scheduler.database import open_sqlite, read, write
from scheduler.events import RunEvent
from scheduler.jobs import Job, OnTime, Schedule
from scheduler.registry import JobVersion

START = datetime(2026, 8, 18, 12, tzinfo=UTC)
NIGHTLY = Job(
    id="nightly",
    schedule=Schedule(cron="0 5 * * *", timezone="UTC"),
    on_time=OnTime(start_within=timedelta(hours=1)),
)


@pytest.mark.parametrize(
    ("nights", "flags"), [(4, []), (5, ["timezone_mismatch:-180"]), (9, ["timezone_mismatch:-180"])]
)
def test_a_daily_job_three_hours_early_is_flagged_from_its_fifth_night(
    tmp_path: Path, nights: int, flags: list[str]
) -> None:
    engine = open_sqlite(tmp_path / "ledger.db", durable=False)
    create_tables(engine)
    ledger = _started(engine, [JobVersion(NIGHTLY, 1, START, None)])
    starts = [START + timedelta(days=night, hours=14) for night in range(nights)]
    until = START + timedelta(days=nights)
    events = [
        RunEvent(id=str(at), source="cron", type="started", job="nightly", run=f"r{number}", at=at)
        for number, at in enumerate(starts)
    ]
    with write(engine) as connection:
        ledger.take(connection, [], START)
        ledger.take(connection, events, until)
    ledger.judge(until, everything=True)
    with read(engine) as connection:
        (item,) = job_items(connection, {"nightly": NIGHTLY}, until)
    assert (item["slots"]["missed"], item["slots"]["on_time"]) == (1, 0)
    assert item["flags"] == flags
