"""A slot that was passed over, made up by hand: at most one run for it all the same."""

from datetime import timedelta
from pathlib import Path

import pytest
from queueing.farm import START, at, minutely, new_queue, said, states, take, take_one

from scheduler.endings import Result, finish
from scheduler.planner import plan
from scheduler.queue import UnknownJobError, make_up_slot

HOUR = timedelta(hours=1)
MISSED = START + timedelta(minutes=7)


def test_a_passed_over_slot_runs_under_its_own_id(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    plan(engine, START + HOUR)
    later = 3600.0
    take(engine, at(later), limit=100)
    assert make_up_slot(engine, "tidy", MISSED, START + HOUR) == "tidy@2026-03-01T08:07:00Z"
    assert states(engine)["tidy@2026-03-01T08:07:00Z"] == "queued"
    assert said(engine, "queued")[-1]["slot"] == "2026-03-01T08:07:00Z"


def test_a_slot_that_has_its_run_gets_no_second_one(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    make_up_slot(engine, "tidy", MISSED, START + HOUR)
    with pytest.raises(ValueError, match="has its run already, which is queued"):
        make_up_slot(engine, "tidy", MISSED, START + HOUR)
    claimed = take_one(engine, at(3601))
    assert claimed.slot == MISSED
    assert finish(engine, at(3602), claimed, Result(None, 1.0))
    with pytest.raises(ValueError, match="has its run already, which is succeeded"):
        make_up_slot(engine, "tidy", MISSED, START + HOUR)


def test_what_is_no_past_slot_of_the_job_is_refused(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    with pytest.raises(ValueError, match="is no slot of 'tidy'"):
        make_up_slot(engine, "tidy", MISSED + timedelta(seconds=1), START + HOUR)
    with pytest.raises(ValueError, match="lies ahead"):
        make_up_slot(engine, "tidy", START + 2 * HOUR, START + HOUR)
    with pytest.raises(UnknownJobError):
        make_up_slot(engine, "other", MISSED, START + HOUR)
