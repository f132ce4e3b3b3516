"""The one thread that writes the ledger: everything that waits shares one commit, and only then is answered (I2).

It decides nothing: what a commit holds is the keeper's (`store.Ledger`). Once a second it also gives time its turn,
since a slot becomes missed without anybody's word.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from threading import Condition, Thread
from typing import Protocol

import structlog
from sqlalchemy import Connection, Engine

from scheduler.clock import monotonic, now
from scheduler.database import write
from scheduler.events import RunEvent

MAX_WAITING_EVENTS = 100_000
MAX_WAITING_REQUESTS = 10_000
MAX_EVENTS_A_COMMIT = 10_000
TICK_SECONDS = 1.0

log = structlog.get_logger("ledger.writer")


class BusyError(Exception):
    """The queue before the writer is full: nothing was taken, ask again later."""


class DrainingError(Exception):
    """The process is going down: nothing was taken."""


class Keeper(Protocol):
    """What the writer writes. `take` is inside the writer's transaction; `abandoned` says that a call's was undone."""

    def take(self, connection: Connection, events: Sequence[RunEvent], at: datetime) -> Sequence[bool]:
        """Write events; answers per event whether it was new."""

    def judge(self, at: datetime, *, everything: bool) -> None:
        """Judge what the last commits touched, or everything, in transactions of its own."""

    def abandoned(self) -> None:
        """A transaction was undone."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a request's acceptable events once they were durable."""

    accepted: int
    duplicate: int


@dataclass(frozen=True, slots=True)
class _Waiting:
    events: Sequence[RunEvent]
    answer: "Future[Receipt]"


class Writer:
    """Starts with `start`, takes by `submit` from any thread, ends with `stop` once all it took is durable."""

    def __init__(self, engine: Engine, keeper: Keeper, clock: Callable[[], datetime] = now) -> None:
        self._engine = engine
        self._keeper = keeper
        self._clock = clock
        self._waiting: deque[_Waiting] = deque()
        self._events_waiting = 0
        self._condition = Condition()
        self._draining = False
        self._next_tick = 0.0
        self._thread = Thread(target=self._run, name="ledger-writer", daemon=True)

    def start(self) -> None:
        """Begins to write; the first tick comes at once."""
        self._thread.start()

    def submit(self, events: Sequence[RunEvent]) -> "Future[Receipt]":
        """Queues a request. Raises BusyError past the bounds, and DrainingError once `stop` was called."""
        waiting = _Waiting(events, Future())
        with self._condition:
            if self._draining:
                raise DrainingError
            if self._is_full(len(events)):
                raise BusyError
            self._waiting.append(waiting)
            self._events_waiting += len(events)
            self._condition.notify()
        return waiting.answer

    def stop(self) -> None:
        """Takes no more, writes all that waits, and ends the thread."""
        with self._condition:
            self._draining = True
            self._condition.notify()
        self._thread.join()

    @property
    def alive(self) -> bool:
        """False once the thread ended: nothing can be taken any more."""
        return self._thread.is_alive() and not self._draining

    def _is_full(self, more: int) -> bool:
        # A single request over the bound is taken when nothing else waits: it could never get in otherwise.
        too_many = bool(self._waiting) and self._events_waiting + more > MAX_WAITING_EVENTS
        return too_many or len(self._waiting) >= MAX_WAITING_REQUESTS

    def _run(self) -> None:
        while True:
            group, draining = self._next_group()
            if draining and not group:
                return
            if group:
                self._commit(group)
            self._judge()

    def _next_group(self) -> tuple[list[_Waiting], bool]:
        with self._condition:
            self._condition.wait_for(lambda: self._waiting or self._draining, max(0.0, self._next_tick - monotonic()))
            group: list[_Waiting] = []
            size = 0
            while self._waiting and (not group or size + len(self._waiting[0].events) <= MAX_EVENTS_A_COMMIT):
                group.append(self._waiting.popleft())
                size += len(group[-1].events)
            self._events_waiting -= size
            # From here on a sender that hangs up can't cancel: its events are written, only nobody is told.
            return [waiting for waiting in group if waiting.answer.set_running_or_notify_cancel()], self._draining

    def _commit(self, group: list[_Waiting]) -> None:
        try:
            receipts = self._written(group)
        except Exception as error:
            log.exception("commit failed", requests=len(group))
            self._keeper.abandoned()
            for waiting in group:
                waiting.answer.set_exception(error)
            return
        for waiting, receipt in zip(group, receipts, strict=True):
            waiting.answer.set_result(receipt)

    def _written(self, group: list[_Waiting]) -> list[Receipt]:
        events = [event for waiting in group for event in waiting.events]
        if not events:
            return [Receipt(0, 0) for _ in group]
        with write(self._engine) as connection:
            fresh = self._keeper.take(connection, events, self._clock())
        return _receipts(group, fresh)

    def _judge(self) -> None:
        """What follows from the commit and from time, after its senders were answered: an error here sinks no event."""
        due = monotonic() >= self._next_tick
        if due:
            self._next_tick = monotonic() + TICK_SECONDS
        try:
            self._keeper.judge(self._clock(), everything=due)
        except Exception:
            log.exception("judging failed")
            self._keeper.abandoned()


def _receipts(group: list[_Waiting], fresh: Sequence[bool]) -> list[Receipt]:
    receipts, start = [], 0
    for waiting in group:
        size = len(waiting.events)
        new = sum(fresh[start : start + size])
        receipts.append(Receipt(new, size - new))
        start += size
    return receipts
