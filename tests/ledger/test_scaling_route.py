"""The scaling signal as an autoscaler asks a real ledger for it: what it answers, and when it refuses to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from ledger.serving import PATIENCE, Service, serving
from sqlalchemy import Engine, select
from sqlalchemy.exc import OperationalError

from control.sampling import SAMPLE_SECONDS, STALE_SECONDS, Sample, Sampler, StaleError
from scheduler.clock import now
from scheduler.database import open_sqlite, read, write
from scheduler.instants import format_instant, from_micros, parse_instant
from scheduler.planner import plan
from scheduler.queue import trigger_run
from scheduler.queue_load import QueueLoad
from scheduler.tables import runs

JOBS = """
defaults: {timezone: UTC}
jobs:
  - {id: watched, schedule: {every: 1h}, queue: watching}
  - {id: own, queue: night, overlap: allow, run: {command: ["true"]}}
  - {id: often, queue: day, schedule: {every: 1s}, overlap: allow, run: {command: ["true"]}}
"""
KEYS = [
    *("queue", "depth", "ready", "in_flight", "oldest_age_seconds", "ingress_rate", "mean_duration_seconds"),
    *("due_soon", "desired_replicas", "decided_by", "formula", "per_replica", "sampled_at", "stale"),
]


def ask(service: Service, queue: str, **params: Any) -> httpx.Response:
    url = f"{service.url}/api/v1/queues/{queue}/scaling"
    return httpx.get(url, params=params, headers=service.headers("dashboard"), timeout=PATIENCE)


@contextmanager
def queue_of(service: Service) -> Iterator[Engine]:
    engine = open_sqlite(service.var / "queue.db")
    try:
        yield engine
    finally:
        engine.dispose()


@pytest.fixture(scope="module")
def laden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A ledger with thirty runs in `night` of which each is known to take 80 seconds; no scheduler runs."""
    with serving(tmp_path_factory.mktemp("laden"), JOBS) as service:
        at = now()
        with queue_of(service) as engine:
            for number in range(30):
                trigger_run(engine, "own", f"k{number}", at)
        ended = {"id": "e1", "source": "test", "type": "succeeded", "job": "own", "run": "own!earlier"}
        service.post([{**ended, "at": format_instant(at), "data": {"seconds": 80.0}}])
        yield service


def test_the_signal_holds_every_number_and_how_it_came_to_be(laden: Service) -> None:
    before = now()
    found = laden.get("/api/v1/queues/night/scaling")
    assert list(found) == KEYS
    assert found["queue"] == "night" and found["stale"] is False
    assert [found[key] for key in ("depth", "ready", "in_flight", "due_soon")] == [30, 30, 0, 0]
    assert [found[key] for key in ("ingress_rate", "mean_duration_seconds", "per_replica")] == [0.1, 80.0, 4]
    assert (found["desired_replicas"], found["decided_by"]) == (8, "depth")
    formula = "max(depth: ceil((30 ready + 0 in flight) / 4) = 8, rate: ceil(0.1/s * 80 s / 4) = 2, age: "
    assert found["formula"].startswith(formula)
    taken = parse_instant(found["sampled_at"])
    assert before - timedelta(seconds=SAMPLE_SECONDS) <= taken <= now()
    assert 0 < found["oldest_age_seconds"] < 300


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"per_replica": 1}, (30, "depth")),
        ({"per_replica": 30}, (1, "depth")),
        ({"max": 3}, (3, "max")),
        ({"min": 12}, (12, "min")),
        ({"min": 8, "max": 8}, (8, "depth")),
        ({"max": 0}, (0, "max")),
    ],
)
def test_the_caller_says_what_its_workers_are_like(
    laden: Service, params: dict[str, Any], expected: tuple[int, str]
) -> None:
    found = ask(laden, "night", **params).json()
    assert (found["desired_replicas"], found["decided_by"]) == expected


@pytest.mark.parametrize(("max_age", "words"), [("1e6", "is not over 1e+06 s = 0"), ("0", "is over 0 s = 1")])
def test_the_caller_says_how_long_the_oldest_may_wait(laden: Service, max_age: str, words: str) -> None:
    assert words in ask(laden, "night", max_age=max_age).json()["formula"]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"per_replica": 0}, "per_replica"),
        ({"per_replica": "many"}, "per_replica"),
        ({"max_age": -1}, "max_age"),
        ({"max_age": "nan"}, "max_age"),
        ({"min": -1}, "min"),
        ({"max": 100_001}, "max"),
        ({"min": 3, "max": 2}, "min: 3 is above max, 2"),
    ],
)
def test_limits_that_mean_nothing_are_refused_by_name(laden: Service, params: dict[str, Any], field: str) -> None:
    answer = ask(laden, "night", **params)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert field in answer.json()["detail"]


@pytest.mark.parametrize("queue", ["nowhere", "nigh", "night%20", "%F0%9F%92%A5" * 60])
def test_a_queue_that_no_job_names_is_unknown_and_not_empty(laden: Service, queue: str) -> None:
    answer = ask(laden, queue)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert "no job names a queue" in answer.json()["detail"] and len(answer.text) < 2000


def test_a_queue_in_which_nothing_waits_wants_nobody(laden: Service) -> None:
    found = ask(laden, "watching").json()
    assert (found["desired_replicas"], found["decided_by"], found["oldest_age_seconds"]) == (0, "nothing", 0)


def test_the_gauges_are_the_signals_own_numbers(laden: Service) -> None:
    text = httpx.get(f"{laden.url}/metrics", headers=laden.headers(), timeout=PATIENCE).text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines['tepat_scale_desired_replicas{queue="night"}'] == "8.0"
    assert lines['tepat_queue_ingress_rate{queue="night"}'] == "0.1"
    assert lines['tepat_queue_due_soon{queue="night"}'] == "0.0"
    assert float(lines['tepat_queue_oldest_age_seconds{queue="night"}']) > 0
    assert lines['tepat_scale_desired_replicas{queue="watching"}'] == "0.0"
    assert 'tepat_scale_desired_replicas{queue="day"}' not in lines


def test_while_no_scheduler_plans_an_empty_queue_is_not_said_to_be_empty(laden: Service) -> None:
    answer = ask(laden, "day")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert "no scheduler has looked" in answer.json()["detail"]
    assert answer.headers["retry-after"] == "5"


def test_once_a_scheduler_plans_its_runs_to_come_are_due_soon(tmp_path: Path) -> None:
    with serving(tmp_path, JOBS) as service, queue_of(service) as engine:
        plan(engine, now())
        found = service.get("/api/v1/queues/day/scaling")
        with read(engine) as connection:
            due = [from_micros(at) for at in connection.execute(select(runs.c.due_at)).scalars()]
    at = parse_instant(found["sampled_at"])
    assert found["due_soon"] == len([one for one in due if at < one <= at + timedelta(minutes=1)]) > 0
    assert found["depth"] == len([one for one in due if one <= at])


def test_an_unreachable_queue_database_is_no_zero_and_is_forgiven_when_it_is_back(tmp_path: Path) -> None:
    with serving(tmp_path, JOBS) as service, queue_of(service) as engine:
        rename(engine, "runs", "lost")
        answer = ask(service, "night")
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert answer.json()["detail"].startswith("the queue's load is not known: no sample has been taken yet")
        assert "OperationalError" in answer.json()["detail"] and "SELECT" not in answer.text
        rename(engine, "lost", "runs")
        assert ask(service, "night").json()["desired_replicas"] == 0


def rename(engine: Engine, old: str, new: str) -> None:
    with write(engine) as connection:
        connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")


class Shelf:
    """A sampler on a clock that tests turn, over a database that they break."""

    def __init__(self) -> None:
        self.seconds, self.broken, self.taken = 100.0, False, 0
        self.sampler = Sampler(lambda: self.seconds)

    def ask(self, after: float = 0.0) -> int:
        """The number of the sample that is answered, `after` seconds."""
        self.seconds += after
        return self.sampler.get(self._take).queues["night"].depth

    def _take(self) -> Sample:
        if self.broken:
            raise OperationalError("SELECT secret", {}, Exception("unable to open database file"))
        self.taken += 1
        return Sample(parse_instant("2026-03-29T00:30:00Z"), {"night": QueueLoad(queue="night", depth=self.taken)})


@pytest.mark.parametrize(("after", "number"), [(-0.001, 1), (0.0, 2), (0.001, 2)])
def test_a_sample_is_used_for_one_interval(after: float, number: int) -> None:
    shelf = Shelf()
    assert (shelf.ask(), shelf.ask(SAMPLE_SECONDS + after)) == (1, number)


@pytest.mark.parametrize(("after", "is_stale"), [(-0.001, False), (0.0, False), (0.001, True)])
def test_an_old_sample_is_used_for_three_intervals_and_then_never(after: float, is_stale: bool) -> None:
    shelf = Shelf()
    shelf.ask()
    shelf.broken = True
    if not is_stale:
        assert shelf.ask(STALE_SECONDS + after) == 1
        return
    with pytest.raises(StaleError, match=r"is 15 s old, 15 s at most: a store can't be read \(OperationalError\)"):
        shelf.ask(STALE_SECONDS + after)


def test_a_failed_sample_is_tried_again_at_the_next_question() -> None:
    shelf = Shelf()
    shelf.ask()
    shelf.broken = True
    assert shelf.ask(SAMPLE_SECONDS) == 1
    shelf.broken = False
    assert shelf.ask() == 2


def test_a_fault_that_is_not_the_stores_is_not_taken_for_one() -> None:
    def broken() -> Sample:
        raise ZeroDivisionError

    take: Callable[[], Sample] = broken
    with pytest.raises(ZeroDivisionError):
        Sampler().get(take)
