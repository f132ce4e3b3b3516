"""SIGKILL at random moments, to each process and to all of them together: what was promised still holds after."""

import random
from collections import Counter
from collections.abc import Callable
from threading import Event, Thread
from uuid import uuid4

import httpx
import pytest
from acceptance.product import Product, kill, wait_for

from scheduler import clock

FILES = """
jobs:
  - id: quick
    schedule: {every: 1s, timezone: UTC}
    on_time: {start_within: 30s}
    run: {command: "sleep 0.1", shell: true, timeout: 10s, grace: 1s}
    retry: {attempts: 5, initial: 100ms, max: 1s}
  - id: slow
    schedule: {every: 3s, timezone: UTC}
    on_time: {start_within: 30s}
    overlap: allow
    run: {command: "sleep 4 & sleep 4; wait", shell: true, timeout: 20s, grace: 1s}
    retry: {attempts: 5, initial: 100ms, max: 1s}
  - {id: outside, schedule: {every: 1h, timezone: UTC}}
"""
PARTS = ("ledger", "scheduler", "worker", "")


class Reporter:
    """Sends events of a job that runs elsewhere, all the time, and remembers which were acknowledged."""

    def __init__(self, product: Product) -> None:
        self.acknowledged: set[str] = set()
        self._product = product
        self._stop = Event()
        self._thread = Thread(target=self._report, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _report(self) -> None:
        token = (self._product.var / "tokens" / "ingest").read_text().strip()
        while not self._stop.wait(0.02):
            name = str(uuid4())
            event = {"id": name, "source": "outside", "type": "heartbeat", "job": "outside", "run": name}
            body = {**event, "at": clock.now().isoformat()}
            try:
                answer = httpx.post(
                    f"{self._product.url}/api/v1/events",
                    json=body,
                    headers={"Authorization": f"Bearer {token}"},
                    timeout=5,
                )
            except httpx.HTTPError:
                continue
            if answer.status_code == 202:
                self.acknowledged.add(name)


@pytest.mark.parametrize("rounds", [20, pytest.param(400, marks=pytest.mark.soak)])
def test_kills_at_random_moments_lose_nothing_and_run_nothing_twice(
    make_product: Callable[[str], Product], rounds: int
) -> None:
    rng = random.Random()
    product = make_product(FILES)
    product.up()
    wait_for("the first good run", lambda: product.job("quick")["runs"]["succeeded"] >= 1)
    reporter = Reporter(product)
    for round_number in range(rounds):
        clock.pause(rng.uniform(0.3, 1.5))
        part = PARTS[round_number % len(PARTS)]
        if part:
            for pid in product.pids(part):
                kill(pid)
        else:
            _kill_everything_and_start_again(product)
    reporter.stop()
    product.wait_until_ready()
    good = product.job("quick")["runs"]["succeeded"]
    wait_for("work to go on", lambda: product.job("quick")["runs"]["succeeded"] >= good + 2)
    _assert_slots_add_up(product)
    product.stop()
    assert product.children() == []
    twice = {run: n for run, n in Counter(e["run"] for e in product.journal("succeeded")).items() if n > 1}
    assert twice == {}
    journaled = Counter(event["id"] for event in product.journal("heartbeat") if event["source"] == "outside")
    assert reporter.acknowledged
    assert reporter.acknowledged <= journaled.keys()
    assert set(journaled.values()) == {1}


def test_no_child_of_a_killed_worker_runs_on(make_product: Callable[[str], Product]) -> None:
    product = make_product(FILES)
    product.up(workers=1)
    children = wait_for("children of the slow job", lambda: len(product.children()) >= 3 and product.children())
    for pid in product.pids("worker"):
        kill(pid)
    wait_for("the killed worker's children to be gone", lambda: not set(children) & set(product.children()))


def _kill_everything_and_start_again(product: Product) -> None:
    supervisor = product.started.pop()
    for pid in [supervisor.pid, *product.pids()]:
        kill(pid)
    supervisor.wait()
    before = set(product.children())
    product.up()
    wait_for("the children of killed workers to be gone", lambda: not before & set(product.children()))


def _assert_slots_add_up(product: Product) -> None:
    for item in product.get("/api/v1/jobs")["items"]:
        slots = item["slots"]
        parts = sum(slots[kind] for kind in ("on_time", "late", "missed", "unknown", "pending"))
        assert parts + sum(slots["skipped"].values()) == slots["expected"], item["id"]
