"""What keeps a run in the queue, told by the same function that decides about claims."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from queueing.farm import START, at, job, minutely, new_queue, take_one
from sqlalchemy import Engine

from scheduler.endings import Problem, Result, finish
from scheduler.jobs import Job, Retry
from scheduler.planner import plan
from scheduler.queue import trigger_run
from scheduler.waiting import waits_for

FIRST, SECOND = "tidy@2026-03-01T08:01:00Z", "tidy@2026-03-01T08:02:00Z"
LATER = START + timedelta(seconds=1)  # so that the minute of START is no slot
IN_SECOND = START + timedelta(seconds=121)


def with_first_running(folder: Path, **changes: Any) -> Engine:
    """The first slot's run is on, and the second's has fallen due."""
    engine = new_queue(folder, minutely(**changes), now=LATER)
    plan(engine, START + timedelta(seconds=50))
    plan(engine, START + timedelta(seconds=60))
    take_one(engine, at(60))
    plan(engine, START + timedelta(seconds=110))
    plan(engine, START + timedelta(seconds=120))
    return engine


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (59, "It waits for its due instant, 2026-03-01T08:01:00Z."),
        (60, "Nothing of the job holds it back: it waits for a free worker of the queue `default`."),
        (61, "Nothing of the job holds it back: it waits for a free worker of the queue `default`."),
    ],
)
def test_a_planned_run_waits_for_its_instant_and_then_for_a_worker(tmp_path: Path, second: int, words: str) -> None:
    engine = new_queue(tmp_path, minutely(), now=LATER)
    plan(engine, START + timedelta(seconds=50))
    assert waits_for(engine, FIRST, START + timedelta(seconds=second)) == words


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"overlap": "forbid"}, "It will not run: the next worker that looks skips it, reason `overlap`."),
        ({"overlap": "queue"}, "It waits for another run of the job to end (`overlap: queue`)."),
        ({"overlap": "replace"}, "It waits for the run that it replaces to end (`overlap: replace`)."),
        (
            {"overlap": "allow", "concurrency": 1},
            "It waits, because as many runs of the job are on as may be (`concurrency: 1`).",
        ),
        (
            {"overlap": "allow"},
            "Nothing of the job holds it back: it waits for a free worker of the queue `default`.",
        ),
    ],
)
def test_a_run_that_meets_another_waits_as_the_job_says(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    assert waits_for(with_first_running(tmp_path, **changes), SECOND, IN_SECOND) == words


def test_a_run_in_line_names_the_one_before_it(tmp_path: Path) -> None:
    engine = with_first_running(tmp_path, overlap="queue")
    plan(engine, START + timedelta(seconds=170))
    third = "tidy@2026-03-01T08:03:00Z"
    told = waits_for(engine, third, START + timedelta(seconds=181))
    assert told == f"It waits for its turn: {SECOND} is before it (`overlap: queue`)."


def test_a_retry_waits_for_its_next_attempt(tmp_path: Path) -> None:
    retrying = job(retry=Retry(attempts=2, initial=timedelta(seconds=30), jitter="none"))
    engine = new_queue(tmp_path, retrying)
    run = trigger_run(engine, retrying.id, "k", START)
    finish(engine, at(5), take_one(engine, at(1)), Result(Problem("temporary", "no luck"), 4.0))
    assert waits_for(engine, run, START + timedelta(seconds=6)) == (
        "It waits for its next attempt, 2026-03-01T08:00:35Z."
    )


def test_a_run_left_behind_by_an_outage_waits_for_a_planner(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(), now=LATER)
    plan(engine, START + timedelta(seconds=50))
    told = waits_for(engine, FIRST, START + timedelta(seconds=200))
    assert told == "It fell due while no planner looked: it waits for the next planning pass to decide about it."


@pytest.mark.parametrize("run", ["tidy!nothing", FIRST])
def test_a_run_that_is_not_queued_waits_for_nothing(tmp_path: Path, run: str) -> None:
    assert waits_for(with_first_running(tmp_path), run, IN_SECOND) == ""


def test_asking_changes_nothing_in_the_queue(tmp_path: Path) -> None:
    one: Job = minutely()
    engine = new_queue(tmp_path, one, now=LATER)
    plan(engine, START + timedelta(seconds=50))
    before = (tmp_path / "queue.db").read_bytes()
    waits_for(engine, FIRST, START + timedelta(seconds=61))
    assert (tmp_path / "queue.db").read_bytes() == before
