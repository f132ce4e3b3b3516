"""Reports that wait on this host until the collector has acknowledged them: one small file each, bounded, in order.

Used by `tepat exec` from any number of processes at once. It decides nothing about jobs, and never raises for a
collector that is down: it says how many reports wait.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from scheduler.instants import format_instant

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing would cost each run of a job as much as parsing its arguments
    from typing import Any

MAX_BYTES = 16 * 1024 * 1024
FILE_COST = 4096  # a file occupies at least one block, whatever its length
BATCH = 200  # 200 reports of at most 16 KiB stay below the collector's body limit of 4 MiB
SUFFIX = ".json"


class SpoolFullError(Exception):
    """The bound of 16 MiB is reached: the report is refused, and the caller says so."""


class Answer:
    """What the collector said: its HTTP status, 0 when nobody answered; `problem` is why, in words."""

    __slots__ = ("problem", "refused", "status")

    def __init__(self, status: int, problem: str = "", refused: frozenset[int] = frozenset()) -> None:
        self.status, self.problem, self.refused = status, problem, refused


class Delivery:
    """What became of the waiting reports; `problem` is empty when the collector took or refused each of them."""

    __slots__ = ("problem", "refused", "sent")

    def __init__(self, sent: int = 0, refused: int = 0, problem: str = "") -> None:
        self.sent, self.refused, self.problem = sent, refused, problem


Send = Callable[[bytes], Answer]


def ensure(folder: str) -> None:
    """Make the folder, for its owner only: reports hold the output of jobs."""
    os.makedirs(folder, mode=0o700, exist_ok=True)


def size(folder: str) -> int:
    """Bytes the waiting reports occupy, each file rounded up to a block; 0 when there is no folder."""
    try:
        with os.scandir(folder) as entries:
            return sum(_cost(entry) for entry in entries if not entry.name.startswith("."))
    except FileNotFoundError:
        return 0


def _cost(entry: os.DirEntry[str]) -> int:
    try:
        return max(FILE_COST, entry.stat().st_size)
    except FileNotFoundError:  # somebody sent it meanwhile
        return 0


def waiting(folder: str) -> list[str]:
    """Names of the waiting reports, oldest first (their ids are ordered by time)."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX) and not name.startswith("."))
    except OSError:  # no such folder, or none that this user may look into
        return []


def add(folder: str, event: dict[str, Any], *, bound: int = MAX_BYTES) -> str:
    """Keep one report until it is acknowledged, and return its name. Raises SpoolFullError, or OSError if it can't.

    It outlives this process; `harden` makes it outlive the host.
    """
    ensure(folder)
    body = json.dumps(event).encode()
    if size(folder) + max(FILE_COST, len(body)) > bound:
        raise SpoolFullError(f"the spool {folder} is full ({bound} bytes)")
    name = f"{event['id']}{SUFFIX}"
    hidden = os.path.join(folder, f".{name}")
    with open(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(body)
    os.rename(hidden, os.path.join(folder, name))
    return name


def harden(folder: str, names: Iterable[str]) -> None:
    """Put reports that still wait onto the disk. Those that were sent at once never pay for that. Raises OSError."""
    for name in names:
        with suppress(FileNotFoundError), open(os.path.join(folder, name), "rb") as file:
            os.fsync(file.fileno())


def deliver(folder: str, send: Send, now: Callable[[], Any], first: Iterable[str] = ()) -> Delivery:
    """Send the reports named in `first`, then whatever else waits, unless another process is at that already.

    Stops at the first batch that is not acknowledged. `now` gives the instant that the ledger is told as `sent_at`.
    """
    own = list(first)
    total = _send_all(folder, own, send, now)
    if not total.problem:
        with _backlog(folder) as free:
            if free:
                rest = _send_all(folder, [name for name in waiting(folder) if name not in own], send, now)
                total = Delivery(total.sent + rest.sent, total.refused + rest.refused, rest.problem)
    return total


def _send_all(folder: str, names: list[str], send: Send, now: Callable[[], Any]) -> Delivery:
    sent = refused = 0
    for start in range(0, len(names), BATCH):
        loaded = {name: _load(os.path.join(folder, name)) for name in names[start : start + BATCH]}
        batch = {name: event for name, event in loaded.items() if event is not None}
        if not batch:
            continue
        stamp = format_instant(now())
        answer = send(json.dumps([{**event, "sent_at": stamp} for event in batch.values()]).encode())
        if answer.status not in (202, 422):
            return Delivery(sent, refused, answer.problem or f"the collector answered {answer.status}")
        for index, name in enumerate(batch):
            _settle(os.path.join(folder, name), index in answer.refused)
        sent += len(batch) - len(answer.refused)
        refused += len(answer.refused)
    return Delivery(sent, refused)


def _load(path: str) -> dict[str, Any] | None:
    """One report, or None when it has gone or can't be read; such a file is set aside as `.bad`, not sent again."""
    try:
        with open(path, "rb") as file:
            event = json.loads(file.read())
    except FileNotFoundError:
        return None
    except ValueError:
        _settle(path, bad=True)
        return None
    return event if isinstance(event, dict) else None


def _settle(path: str, bad: bool) -> None:
    """Acknowledged reports go; those that the collector will never take stay as `.bad`, for a person to look at."""
    try:
        if bad:
            os.rename(path, path.removesuffix(SUFFIX) + ".bad")
        else:
            os.unlink(path)
    except FileNotFoundError:
        pass


@contextmanager
def _backlog(folder: str) -> Iterator[bool]:
    """Whether this process is the one that sends the backlog: hundreds that wake together must not all send it."""
    try:
        lock = os.open(os.path.join(folder, ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(lock)
