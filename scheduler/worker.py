"""A worker: claims runs, has them carried out, keeps their leases, writes their ends, and drains when told to stop.

One thread a run; one for heartbeats, so that no slow claim costs a lease. It decides nothing about retries or overlap.
"""

import argparse
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType

import structlog
from sqlalchemy.exc import OperationalError

from scheduler import clock
from scheduler.database import open_sqlite
from scheduler.endings import Result, finish, release, sweep
from scheduler.executors.command import Place, Stop
from scheduler.executors.dispatch import execute
from scheduler.executors.reports import Report
from scheduler.executors.warden import Guard
from scheduler.leases import HEARTBEAT, LEASE, check_heartbeat, read_moment
from scheduler.orphans import end_attempt, end_orphans
from scheduler.processes import incarnation
from scheduler.queue import Claimed, claim, next_available, report, told_to_stop
from scheduler.queue import heartbeat as renew
from scheduler.registry import JobReader
from scheduler.tables import create_tables

POLL_SECONDS = 0.5
GRACE = timedelta(seconds=20)
WRITE_TRIES = 5
"""How often the end of an attempt is written again when the database is busy; after that the lease decides."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a worker works. `grace` is how long a drain waits for runs before it interrupts them."""

    slots: int = 4
    lease: timedelta = LEASE
    heartbeat: timedelta = HEARTBEAT
    grace: timedelta = GRACE
    poll: float = POLL_SECONDS

    def __post_init__(self) -> None:
        check_heartbeat(self.lease, self.heartbeat)
        if self.slots < 1:
            raise ValueError(f"a worker needs at least one slot, got {self.slots}")


@dataclass(slots=True)
class _Held:
    """A run in hand; `lease_until` (boot microseconds) moves on with each heartbeat that reached the database."""

    claimed: Claimed
    lease_until: int
    stop: Stop = field(default_factory=Stop)


def run_worker(
    queue_path: Path | str,
    worker_id: str,
    slots: int,
    stop: threading.Event,
    at_once: threading.Event | None = None,
    *,
    lease: timedelta = LEASE,
    heartbeat: timedelta = HEARTBEAT,
    grace: timedelta = GRACE,
) -> None:
    """Work until `stop` is set, then drain: wait for `grace`, interrupt the rest, and give it back.

    `at_once` cuts the drain short. Returns when nothing is in hand any more.
    """
    settings = Settings(slots=slots, lease=lease, heartbeat=heartbeat, grace=grace)
    Worker(queue_path, worker_id, settings, stop, at_once or threading.Event()).run()


class Worker:
    """The state of one worker process."""

    def __init__(
        self,
        queue_path: Path | str,
        worker_id: str,
        settings: Settings,
        stop: threading.Event,
        at_once: threading.Event,
    ) -> None:
        store = str(Path(queue_path).absolute())
        self._engine = open_sqlite(store)
        create_tables(self._engine)
        self._jobs = JobReader()
        self._id, self._settings = worker_id, settings
        self._stop, self._at_once = stop, at_once
        self._place = Place(store, incarnation(), Guard())
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._said: SimpleQueue[tuple[Claimed, datetime, Report]] = SimpleQueue()
        self._done = threading.Event()

    def run(self) -> None:
        """Claim and run until told to stop, then drain."""
        beats = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        beats.start()
        try:
            end_orphans(self._engine, self._place.store)
            while not self._stop.is_set():
                self._wake.clear()
                self._guarded(self._make_way)
                self._guarded(self._claim)
                self._flush_reports()
                self._wake.wait(self._nap())
        finally:
            self._drain()
            self._done.set()
            beats.join()
            self._place.guard.close()
            self._engine.dispose()

    def _claim(self) -> None:
        free = self._settings.slots - len(self._in_hand())
        moment, lease = read_moment(), self._settings.lease
        made = claim(self._engine, self._jobs, moment, self._id, free, lease=lease, incarnation=self._place.incarnation)
        for claimed in made:
            held = _Held(claimed, moment.lease_end(lease))
            with self._lock:
                self._held[claimed.run_id] = held
            threading.Thread(target=self._carry_out, args=(held,), name=claimed.run_id).start()

    def _make_way(self) -> None:
        """Stop what a newer run replaces; that one starts only when this worker has written the end."""
        held = self._in_hand()
        told = told_to_stop(self._engine, [one.claimed for one in held]) if held else set()
        for one in held:
            if one.claimed.run_id in told:
                one.stop.replaced.set()

    def _nap(self) -> float:
        """Seconds until the next look: when a run is due, but no later than the poll."""
        poll = self._settings.poll
        if len(self._in_hand()) >= self._settings.slots:
            return poll
        due = next_available(self._engine)
        wait = poll if due is None else (due - clock.now()).total_seconds()
        # What is due already and was not taken waits for another run: looking again at once would be a busy loop.
        return min(poll, wait) if wait > 0 else poll / 5

    def _carry_out(self, held: _Held) -> None:
        claimed = held.claimed
        try:
            result = execute(claimed, self._place, held.stop, lambda said: self._said.put((claimed, clock.now(), said)))
            self._flush_reports()
            self._write_end(held, result)
        finally:
            with self._lock:
                self._held.pop(claimed.run_id, None)
            self._wake.set()

    def _write_end(self, held: _Held, result: Result) -> None:
        claimed = held.claimed
        interrupted = result.problem is not None and result.problem.kind == "interrupted"
        interrupted &= not held.stop.replaced.is_set()
        for number in range(WRITE_TRIES):
            try:
                if interrupted:
                    stands = release(self._engine, read_moment(), claimed, result.seconds)
                else:
                    stands = finish(self._engine, read_moment(), claimed, result)
            except OperationalError as error:
                log.warning("end_not_written", run=claimed.run_id, attempt=number + 1, error=str(error))
                clock.pause(1.0)
                continue
            if not stands:
                log.warning("fence_stale", run=claimed.run_id, fence=claimed.fence)
            return

    def _flush_reports(self) -> None:
        """Write what attempts said about themselves; not where it is read, or a busy database would block the job."""
        with suppress(Empty):
            while True:
                claimed, at, (kind, data) = self._said.get_nowait()
                self._guarded(partial(report, self._engine, claimed, at, kind, data))

    def _beat(self) -> None:
        while not self._done.wait(self._settings.heartbeat.total_seconds()):
            self._guarded(self._renew)
            self._guarded(self._sweep)

    def _renew(self) -> None:
        held = self._in_hand()
        moment = read_moment()
        for one in held:
            if moment.boot > one.lease_until:
                one.stop.hard.set()
        if not held:
            return
        lost = renew(self._engine, moment, [one.claimed for one in held], lease=self._settings.lease)
        for one in held:
            if one.claimed.run_id in lost:
                one.stop.hard.set()
            else:
                one.lease_until = moment.lease_end(self._settings.lease)

    def _sweep(self) -> None:
        store = self._place.store
        for run_id in sweep(self._engine, self._jobs, read_moment(), lambda run, fence: end_attempt(store, run, fence)):
            log.warning("run_lost", run=run_id)

    def _drain(self) -> None:
        self._until_empty(self._settings.grace.total_seconds())
        for one in self._in_hand():
            one.stop.soft.set()
        self._until_empty(None)

    def _until_empty(self, seconds: float | None) -> None:
        until = None if seconds is None else clock.monotonic() + seconds
        while self._in_hand() and (until is None or clock.monotonic() < until):
            if self._at_once.is_set():
                until = None
                for one in self._in_hand():
                    one.stop.hard.set()
            self._guarded(self._make_way)
            self._wake.wait(0.1)
            self._wake.clear()

    def _in_hand(self) -> list[_Held]:
        with self._lock:
            return list(self._held.values())

    def _guarded(self, act: Callable[[], object]) -> None:
        """A database that is busy or full must not end the worker: say so, and look again at the next turn."""
        try:
            act()
        except OperationalError as error:
            log.warning("database_unavailable", error=str(error))


def main(arguments: list[str] | None = None) -> int:
    """`python -m scheduler.worker --queue var/queue.db --id w1`: SIGTERM drains, a second one ends it now."""
    parser = argparse.ArgumentParser(prog="scheduler.worker", description="Run what is due in a queue database.")
    parser.add_argument("--queue", type=Path, required=True, help="the queue database file")
    parser.add_argument("--id", required=True, help="this worker's name, unique among workers")
    parser.add_argument("--slots", type=int, default=4, help="runs at a time (default 4)")
    for name, default in (("lease", 60.0), ("heartbeat", 20.0), ("grace", 20.0)):
        parser.add_argument(f"--{name}", type=float, default=default, help=f"seconds (default {default:g})")
    given = parser.parse_args(arguments)
    seconds = {name: timedelta(seconds=getattr(given, name)) for name in ("lease", "heartbeat", "grace")}
    stop, at_once = threading.Event(), threading.Event()
    on_signals(stop, at_once)
    run_worker(given.queue, given.id, given.slots, stop, at_once, **seconds)
    return 0


def on_signals(stop: threading.Event, at_once: threading.Event) -> None:
    """SIGTERM and SIGINT set `stop`, and `at_once` when they come again. Only for the main thread."""

    def told(_number: int, _frame: FrameType | None) -> None:
        (at_once if stop.is_set() else stop).set()

    signal.signal(signal.SIGTERM, told)
    signal.signal(signal.SIGINT, told)


if __name__ == "__main__":
    raise SystemExit(main())
