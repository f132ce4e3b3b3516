"""C14: skipped by overlap, missed by an outage, dropped by a full line and late for a deadline are different things."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from queueing.farm import START, at, minutely, new_queue, said, states, take, take_one
from sqlalchemy import Engine

from scheduler.endings import Result, finish
from scheduler.events import parse_event
from scheduler.jobs import Job
from scheduler.planner import plan
from scheduler.queue import trigger_run
from slo.replay import Replay, Span

TEN = timedelta(seconds=570)


def played(engine: Engine, job: Job, until: float) -> dict[str, Any]:
    """What the backtest makes of everything that was said."""
    replay = Replay([job], (), Span(since=START - timedelta(seconds=1), until=at(until).now, step=timedelta(minutes=1)))
    replay.run([parse_event(event) for event in said(engine)])
    found: dict[str, Any] = replay.report([])["jobs"]["tidy"]
    return found


def worked(folder: Path, run_seconds: int, down: range = range(0), **changes: Any) -> tuple[Engine, Job]:
    """Ten minutely slots, looked at each five seconds but not in `down`; every run lasts so many seconds."""
    tidy = minutely(**changes)
    engine = new_queue(folder, tidy)
    held: list[tuple[int, Any]] = []
    for second in range(0, 900, 5):
        if second not in down:
            plan(engine, at(second).now, horizon=min(timedelta(seconds=60), TEN - timedelta(seconds=second)))
        for began, claimed in list(held):
            if second >= began + run_seconds:
                finish(engine, at(began + run_seconds), claimed, Result(None, float(run_seconds)))
                held.remove((began, claimed))
        held += [] if second in down else [(second, claimed) for claimed in take(engine, at(second))]
    return engine, tidy


def minutes(engine: Engine, kind: str) -> list[int]:
    return [int(event["slot"][14:16]) for event in said(engine, kind)]


def test_c14_a_job_that_outgrows_its_interval_shows_it(tmp_path: Path) -> None:
    engine, tidy = worked(tmp_path, 150)
    assert minutes(engine, "started") == [0, 3, 6, 9]
    assert minutes(engine, "skipped") == [1, 2, 4, 5, 7, 8]
    found = played(engine, tidy, 599)
    assert (found["slots"]["missed"], found["slots"]["skipped"]) == (0, {"overlap": 6})
    assert (found["success_rate"], found["on_time_rate"]) == (1.0, 0.4)


@pytest.mark.parametrize(("seconds", "skipped"), [(55, 0), (60, 0), (65, 5)])
def test_c14_an_end_at_the_next_slot_is_no_overlap(tmp_path: Path, seconds: int, skipped: int) -> None:
    engine, tidy = worked(tmp_path, seconds)
    assert played(engine, tidy, 599)["slots"]["skipped"] == ({"overlap": skipped} if skipped else {})


@pytest.mark.parametrize(("began", "state"), [(59.999999, "skipped"), (60.0, "queued"), (60.000001, "queued")])
def test_c14_a_run_that_begins_with_the_slot_or_later_is_no_overlap(tmp_path: Path, began: float, state: str) -> None:
    engine = new_queue(tmp_path, minutely(), now=at(1).now)
    plan(engine, at(1).now, horizon=timedelta(seconds=59))
    trigger_run(engine, "tidy", "k", at(1).now)
    assert take_one(engine, at(began)).run_id == "tidy!k"
    take(engine, at(61))
    assert states(engine)["tidy@2026-03-01T08:01:00Z"] == state


def test_c14_what_an_outage_passed_over_is_missed_and_not_skipped(tmp_path: Path) -> None:
    engine, tidy = worked(tmp_path, 5, down=range(65, 300))
    assert {event["data"]["reason"] for event in said(engine, "skipped")} == {"catch_up"}
    found = played(engine, tidy, 599)["slots"]
    assert (found["on_time"], found["missed"], found["skipped"]) == (7, 3, {})


def test_c14_a_slot_past_its_start_deadline_is_named_so(tmp_path: Path) -> None:
    engine, tidy = worked(tmp_path, 400, overlap="queue", start_deadline=timedelta(seconds=100))
    found = played(engine, tidy, 700)["slots"]
    # The slot of 08:05 waits exactly 100 seconds; that of 08:10 is the eleventh, which nobody planned.
    assert minutes(engine, "started") == [0, 5]
    assert (found["on_time"], found["late"], found["missed"]) == (1, 1, 1)
    assert found["skipped"] == {"deadline": 8}


def test_c14_a_slot_that_finds_the_line_full_is_named_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("scheduler.policy", "scheduler.overlaps"):
        monkeypatch.setattr(f"{module}.QUEUE_LIMIT", 3)
    engine, tidy = worked(tmp_path, 1000, overlap="queue")
    found = played(engine, tidy, 590)["slots"]
    assert (found["on_time"], found["missed"], found["skipped"]) == (1, 3, {"buffer_full": 6})
