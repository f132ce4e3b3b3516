"""`overlap: queue`: a slot waits for its predecessor, in the order of slots, and the line is bounded."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from queueing.farm import START, at, minutely, new_queue, said, states, take, take_one
from sqlalchemy import Engine

from scheduler.endings import Problem, Result, finish
from scheduler.jobs import Retry, Schedule
from scheduler.planner import plan
from scheduler.policy import QUEUE_LIMIT
from scheduler.queue import Claimed, make_up_slot, trigger_run
from scheduler.registry import apply_definitions

WELL = Result(None, 1.0)
BADLY = Result(Problem("temporary", "exit 1", 1), 1.0)


def secondly(**changes: Any) -> Any:
    return minutely(schedule=Schedule(timezone="UTC", every=timedelta(seconds=1)), overlap="queue", **changes)


def lined_up(folder: Path, count: int, **changes: Any) -> Engine:
    """A run that began at START and goes on, and so many slots that fell due behind it."""
    engine = new_queue(folder, secondly(**changes))
    plan(engine, START, horizon=timedelta(0))
    take_one(engine, at(0))
    for second in range(1, count + 1):
        plan(engine, at(second).now, horizon=timedelta(0))
    return engine


def keep_looking(engine: Engine, since: int, until: int) -> None:
    """A scheduler that goes on looking every five seconds, and plans nothing past the second minute."""
    for second in range(since, until + 1, 5):
        plan(engine, at(second).now, horizon=timedelta(seconds=min(60, 120 - second)))


def waiting(engine: Engine) -> list[str]:
    return sorted(name[-9:-1] for name, state in states(engine).items() if state == "queued")


@pytest.mark.parametrize("count", [QUEUE_LIMIT - 1, QUEUE_LIMIT, QUEUE_LIMIT + 1])
def test_the_line_holds_a_hundred_and_turns_the_newest_away(tmp_path: Path, count: int) -> None:
    engine = lined_up(tmp_path, count)
    assert len(waiting(engine)) == min(count, QUEUE_LIMIT)
    skipped = [(event["slot"], event["data"]["reason"]) for event in said(engine, "skipped")]
    assert skipped == ([("2026-03-01T08:01:41Z", "buffer_full")] if count > QUEUE_LIMIT else [])


def test_a_place_that_comes_free_is_taken_by_the_next_slot(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, secondly())
    plan(engine, START, horizon=timedelta(0))
    first = take_one(engine, at(0))
    for second in range(1, QUEUE_LIMIT + 1):
        plan(engine, at(second).now, horizon=timedelta(0))
    finish(engine, at(QUEUE_LIMIT + 0.5), first, WELL)
    assert take_one(engine, at(QUEUE_LIMIT + 0.6)).slot == START + timedelta(seconds=1)
    plan(engine, at(QUEUE_LIMIT + 1).now, horizon=timedelta(0))
    assert len(waiting(engine)) == QUEUE_LIMIT
    assert said(engine, "skipped") == []


def test_slots_run_one_after_another_and_none_is_skipped(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(overlap="queue"))
    ran: list[tuple[int, Claimed]] = []
    for second in range(0, 900, 5):
        plan(engine, at(second).now, horizon=timedelta(seconds=min(60, 240 - second)))
        ran += [(second, claimed) for claimed in take(engine, at(second))]
        if second == ran[-1][0] + 150:
            assert finish(engine, at(second), ran[-1][1], WELL)
    assert [second for second, _ in ran] == [0, 155, 310, 465, 620]
    assert [claimed.slot for _, claimed in ran] == [START + number * timedelta(minutes=1) for number in range(5)]
    assert said(engine, "skipped") == []


def test_a_slot_waits_while_its_predecessor_waits_for_its_retry(tmp_path: Path) -> None:
    retry = Retry(attempts=2, initial=timedelta(seconds=100), jitter="none")
    engine = new_queue(tmp_path, minutely(overlap="queue", retry=retry))
    plan(engine, START, horizon=timedelta(minutes=1))
    finish(engine, at(10), take_one(engine, at(0)), BADLY)
    keep_looking(engine, 5, 60)
    assert take(engine, at(60)) == []
    keep_looking(engine, 65, 115)
    assert take(engine, at(109.999999)) == []
    again = take_one(engine, at(110))
    assert (again.slot, again.attempt) == (START, 2)
    finish(engine, at(115), again, BADLY)
    assert states(engine)["tidy@2026-03-01T08:00:00Z"] == "failed"
    assert take_one(engine, at(115)).slot == START + timedelta(minutes=1)


def test_order_is_that_of_slots_and_not_of_urgency_or_of_asking(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(overlap="queue", priority="background"), now=at(30).now)
    plan(engine, at(30).now, horizon=timedelta(minutes=1))
    apply_definitions(engine, [minutely(overlap="queue", priority="critical")], at(61).now)
    plan(engine, at(62).now, horizon=timedelta(minutes=1))
    make_up_slot(engine, "tidy", START, at(63).now)
    trigger_run(engine, "tidy", "k", at(64).now)
    keep_looking(engine, 65, 130)
    ran = []
    for second in (125, 127, 129, 131):
        claimed = take_one(engine, at(second))
        ran.append(claimed.run_id.removeprefix("tidy").removeprefix("@2026-03-01T"))
        finish(engine, at(second + 1), claimed, WELL)
    assert ran == ["08:00:00Z", "08:01:00Z", "!k", "08:02:00Z"]


def test_what_waits_rightly_is_not_left_behind_by_a_short_outage(tmp_path: Path) -> None:
    engine = lined_up(tmp_path, 3, catch_up="none")
    plan(engine, at(20).now, horizon=timedelta(0))
    assert waiting(engine) == ["08:00:01", "08:00:02", "08:00:03", *(f"08:00:{second}" for second in range(16, 21))]
    skipped = [(event["slot"][-3:-1], event["data"]["reason"]) for event in said(engine, "skipped")]
    assert skipped == [(f"{second:02}", "catch_up") for second in range(4, 16)]


def test_runs_that_others_asked_for_are_never_turned_away(tmp_path: Path) -> None:
    engine = lined_up(tmp_path, QUEUE_LIMIT)
    for number in range(QUEUE_LIMIT + 1):
        trigger_run(engine, "tidy", f"k{number}", at(QUEUE_LIMIT).now)
    plan(engine, at(QUEUE_LIMIT).now, horizon=timedelta(0))
    assert len(waiting(engine)) == 2 * QUEUE_LIMIT + 1
    assert said(engine, "skipped") == []


def test_two_jobs_do_not_wait_in_one_line(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(overlap="queue"), minutely(id="other", overlap="queue"))
    plan(engine, START, horizon=timedelta(0))
    assert sorted(one.job.id for one in take(engine, at(0))) == ["other", "tidy"]
