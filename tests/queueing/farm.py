"""What queue tests are made of: jobs, moments, a queue database with jobs applied, and what was said about its runs."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Engine, select

from scheduler import clock
from scheduler.database import open_sqlite, read
from scheduler.jobs import Command, Job, Schedule
from scheduler.leases import Moment
from scheduler.queue import Claimed, claim
from scheduler.registry import JobReader, apply_definitions
from scheduler.tables import create_tables, outbox, runs

ROOT = Path(__file__).parents[2]
START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
DEADLINE_SECONDS = 30.0


def at(seconds: float, boot_id: str = "this-boot") -> Moment:
    """The moment so many seconds after START; both clocks run together."""
    return Moment(START + timedelta(seconds=seconds), round((1000 + seconds) * 1_000_000), boot_id)


def minutely(**changes: Any) -> Job:
    """A job that is due every minute."""
    return job(**{"schedule": Schedule(timezone="UTC", cron="* * * * *")} | changes)


def job(*argv: str, **changes: Any) -> Job:
    """A job by hand that runs `argv` (default `true`)."""
    given: dict[str, Any] = {"id": "tidy", "run": Command(argv=argv or ("true",), grace=timedelta(seconds=1))} | changes
    return Job(**given)


def new_queue(folder: Path, *jobs: Job, now: datetime = START) -> Engine:
    """A queue database in `folder` with these definitions applied."""
    engine = open_sqlite(folder / "queue.db", durable=False)
    create_tables(engine)
    apply_definitions(engine, jobs, now)
    return engine


def take(engine: Engine, moment: Moment, limit: int = 10, worker: str = "w1", lease: float = 60) -> list[Claimed]:
    """Claim, as a worker does."""
    return claim(engine, JobReader(), moment, worker, limit, lease=timedelta(seconds=lease))


def take_one(engine: Engine, moment: Moment, worker: str = "w1", lease: float = 60) -> Claimed:
    """Claim the only run there is."""
    (claimed,) = take(engine, moment, worker=worker, lease=lease)
    return claimed


def row(engine: Engine, run_id: str) -> dict[Any, Any]:
    """A run as the database has it."""
    with read(engine) as connection:
        return dict(connection.execute(select(runs).where(runs.c.run_id == run_id)).mappings().one())


def states(engine: Engine) -> dict[str, str]:
    """Every run's state."""
    with read(engine) as connection:
        return {one.run_id: one.state for one in connection.execute(select(runs))}


def said(engine: Engine, *kinds: str) -> list[dict[str, Any]]:
    """The run events in the outbox, of these kinds or all, in the order they were written."""
    with read(engine) as connection:
        bodies = connection.execute(select(outbox.c.body).order_by(outbox.c.seq)).scalars()
        events = [msgspec.json.decode(body) for body in bodies]
    return [event for event in events if not kinds or event["type"] in kinds]


def until(condition: Callable[[], Any]) -> Any:
    """Wait for something that another process does; fails after a generous deadline."""
    deadline = clock.monotonic() + DEADLINE_SECONDS
    while clock.monotonic() < deadline:
        value = condition()
        if value:
            return value
        clock.pause(0.05)
    raise AssertionError("what was waited for did not come")


def start_worker(folder: Path, name: str, **seconds: float) -> subprocess.Popen[bytes]:
    """A real worker process on the folder's queue."""
    options = [f"--{key}={value}" for key, value in seconds.items()]
    command = [sys.executable, "-m", "scheduler.worker", "--queue", str(folder / "queue.db"), "--id", name]
    return subprocess.Popen([*command, *options], cwd=ROOT)
