"""Runs that die in the queue of a real ledger process, and whose events reach the ledger as a forwarder sends them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any

import httpx
from ledger.serving import PATIENCE, Service
from queueing.farm import at, take_one
from sqlalchemy import Engine

from scheduler import clock
from scheduler.database import open_sqlite
from scheduler.endings import Problem, Result, finish
from scheduler.leases import Moment
from scheduler.outbox import Forwarder
from scheduler.queue import trigger_run

DEADLY = """
defaults: {timezone: UTC}
jobs:
  - {id: tidy, run: {command: ["tidy", "--all", "a b"], env: {KEY: secret}}, valid_from: 2026-01-01T00:00:00Z}
  - id: twice
    run: {command: "exit 3", shell: true}
    queue: night
    retry: {attempts: 2}
    valid_from: 2026-01-01T00:00:00Z
  - {id: asks, run: {http: {url: "https://a.example/b?key=secret", method: PUT}}, valid_from: 2026-01-01T00:00:00Z}
  - {id: c30, run: {command: ["true"]}, queue: c30, valid_from: 2026-01-01T00:00:00Z}
"""


@dataclass
class Morgue:
    """The service with its queue, opened beside it as a scheduler on the same host does."""

    service: Service
    engine: Engine
    forwarder: Forwarder

    def begin(self, job: str, key: str, seconds: float) -> str:
        """A run of the job in the queue, so many seconds after the farm's START; its id."""
        return trigger_run(self.engine, job, key, at(seconds).now)

    def attempt(self, moment: Moment, problem: Problem | None, output: str = "") -> None:
        """The only run that is due is tried, and ends at once; every back-off is 0."""
        assert finish(self.engine, moment, take_one(self.engine, moment), Result(problem, 1.5, output), 0.0)
        self.report()

    def die(self, job: str, key: str, seconds: float, message: str = "exit 1", output: str = "oh\n") -> str:
        """A run whose first attempt fails for good."""
        run = self.begin(job, key, seconds)
        self.attempt(at(seconds), Problem("permanent", message, 1), output)
        return run

    def report(self) -> None:
        """Everything in the outbox goes to the ledger."""
        self.forwarder.step(clock.now())

    def ask(self, method: str, path: str, body: Any = None, caller: str = "admin") -> httpx.Response:
        url, headers = f"{self.service.url}/api/v1/{path}", self.service.headers(caller)
        return httpx.request(method, url, json=body, headers=headers, timeout=PATIENCE)

    def lying(self, **filters: str) -> list[str]:
        """The ids of the dead letters, as the API lists them."""
        return [item["id"] for item in self.service.get("/api/v1/dead", **filters)["items"]]


@contextmanager
def morgue_of(service: Service) -> Iterator[Morgue]:
    engine = open_sqlite(service.var / "queue.db", durable=False)

    def deliver(events: Sequence[dict[str, Any]]) -> dict[int, str]:
        assert service.post(list(events)).status_code == 202
        return {}

    try:
        yield Morgue(service, engine, Forwarder(engine, deliver, service.var / "test.lock", Event()))
    finally:
        engine.dispose()
