"""What lies before a queue's workers, counted from real rows: each number on both sides of its boundary."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from queueing.farm import START, at, job, minutely, new_queue, take, take_one
from sqlalchemy import Engine, event

from scheduler.depths import job_loads
from scheduler.endings import Problem, Result, finish
from scheduler.history import forget
from scheduler.jobs import History, Job, Retry, Schedule
from scheduler.planner import plan
from scheduler.queue import trigger_run
from scheduler.queue_load import Known, QueueLoad, queue_loads

WELL = Result(None, 1.0)
BADLY = Result(Problem("temporary", "exit 1", 1), 1.0)


def loads(
    engine: Engine, seconds: float, *jobs: Job, durations: Mapping[str, float] | None = None
) -> dict[str, QueueLoad]:
    now = at(seconds).now
    found, looks = job_loads(engine, now)
    return queue_loads(
        found, Known(jobs={one.id: one for one in jobs}, looks=looks, durations=durations or {}, now=now)
    )


def triggered(engine: Engine, *seconds: float, name: str = "tidy") -> None:
    for second in seconds:
        trigger_run(engine, name, f"k{second}", at(second).now)


def many(**changes: Any) -> Job:
    return job(**{"overlap": "allow", "queue": "night"} | changes)


def test_a_queue_that_a_job_names_is_there_before_anything_waits(tmp_path: Path) -> None:
    tidy = many()
    assert loads(new_queue(tmp_path, tidy), 0, tidy) == {"night": QueueLoad(queue="night")}


def test_a_queue_whose_jobs_are_gone_is_there_while_runs_are_left(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, many())
    triggered(engine, 0)
    assert loads(engine, 1)["night"].depth == 1


@pytest.mark.parametrize(("seconds", "depth", "soon"), [(4.999999, 0, 1), (5.0, 1, 0), (5.000001, 1, 0)])
def test_a_run_is_due_soon_until_it_is_due(tmp_path: Path, seconds: float, depth: int, soon: int) -> None:
    tidy = many()
    engine = new_queue(tmp_path, tidy)
    triggered(engine, 5)
    found = loads(engine, seconds, tidy)["night"]
    assert (found.depth, found.ready, found.due_soon, found.arrivals) == (depth, depth, soon, depth)


@pytest.mark.parametrize(("due", "soon"), [(59.999999, 1), (60.0, 1), (60.000001, 0)])
def test_due_soon_reaches_one_minute_ahead(tmp_path: Path, due: float, soon: int) -> None:
    tidy = many()
    engine = new_queue(tmp_path, tidy)
    triggered(engine, due)
    assert loads(engine, 0, tidy)["night"].due_soon == soon


def test_what_the_planner_has_planned_ahead_is_due_soon(tmp_path: Path) -> None:
    tidy = minutely(queue="night", schedule=Schedule(timezone="UTC", every=timedelta(seconds=10)))
    engine = new_queue(tmp_path, tidy)
    plan(engine, at(1).now)
    found = loads(engine, 1, tidy)["night"]
    assert (found.depth, found.due_soon, found.blind) == (1, 6, "")


@pytest.mark.parametrize(("seconds", "arrivals"), [(299.999999, 1), (300.0, 0), (300.000001, 0)])
def test_an_arrival_counts_for_five_minutes_though_its_run_has_ended(
    tmp_path: Path, seconds: float, arrivals: int
) -> None:
    tidy = many()
    engine = new_queue(tmp_path, tidy)
    triggered(engine, 0)
    finish(engine, at(2), take_one(engine, at(1)), WELL)
    found = loads(engine, seconds, tidy)["night"]
    assert (found.arrivals, found.ingress_rate, found.depth) == (arrivals, arrivals / 300, 0)


def test_waiting_running_ended_and_dead_runs_have_all_arrived_and_a_skipped_slot_has_not(tmp_path: Path) -> None:
    tidy = many()
    engine = new_queue(tmp_path, tidy, minutely(id="slow", queue="night", catch_up="none"))
    triggered(engine, 0, 1, 2, 3)
    first, second, _ = take(engine, at(5), limit=3)
    finish(engine, at(6), first, WELL)
    finish(engine, at(6), second, Result(Problem("permanent", "exit 1", 1), 1.0))
    plan(engine, at(130).now, horizon=timedelta(0))
    found = loads(engine, 130, tidy)["night"]
    assert (found.arrivals, found.in_flight, found.depth) == (4, 1, 1)


def test_the_age_is_that_of_the_oldest_that_waits_and_zero_when_none_does(tmp_path: Path) -> None:
    tidy = many()
    engine = new_queue(tmp_path, tidy)
    triggered(engine, 0, 7)
    assert loads(engine, 10.5, tidy)["night"].oldest_age == 10.5
    take_one(engine, at(1))
    assert loads(engine, 10.5, tidy)["night"].oldest_age == 3.5
    take_one(engine, at(8))
    assert loads(engine, 10.5, tidy)["night"].oldest_age == 0


def test_a_run_that_waits_for_its_retry_is_deep_but_not_ready(tmp_path: Path) -> None:
    tidy = many(retry=Retry(attempts=2, initial=timedelta(seconds=40), jitter="none"))
    engine = new_queue(tmp_path, tidy)
    triggered(engine, 0)
    finish(engine, at(10), take_one(engine, at(1)), BADLY)
    before, after = loads(engine, 49.999999, tidy)["night"], loads(engine, 50, tidy)["night"]
    assert (before.depth, before.ready, before.due_soon) == (1, 0, 1)
    assert (after.depth, after.ready, after.due_soon) == (1, 1, 0)


@pytest.mark.parametrize(
    ("changes", "idle", "busy"),
    [
        ({"overlap": "allow"}, 5, 4),
        ({"overlap": "queue"}, 1, 0),
        ({"overlap": "forbid"}, 1, 0),
        ({"overlap": "allow", "concurrency": 2}, 2, 1),
        ({"overlap": "allow", "concurrency": 9}, 5, 4),
        ({"overlap": "queue", "concurrency": 9}, 1, 0),
    ],
)
def test_runs_that_wait_for_their_own_job_want_no_workers(
    tmp_path: Path, changes: dict[str, Any], idle: int, busy: int
) -> None:
    tidy = many(**changes)
    engine = new_queue(tmp_path, tidy)
    triggered(engine, 0, 1, 2, 3, 4)
    before = loads(engine, 5, tidy)["night"]
    take(engine, at(6), limit=1)
    after = loads(engine, 6, tidy)["night"]
    assert ((before.ready, before.depth), (after.ready, after.depth)) == ((idle, 5), (busy, 4))


@pytest.mark.parametrize("keep", [0, 1, 3])
def test_slots_that_the_history_has_forgotten_have_arrived_all_the_same(tmp_path: Path, keep: int) -> None:
    tidy = minutely(history=History(succeeded=keep))
    engine = new_queue(tmp_path, tidy)
    for minute in range(8):
        plan(engine, at(60 * minute).now, horizon=timedelta(0))
        finish(engine, at(60 * minute + 1), take_one(engine, at(60 * minute)), WELL)
    before = loads(engine, 430, tidy)["default"].arrivals
    assert forget(engine, [tidy], at(430).now) == 8 - keep
    assert (before, loads(engine, 430, tidy)["default"].arrivals) == (5, 5)


def test_the_duration_is_the_mean_of_what_arrives(tmp_path: Path) -> None:
    fast, slow, new = (many(id=name) for name in ("fast", "slow", "new"))
    engine = new_queue(tmp_path, fast, slow, new)
    triggered(engine, 0, 1, 2, name="fast")
    triggered(engine, 0, name="slow")
    triggered(engine, 0, 1, 2, 3, name="new")
    known = {"fast": 1.0, "slow": 9.0, "elsewhere": 1000.0}
    assert loads(engine, 5, fast, slow, new, durations=known)["night"].mean_duration == 3.0
    assert loads(engine, 5, fast, slow, new)["night"].mean_duration is None


@pytest.mark.parametrize(("silent", "is_blind"), [(9.999999, False), (10.0, False), (10.000001, True)])
def test_an_empty_queue_proves_nothing_while_no_planner_looks(tmp_path: Path, silent: float, is_blind: bool) -> None:
    tidy = minutely()
    engine = new_queue(tmp_path, tidy)
    plan(engine, START)
    assert bool(loads(engine, silent, tidy)["default"].blind) == is_blind


def test_blindness_says_since_when(tmp_path: Path) -> None:
    tidy = minutely()
    engine = new_queue(tmp_path, tidy)
    assert "has looked at the queue's schedules yet" in loads(engine, 0, tidy)["default"].blind
    plan(engine, START)
    assert "since 2026-03-01T08:00:00Z" in loads(engine, 60, tidy)["default"].blind


@pytest.mark.parametrize("changes", [{"enabled": False}, {"schedule": None}, {"run": None}])
def test_a_queue_for_which_nothing_is_planned_needs_no_planner(tmp_path: Path, changes: dict[str, Any]) -> None:
    tidy = minutely(**changes)
    assert loads(new_queue(tmp_path, tidy), 3600, tidy)["default"].blind == ""


def test_the_read_never_walks_over_all_the_runs_that_ever_ended(tmp_path: Path) -> None:
    engine, said = new_queue(tmp_path, many()), []

    @event.listens_for(engine, "before_cursor_execute")
    def note(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        said.append((statement, values))

    job_loads(engine, START)
    (counting,) = [one for one in said if "count" in one[0]]
    with engine.connect() as connection:
        steps = [row[3] for row in connection.exec_driver_sql("EXPLAIN QUERY PLAN " + counting[0], counting[1])]
    assert [step for step in steps if "runs_due" in step] and [step for step in steps if "runs_ended" in step]
    assert not [step for step in steps if step.startswith("SCAN runs")]
