"""`overlap: replace`: a due slot stops the run before it, and starts when that one has really ended."""

from datetime import timedelta
from pathlib import Path

import pytest
from queueing.farm import START, at, minutely, new_queue, row, said, states, take, take_one
from sqlalchemy import Engine

from collector.runs import fold
from scheduler.endings import Problem, Result, finish, redrive, release, sweep
from scheduler.events import parse_event
from scheduler.jobs import Retry
from scheduler.planner import plan
from scheduler.queue import Claimed, heartbeat, make_up_slot, told_to_stop, trigger_run
from scheduler.registry import JobReader

MICRO = 0.000001
FIRST, SECOND, THIRD = (f"tidy@2026-03-01T08:0{minute}:00Z" for minute in range(3))
STOPPED = Result(Problem("interrupted", "stopped", 143), 65.0, "half of it\n")
WELL = Result(None, 1.0)


def running(folder: Path, **changes: object) -> tuple[Engine, Claimed]:
    """The run of 08:00 under way, the slot of 08:01 planned."""
    engine = new_queue(folder, minutely(overlap="replace", **changes))
    plan(engine, START, horizon=timedelta(minutes=1))
    return engine, take_one(engine, at(0))


def look(engine: Engine, second: float) -> None:
    plan(engine, at(second).now, horizon=timedelta(0))


def keep_looking(engine: Engine, since: int, until: int) -> None:
    for second in range(since, until + 1, 5):
        look(engine, second)


def cancels(engine: Engine) -> list[tuple[str, str]]:
    return [(event["run"], event["data"]["reason"]) for event in said(engine, "cancelled")]


@pytest.mark.parametrize(("second", "told"), [(60 - MICRO, set()), (60, {FIRST}), (60 + MICRO, {FIRST})])
def test_a_run_is_told_to_stop_from_the_next_slots_due_instant_on(
    tmp_path: Path, second: float, told: set[str]
) -> None:
    engine, first = running(tmp_path)
    look(engine, second)
    assert told_to_stop(engine, [first]) == told


@pytest.mark.parametrize(("began", "told"), [(60 - MICRO, {FIRST}), (60, set()), (60 + MICRO, set())])
def test_only_a_run_that_began_before_the_due_instant_is_replaced(tmp_path: Path, began: float, told: set[str]) -> None:
    engine = new_queue(tmp_path, minutely(overlap="replace", catch_up="all"))
    plan(engine, at(55).now, horizon=timedelta(seconds=5))
    first = take_one(engine, at(began))
    look(engine, 61)
    assert told_to_stop(engine, [first]) == told


def test_the_new_run_starts_only_when_the_old_one_has_ended(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    look(engine, 60)
    assert take(engine, at(60)) == []
    keep_looking(engine, 61, 64)
    assert take(engine, at(64)) == []
    assert heartbeat(engine, at(64), [first]) == set()
    assert finish(engine, at(65), first, STOPPED)
    assert take_one(engine, at(65)).run_id == SECOND
    assert states(engine) == {FIRST: "cancelled", SECOND: "running"}
    assert cancels(engine) == [(FIRST, f"replaced by {SECOND}")]


def test_a_replaced_run_is_cancelled_for_the_collector_too(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    look(engine, 60)
    finish(engine, at(65), first, STOPPED)
    run = fold(FIRST, [parse_event(event) for event in said(engine) if event["run"] == FIRST])
    assert (run.outcome, run.duration, run.ended_at) == ("cancelled", 65.0, at(65).now)
    assert run.error == {"kind": "cancelled", "message": f"replaced by {SECOND}"}
    assert run.output_tail == row(engine, FIRST)["output_tail"] == "half of it\n"


def test_a_run_that_ends_well_before_it_is_stopped_has_succeeded(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    look(engine, 60)
    finish(engine, at(60.1), first, WELL)
    assert take_one(engine, at(60.2)).run_id == SECOND
    assert (states(engine)[FIRST], cancels(engine)) == ("succeeded", [])


def test_a_drain_in_the_middle_of_it_gives_nothing_back(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    look(engine, 60)
    assert release(engine, at(61), first, 61.0)
    assert states(engine) == {FIRST: "cancelled", SECOND: "queued"}


def test_a_failure_that_would_be_tried_again_is_replaced_instead(tmp_path: Path) -> None:
    engine, first = running(tmp_path, retry=Retry(attempts=3))
    look(engine, 60)
    finish(engine, at(61), first, Result(Problem("temporary", "exit 1", 1), 61.0))
    assert states(engine)[FIRST] == "cancelled"
    assert said(engine, "retrying", "dead_lettered") == []


def test_a_dead_worker_does_not_hold_its_replacement_up(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    look(engine, 60)
    ended: list[tuple[str, int]] = []
    assert sweep(engine, JobReader(), at(60), lambda *run: ended.append(run)) == []
    assert sweep(engine, JobReader(), at(60 + MICRO), lambda *run: ended.append(run)) == [FIRST]
    assert ended == [(FIRST, first.fence)]
    assert states(engine) == {FIRST: "cancelled", SECOND: "queued"}
    assert not finish(engine, at(61), first, WELL)
    assert said(engine, "dead_lettered") == []


def test_a_worker_that_lost_its_fence_is_told_nothing(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    look(engine, 60)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE runs SET fence = fence + 1 WHERE state = 'running'")
    assert told_to_stop(engine, [first]) == set()


def test_the_newest_slot_wins_while_an_old_run_takes_long_to_end(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    look(engine, 60)
    keep_looking(engine, 65, 115)
    look(engine, 120)
    assert take(engine, at(121)) == []
    finish(engine, at(122), first, STOPPED)
    assert take_one(engine, at(122)).run_id == THIRD
    assert cancels(engine) == [(FIRST, f"replaced by {THIRD}")]
    assert [(event["run"], event["data"]["reason"]) for event in said(engine, "skipped")] == [(SECOND, "overlap")]


def test_a_backlog_is_worked_off_in_turn_and_replaces_nothing(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(overlap="replace", catch_up="all"))
    plan(engine, at(150).now, horizon=timedelta(0))
    ran = []
    for second in (150, 155, 160):
        claimed = take_one(engine, at(second))
        ran.append(claimed.run_id)
        look(engine, second + 1)
        finish(engine, at(second + 2), claimed, WELL)
    assert (ran, cancels(engine), said(engine, "skipped")) == ([FIRST, SECOND, THIRD], [], [])


@pytest.mark.parametrize("second", [62.0, 99.0])
def test_a_run_that_waits_for_its_retry_is_cancelled_when_a_newer_slot_is_due(tmp_path: Path, second: float) -> None:
    retry = Retry(attempts=2, initial=timedelta(seconds=30), jitter="none")
    engine, first = running(tmp_path, retry=retry)
    finish(engine, at(31), first, Result(Problem("temporary", "exit 1", 1), 31.0))
    keep_looking(engine, 5, int(second))
    (newer,) = take(engine, at(second))
    assert newer.run_id == SECOND
    assert states(engine) == {FIRST: "cancelled", SECOND: "running"}
    assert cancels(engine) == [(FIRST, f"replaced by {SECOND}")]
    run = fold(FIRST, [parse_event(event) for event in said(engine) if event["run"] == FIRST])
    assert run.outcome == "cancelled"


def test_a_run_by_hand_makes_way_for_a_due_slot_and_replaces_none_itself(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    trigger_run(engine, "tidy", "k", at(10).now)
    assert take(engine, at(11)) == []
    assert told_to_stop(engine, [first]) == set()
    finish(engine, at(12), first, WELL)
    by_hand = take_one(engine, at(13))
    keep_looking(engine, 15, 60)
    assert told_to_stop(engine, [by_hand]) == {"tidy!k"}


def test_a_made_up_slot_waits_for_the_run_of_a_newer_one(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    finish(engine, at(1), first, WELL)
    keep_looking(engine, 5, 60)
    second = take_one(engine, at(60))
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM runs WHERE run_id = ?", (FIRST,))
    make_up_slot(engine, "tidy", START, at(61).now)
    look(engine, 62)
    assert (take(engine, at(63)), told_to_stop(engine, [second])) == ([], set())


def test_a_dead_letter_sent_round_again_is_not_replaced_by_what_came_since(tmp_path: Path) -> None:
    engine, first = running(tmp_path)
    finish(engine, at(1), first, Result(Problem("permanent", "exit 1", 1), 1.0))
    keep_looking(engine, 5, 60)
    finish(engine, at(61), take_one(engine, at(60)), WELL)
    assert redrive(engine, FIRST, at(62).now, "ana")
    assert take_one(engine, at(63)).run_id == FIRST


@pytest.mark.parametrize("overlap", ["forbid", "allow", "queue"])
def test_other_modes_tell_nobody_to_stop(tmp_path: Path, overlap: str) -> None:
    engine = new_queue(tmp_path, minutely(overlap=overlap))
    plan(engine, START, horizon=timedelta(minutes=1))
    first = take_one(engine, at(0))
    look(engine, 61)
    assert told_to_stop(engine, [first]) == set()
