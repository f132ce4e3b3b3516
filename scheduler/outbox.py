"""How run events leave the queue: read in the order they were written, handed over, removed when acknowledged.

At least once: an event is removed only after the collector's answer, and its id makes a second delivery harmless.
One forwarder a host works at a time, by a lock on a file beside the queue database; others stand by.
"""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import structlog
from sqlalchemy import Engine, delete, func, insert, select
from sqlalchemy.exc import OperationalError

from scheduler import clock
from scheduler.database import read, write
from scheduler.instants import format_instant, to_micros
from scheduler.tables import outbox, outbox_rejected

BATCH = 500
LOOK_SECONDS = 0.2
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 15.0
log = structlog.get_logger(__name__)

Deliver = Callable[[Sequence[dict[str, Any]]], Mapping[int, str]]
"""Hands a batch over and answers the refused ones, index to reason. Raises DeliveryError when nothing was taken."""


class DeliveryError(Exception):
    """A batch was not taken; `retry_after` (seconds) is the other side's wish, if it had one."""

    def __init__(self, message: str, retry_after: float | None = None, *, too_large: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.too_large = too_large


class Forwarder:
    """Delivers the outbox of one queue database."""

    def __init__(self, engine: Engine, deliver: Deliver, lock_path: Path | str, wake: threading.Event) -> None:
        self._engine, self._deliver = engine, deliver
        self._lock_path, self._wake = Path(lock_path), wake
        self._batch = BATCH
        self._failures = 0

    def run(self, stop: threading.Event) -> None:
        """Forward until `stop` is set, then hand over what is there in one last try. Set `wake` to be looked at now."""
        while not stop.is_set():
            with _only_one(self._lock_path) as mine:
                while mine and not stop.is_set():
                    self._wait(stop, self.step(clock.now()))
                if mine:
                    self.step(clock.now())
            if not mine:
                stop.wait(1.0)

    def step(self, now: datetime) -> float:
        """Hand one batch over; answers the seconds to wait before the next (0 when more is waiting)."""
        try:
            batch = self._read()
            if not batch:
                return LOOK_SECONDS
            sent_at = format_instant(now)
            refused = self._deliver([msgspec.json.decode(body) | {"sent_at": sent_at} for _, body in batch])
            self._settle(batch, refused, now)
            if refused:
                log.error("events_refused", count=len(refused), first=next(iter(refused.values()))[:300])
        except DeliveryError as error:
            return self._failed(error)
        except OperationalError as error:
            log.warning("outbox_unavailable", error=str(error))
            return 1.0
        self._failures, self._batch = 0, BATCH
        return 0.0 if len(batch) == BATCH else LOOK_SECONDS

    def _read(self) -> list[tuple[int, str]]:
        query = select(outbox.c.seq, outbox.c.body).order_by(outbox.c.seq).limit(self._batch)
        with read(self._engine) as connection:
            return [(row.seq, row.body) for row in connection.execute(query)]

    def _settle(self, batch: list[tuple[int, str]], refused: Mapping[int, str], now: datetime) -> None:
        with write(self._engine) as connection:
            for index, reason in refused.items():
                if 0 <= index < len(batch):
                    seq, body = batch[index]
                    kept = {"seq": seq, "body": body, "reason": reason[:500], "rejected_at": to_micros(now)}
                    connection.execute(insert(outbox_rejected), kept)
            # By number, not by range: a writer that began earlier may commit a smaller number later elsewhere.
            connection.execute(delete(outbox).where(outbox.c.seq.in_([seq for seq, _ in batch])))

    def _failed(self, error: DeliveryError) -> float:
        if error.too_large and self._batch > 1:
            self._batch = max(1, self._batch // 2)
            return 0.0
        self._failures += 1
        wait = error.retry_after or FIRST_WAIT_SECONDS * 2 ** min(self._failures - 1, 10)
        if self._failures in (1, 10) or self._failures % 100 == 0:
            log.warning("delivery_failed", error=str(error), failures=self._failures)
        return min(wait, LONGEST_WAIT_SECONDS)

    def _wait(self, stop: threading.Event, seconds: float) -> None:
        # A failing collector is not woken up by new events: only its own wait, or the stop, ends a back-off.
        waited_for = stop if self._failures else self._wake
        if seconds:
            waited_for.wait(seconds)
        self._wake.clear()


def outbox_depth(engine: Engine) -> int:
    """How many run events wait to be acknowledged."""
    with read(engine) as connection:
        return connection.execute(select(func.count()).select_from(outbox)).scalar_one()


def http_deliver(url: str, token: str, timeout: float = 10.0) -> Deliver:
    """Delivery over HTTP to `{url}/api/v1/events`; the connection is kept. Answers 202 and 422 settle a batch."""
    import httpx  # only the process that forwards pays for this import

    client = httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=timeout, trust_env=False)
    target = f"{url.rstrip('/')}/api/v1/events"

    def deliver(events: Sequence[dict[str, Any]]) -> Mapping[int, str]:
        headers = {"Content-Type": "application/json"}
        try:
            answer = client.post(target, content=msgspec.json.encode(list(events)), headers=headers)
        except httpx.HTTPError as error:
            raise DeliveryError(f"{target}: {type(error).__name__} {error}") from error
        if answer.status_code not in (202, 422):
            too_large = answer.status_code == 413 and len(events) > 1
            raise DeliveryError(
                f"{target} answered {answer.status_code}", _retry_after(answer.headers), too_large=too_large
            )
        return _refused(answer.content)

    return deliver


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "")
    return float(value) if value.isdecimal() else None


def _refused(content: bytes) -> dict[int, str]:
    try:
        refused = msgspec.json.decode(content)["rejected"]
        return {int(one["index"]): f"{one.get('field')}: {one.get('error')}" for one in refused}
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DeliveryError(f"the collector's answer is not understood: {content[:200]!r}") from error


@contextmanager
def _only_one(path: Path) -> Iterator[bool]:
    """Hold the lock file; yields False when another process holds it. The kernel frees it when its holder dies."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
