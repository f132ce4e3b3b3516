"""Delivery: takes what is owed out of the outbox and tells the channels, at least once each.

`enqueue` runs in the transaction that records the episode; `Deliverer` does the rest. It decides nothing about
episodes, and reports its own failures in the log and in rows, never through the channels that fail.
"""

import random
import threading
import uuid
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

import httpx
import structlog
from sqlalchemy import Engine

from scheduler import clock
from scheduler.database import read, write
from slo.channels.addresses import make_client, parse_networks
from slo.channels.post import Answer, fingerprint, tell
from slo.channels.settings import Channel
from slo.delivery_policy import Decision, after_answer
from slo.outbox_receipts import ChannelState, Receipt, channel_states, owed, receipts, told, totals
from slo.outbox_rows import (
    Claim,
    claim,
    disable_channel,
    enable_channel,
    enqueue,
    expire,
    has_due,
    hold_channel,
    may_send,
    prune,
    replay,
    settle,
)
from slo.outbox_tables import create_tables

__all__ = [
    "ChannelState",
    "Deliverer",
    "Receipt",
    "channel_states",
    "create_tables",
    "enable_channel",
    "enqueue",
    "owed",
    "prune",
    "receipts",
    "replay",
    "told",
    "totals",
]

LOOK_AGAIN = 1.0  # seconds: the fallback when nobody wakes the threads, since other processes enqueue too
STOP_WITHIN = 15.0  # seconds that `stop` waits for a try that is under way
MESSAGES_A_PASS = 200  # of one channel in `run_once`, so that a pass ends

Boot = Callable[[], tuple[str, int]]


def this_boot() -> tuple[str, int]:
    """The boot's id and its clock: what leases are measured by."""
    return clock.boot_id(), clock.boot_micros()


class Deliverer:
    """Delivers what is owed to the configured channels: one thread each, so that a slow one delays no other."""

    def __init__(
        self,
        engine: Engine,
        channels: Iterable[Channel],
        *,
        allow_networks: Iterable[str] = (),
        client: httpx.Client | None = None,
        boot: Boot = this_boot,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._engine = engine
        self._channels = {channel.name: channel for channel in channels}
        self._allowed = parse_networks(allow_networks)
        self._client = client or make_client(self._allowed)
        self._boot = boot
        self._jitter = jitter
        self._log = structlog.get_logger("tepat.delivery")
        self._stopping = threading.Event()
        self._wakes = {name: threading.Event() for name in self._channels}
        self._threads: list[threading.Thread] = []

    def run_once(self, now: datetime) -> int:
        """Send everything that is due at `now`, channel after channel; how many messages were tried."""
        self.sweep(now)
        tried = 0
        for channel in self._channels.values():
            for _ in range(MESSAGES_A_PASS):
                if not self._send_next(channel, now):
                    break
                tried += 1
        return tried

    def start(self) -> None:
        """Deliver in the background until `stop`."""
        self.sweep(clock.now())
        for channel in self._channels.values():
            thread = threading.Thread(target=self._loop, args=(channel,), name=f"deliver-{channel.name}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def wake(self) -> None:
        """Deliver at once: called after the commit that owed a notice."""
        for event in self._wakes.values():
            event.set()

    def stop(self) -> None:
        """End the threads and close the connections. A try still under way after STOP_WITHIN keeps its lease."""
        self._stopping.set()
        self.wake()
        for thread in self._threads:
            thread.join(STOP_WITHIN)
        self._client.close()

    def sweep(self, now: datetime) -> None:
        """Give up what is owed to channels that can't be tried (no longer configured, disabled) and is too old."""
        with read(self._engine) as connection:
            pending = {channel for channel, state in totals(connection) if state == "pending"}
            off = {state.name for state in channel_states(connection) if state.disabled_at is not None}
        stuck = {name for name in pending if name in off or name not in self._channels}
        if stuck:
            with write(self._engine) as connection:
                expire(connection, stuck, now, "gave_up: the channel is disabled or no longer configured")

    def _loop(self, channel: Channel) -> None:
        wake = self._wakes[channel.name]
        while not self._stopping.is_set():
            wake.clear()
            try:
                while not self._stopping.is_set() and self._send_next(channel, clock.now()):
                    pass
            except Exception as error:  # noqa: BLE001 - whatever it is, the thread must live
                # A locked or full database must not end the thread: what is owed stays owed, and is tried again.
                self._log.error("delivery_failed", channel=channel.name, error=f"{type(error).__name__}: {error}")
            wake.wait(LOOK_AGAIN)

    def _send_next(self, channel: Channel, now: datetime) -> bool:
        held = self._claim(channel, now)
        if held is None:
            return False
        answer = tell(channel, held.message, now, self._client, self._allowed)
        self._settle(channel, held, answer, now)
        return True

    def _claim(self, channel: Channel, now: datetime) -> Claim | None:
        # The look without the write lock comes first: an idle channel must cost the ledger's writers nothing.
        with read(self._engine) as connection:
            if not has_due(connection, channel.name, now):
                return None
            if not may_send(connection, channel.name, fingerprint(channel), now):
                return None
        with write(self._engine) as connection:
            return claim(connection, channel.name, now, self._boot(), uuid.uuid4().hex)

    def _settle(self, channel: Channel, held: Claim, answer: Answer, now: datetime) -> None:
        decision = self._decide(held, answer, now)
        with write(self._engine) as connection:
            mine = settle(connection, held, decision, answer.status, now)
            if mine and decision.hold and decision.next_try_at:
                hold_channel(connection, channel.name, decision.next_try_at, decision.reason)
            if mine and decision.disable:
                disable_channel(connection, channel.name, now, fingerprint(channel), decision.reason)
            if mine and decision.state == "delivered":
                enable_channel(connection, channel.name)
        self._report(channel, held, decision)

    def _decide(self, held: Claim, answer: Answer, now: datetime) -> Decision:
        if answer.refused:
            return Decision(state="refused", reason=answer.error)
        decision = after_answer(answer.status, answer.retry_after, held.attempts, now, self._jitter(), since=held.since)
        return replace(decision, reason=f"{decision.reason}: {answer.error}") if answer.error else decision

    def _report(self, channel: Channel, held: Claim, decision: Decision) -> None:
        say = self._log.info if decision.state == "delivered" else self._log.warning
        if decision.disable or decision.state in ("dead", "refused"):
            say = self._log.error
        say(
            "channel_disabled" if decision.disable else "notice_" + decision.state,
            channel=channel.name,
            message=held.message.id,
            notices=len(held.message.notices),
            attempt=held.attempts,
            reason=decision.reason,
        )
