"""A run that has not begun in time: skipped with reason `deadline` when a worker would take it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from queueing.farm import START, at, minutely, new_queue, row, said, states, take, take_one
from sqlalchemy import Engine

from scheduler.endings import Problem, Result, finish
from scheduler.jobs import Retry, Schedule, Window
from scheduler.planner import plan
from scheduler.queue import make_up_slot, trigger_run

MICRO = 0.000001
FIRST, SECOND = "tidy@2026-03-01T08:00:00Z", "tidy@2026-03-01T08:01:00Z"


def reasons(engine: Engine) -> list[str]:
    return [event["data"]["reason"] for event in said(engine, "skipped")]


def one_slot(folder: Path, **changes: Any) -> Engine:
    """The slot of 08:00 alone, planned when it fell due."""
    engine = new_queue(folder, minutely(**changes))
    plan(engine, START, horizon=timedelta(0))
    return engine


def keep_looking(engine: Engine, until: float) -> None:
    """A scheduler that goes on looking every five seconds, and plans nothing past the minute."""
    for second in range(5, int(until) + 1, 5):
        plan(engine, at(second).now, horizon=timedelta(seconds=60 - second))


@pytest.mark.parametrize(("second", "state"), [(200 - MICRO, "running"), (200, "running"), (200 + MICRO, "skipped")])
def test_a_run_may_begin_up_to_its_start_deadline(tmp_path: Path, second: float, state: str) -> None:
    engine = one_slot(tmp_path, start_deadline=timedelta(seconds=200))
    take(engine, at(second))
    assert states(engine)[FIRST] == state
    assert reasons(engine) == (["deadline"] if state == "skipped" else [])


@pytest.mark.parametrize(("second", "state"), [(30 - MICRO, "running"), (30, "skipped"), (30 + MICRO, "skipped")])
def test_a_queued_run_does_not_outlive_its_batch_window(tmp_path: Path, second: float, state: str) -> None:
    window = Window(start=7 * 3600, end=8 * 3600 + 30, timezone="UTC")
    engine = one_slot(tmp_path, window=window)
    take(engine, at(second))
    assert states(engine)[FIRST] == state
    assert reasons(engine) == (["deadline"] if state == "skipped" else [])


def test_a_start_deadline_counts_from_the_slots_own_jitter(tmp_path: Path) -> None:
    schedule = Schedule(timezone="UTC", cron="* * * * *", jitter=timedelta(seconds=59))
    engine = one_slot(tmp_path, schedule=schedule, start_deadline=timedelta(seconds=10))
    due = (row(engine, FIRST)["due_at"] - row(engine, FIRST)["slot"]) / 1_000_000
    assert due > 0
    keep_looking(engine, due + 10)
    assert take_one(engine, at(due + 10)).run_id == FIRST


def test_what_waits_behind_another_run_is_skipped_once_its_deadline_has_passed(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(overlap="queue", start_deadline=timedelta(seconds=90)))
    plan(engine, START, horizon=timedelta(minutes=1))
    first = take_one(engine, at(0))
    keep_looking(engine, 150)
    assert take(engine, at(150)) == []
    assert states(engine)[SECOND] == "queued"
    take(engine, at(150 + MICRO))
    assert (states(engine)[SECOND], reasons(engine)) == ("skipped", ["deadline"])
    assert finish(engine, at(160), first, Result(None, 160.0))


def test_a_retry_is_not_held_to_the_deadline_of_the_start(tmp_path: Path) -> None:
    retry = Retry(attempts=2, initial=timedelta(seconds=60), jitter="none")
    window = Window(start=7 * 3600, end=8 * 3600 + 30, timezone="UTC")
    engine = one_slot(tmp_path, retry=retry, start_deadline=timedelta(seconds=5), window=window)
    finish(engine, at(2), take_one(engine, at(1)), Result(Problem("temporary", "exit 1", 1), 1.0))
    assert take_one(engine, at(62)).attempt == 2


def test_what_a_person_asked_for_has_no_deadline_of_its_own(tmp_path: Path) -> None:
    window = Window(start=7 * 3600, end=8 * 3600 + 30, timezone="UTC")
    engine = new_queue(tmp_path, minutely(start_deadline=timedelta(seconds=5), window=window, overlap="allow"))
    make_up_slot(engine, "tidy", START, at(3600).now)
    trigger_run(engine, "tidy", "k", at(3600).now)
    assert sorted(one.run_id for one in take(engine, at(3700))) == ["tidy!k", FIRST]


def test_a_made_up_slot_waits_for_a_running_one_and_is_not_skipped(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    trigger_run(engine, "tidy", "k", START)
    other = take_one(engine, at(1))
    make_up_slot(engine, "tidy", START, at(60).now)
    assert take(engine, at(61)) == []
    finish(engine, at(62), other, Result(None, 61.0))
    assert take_one(engine, at(63)).run_id == FIRST


def test_a_made_up_slot_outlives_an_outage_of_the_scheduler(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(catch_up="none"))
    plan(engine, at(30).now, horizon=timedelta(0))
    assert states(engine) == {FIRST: "skipped"}
    make_up_slot(engine, "tidy", START, at(40).now)
    plan(engine, at(3600).now, horizon=timedelta(0))
    assert states(engine)[FIRST] == "queued"
