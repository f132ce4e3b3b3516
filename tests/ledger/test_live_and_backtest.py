"""The live ledger and the backtest over the same events: the same numbers, because the same lines decide (I3, I5)."""

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from collector.facts import Run, Verdict
from collector.reports import job_items
from collector.store import Ledger, Present
from collector.tables import create_tables
from scheduler.database import open_sqlite, read, write
from scheduler.events import RunEvent
from scheduler.instants import format_instant
from scheduler.jobs import Calendar, Command, Job, OnTime, Schedule, Window
from scheduler.registry import JobVersion
from slo.replay import Replay, Span

START = datetime(2026, 1, 1, tzinfo=UTC)
UNTIL = START + timedelta(hours=3)
NUMBERS = ("slots", "runs", "attempts", "retries", "duplicate_starts", "on_time_rate", "success_rate")
LENGTHS = ("duration_seconds", "lateness_seconds", "flags")
JOBS = (
    Job(id="own", schedule=Schedule(every=timedelta(minutes=5), timezone="UTC"), run=Command(argv=("true",))),
    Job(
        id="pings",
        schedule=Schedule(cron="*/10 * * * *", timezone="Asia/Jakarta"),
        on_time=OnTime(start_within=None, complete_within=timedelta(minutes=4)),
        run_deadline=timedelta(minutes=15),
    ),
    # Its window is open from one to three o'clock (UTC), and New Year comes to its zone at two.
    Job(
        id="office",
        schedule=Schedule(
            cron="*/10 * * * *",
            timezone="Etc/GMT+2",
            jitter=timedelta(seconds=90),
            calendar=Calendar(name="new year", dates=(date(2026, 1, 1),)),
            holidays="skip",
            also=(Schedule(every=timedelta(minutes=15), timezone="UTC"),),
        ),
        window=Window(start=23 * 3600, end=3600, timezone="Etc/GMT+2"),
        run=Command(argv=("true",)),
    ),
)


class Deaf:
    """A judge that nobody asks: this is about runs and slots."""

    def reset(self, connection: Connection, present: Present, at: datetime) -> None: ...

    def verdict_changed(self, verdict: Verdict) -> None: ...

    def run_changed(self, key: str, run: Run | None, job: str, at: datetime) -> None: ...

    def waits(self) -> bool:
        return False

    def judge(self, connection: Connection, at: datetime, *, everything: bool) -> None: ...

    def committed(self) -> None: ...


def history(rng: random.Random) -> list[RunEvent]:
    """Three hours of two jobs: some runs missing, failing, doubled, without ids, and a time in which nobody looked."""
    found: list[RunEvent] = []

    def say(kind: str, job: str, minute: float, **fields: Any) -> None:
        at = START + timedelta(minutes=minute)
        found.append(RunEvent(id=f"e{len(found):04d}", source="test", type=kind, job=job, at=at, **fields))

    for minute in range(5, 180, 5):
        slot = START + timedelta(minutes=minute)
        name = f"own@{format_instant(slot)}"
        if rng.random() < 0.2:
            continue
        begun = minute + rng.choice((0, 0.5, 1, 1.5))
        for worker in ("a", "b") if rng.random() < 0.1 else ("a",):
            say("started", "own", begun, run=name, slot=slot, data={"worker": worker})
        say(rng.choice(("succeeded", "succeeded", "failed", "cancelled")), "own", begun + 0.7, run=name, slot=slot)
    for minute in range(10, 180, 10):
        begun = minute + rng.choice((0, 1, 3, 5))
        say("started", "pings", begun)
        if rng.random() < 0.8:
            say("succeeded", "pings", begun + rng.choice((0.5, 2, 14)))
    for minute in range(10, 180, 10):
        slot = START + timedelta(minutes=minute)
        if rng.random() < 0.7:
            say("started", "office", minute + rng.choice((0, 1, 2, 3)), run=f"office@{format_instant(slot)}", slot=slot)
    since, until = START + timedelta(minutes=61), START + timedelta(minutes=75)
    blind = {"from": format_instant(since), "until": format_instant(until)}
    found.append(RunEvent(id="gap", source="test", type="gap", at=until, data=blind))
    return [event for event in found if event.at <= UNTIL]


def live(folder: Path, events: Sequence[RunEvent], rng: random.Random) -> dict[str, dict[str, Any]]:
    """What the ledger reports when the events come in any order, in batches, some twice, with a restart between."""
    engine = open_sqlite(folder / "ledger.db", durable=False)
    create_tables(engine)
    versions = [JobVersion(job, 1, START, None) for job in JOBS]
    arrivals = rng.sample(events, len(events)) + rng.choices(events, k=20)
    ledger = _started(engine, versions)
    with write(engine) as connection:
        ledger.take(connection, [], START)
    while arrivals:
        batch = [arrivals.pop() for _ in range(min(len(arrivals), rng.randint(1, 40)))]
        with write(engine) as connection:
            ledger.take(connection, batch, UNTIL)
        if rng.random() < 0.3:
            ledger = _started(engine, versions)
    with write(engine) as connection:
        ledger.take(connection, [], UNTIL)
    ledger.judge(UNTIL, everything=True)
    with read(engine) as connection:
        items = job_items(connection, {job.id: job for job in JOBS}, UNTIL)
    return {item["id"]: {name: item[name] for name in (*NUMBERS, *LENGTHS)} for item in items}


def _started(engine: Any, versions: Sequence[JobVersion]) -> Ledger:
    asked = iter([versions])
    return Ledger(engine, lambda: next(asked, None), Deaf(), lambda _run, _job: None)


@pytest.mark.parametrize("seed", range(6))
def test_the_ledger_reports_what_the_backtest_computes(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    events = history(rng)
    replay = Replay(JOBS, (), Span(since=START, until=UNTIL, step=timedelta(minutes=1)))
    replay.run(events)
    found = live(tmp_path, events, rng)
    report = replay.report([])["jobs"]
    # Shut: seven slots before one o'clock, and three itself. A holiday: four slots past two, which no quarter shares.
    assert report["office"]["slots"]["skipped"] == {"holiday": 4, "window": 8}
    for name, expected in report.items():
        assert found[name] == {key: expected[key] for key in (*NUMBERS, *LENGTHS)}
