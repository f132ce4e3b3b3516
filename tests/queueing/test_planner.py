from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from queueing.farm import START, job, minutely, new_queue, row, said, states, take, take_one

from scheduler.endings import Result, finish
from scheduler.events import parse_event
from scheduler.instants import format_instant
from scheduler.jobs import Command, Schedule
from scheduler.leases import Moment
from scheduler.planner import RECORD_LIMIT, plan
from scheduler.registry import apply_definitions, current_jobs, job_history

MINUTE = timedelta(minutes=1)
DOWN = datetime(2024, 5, 1, 8, 28, 30, tzinfo=UTC)
BACK = datetime(2024, 5, 1, 10, 21, tzinfo=UTC)


def moment(now: datetime) -> Moment:
    return Moment(now, 1_000_000, "this-boot")


def slots(events: list[dict[str, Any]]) -> list[str]:
    return [event["slot"][11:16] for event in events]


def test_slots_are_rows_before_they_are_due(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    assert plan(engine, START + 5 * MINUTE / 10) == 2
    assert row(engine, "tidy@2026-03-01T08:01:00Z")["due_at"] > 0
    assert take(engine, moment(START + MINUTE - timedelta(microseconds=1)))[0].run_id == "tidy@2026-03-01T08:00:00Z"


@pytest.mark.parametrize(("micros", "taken"), [(-1, 0), (0, 1), (1, 1)])
def test_a_run_can_be_claimed_from_its_slot_on(tmp_path: Path, micros: int, taken: int) -> None:
    engine = new_queue(tmp_path, minutely(), now=START + timedelta(seconds=1))
    plan(engine, START + timedelta(seconds=1))
    assert len(take(engine, moment(START + MINUTE + timedelta(microseconds=micros)))) == taken


def test_planning_again_adds_nothing(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    plan(engine, START)
    before = said(engine)
    assert plan(engine, START) == 0
    assert plan(engine, START + timedelta(seconds=4)) == 0
    assert said(engine) == before


def test_many_planners_at_once_make_each_slot_once(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, *[minutely(id=f"job-{number}") for number in range(20)])
    barrier = Barrier(4)

    def pass_over() -> None:
        barrier.wait()
        plan(engine, START + timedelta(seconds=1))

    threads = [Thread(target=pass_over) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [(event["job"], event["slot"]) for event in said(engine, "queued")]
    assert len(keys) == len(set(keys)) == 40


def test_after_an_outage_the_newest_slot_runs_and_all_others_are_recorded(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(), now=DOWN - MINUTE)
    plan(engine, DOWN - MINUTE)
    last = moment(DOWN - MINUTE / 2)
    finish(engine, last, take_one(engine, last), Result(None, 1.0))
    plan(engine, DOWN)
    plan(engine, BACK)
    started = take(engine, moment(BACK))
    assert [claimed.run_id for claimed in started] == ["tidy@2024-05-01T10:21:00Z"]
    skipped = said(engine, "skipped")
    assert len(skipped) == 112
    assert (min(slots(skipped)), max(slots(skipped))) == ("08:29", "10:20")
    assert {event["data"]["reason"] for event in skipped} == {"catch_up"}
    finish(engine, moment(BACK), started[0], Result(None, 1.0))
    assert take_one(engine, moment(BACK + MINUTE)).run_id == "tidy@2024-05-01T10:22:00Z"


@pytest.mark.parametrize(("mode", "ran"), [("none", []), ("latest", ["08:05"]), ("all", ["08:03", "08:04", "08:05"])])
def test_catch_up_follows_its_mode(tmp_path: Path, mode: str, ran: list[str]) -> None:
    changed = minutely(catch_up=mode)
    engine = new_queue(tmp_path, changed, now=START + 2.5 * MINUTE)
    plan(engine, START + 5.5 * MINUTE)
    planned = [name[-9:-4] for name, state in sorted(states(engine).items()) if state == "queued"]
    assert planned == [*ran, "08:06"]
    assert len(said(engine, "skipped")) == 3 - len(ran)


def test_a_year_of_outage_is_bounded_per_pass_and_never_latches_a_job_off(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    later = START + timedelta(days=365)
    assert plan(engine, later + timedelta(seconds=20)) == 2
    assert len(said(engine, "skipped")) == RECORD_LIMIT
    assert [one.run_id for one in take(engine, moment(later + timedelta(seconds=21)))] == [
        f"tidy@{format_instant(later)}"
    ]
    plan(engine, later + timedelta(seconds=22))
    assert len(said(engine, "skipped")) == 2 * RECORD_LIMIT
    assert len({event["slot"] for event in said(engine, "skipped")}) == 2 * RECORD_LIMIT


def test_a_clock_that_steps_back_plans_nothing_twice(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    plan(engine, START + 10 * MINUTE)
    before = states(engine)
    assert plan(engine, START + 5 * MINUTE) == 0
    assert states(engine) == before


def test_a_slot_carries_its_own_jitter_as_due(tmp_path: Path) -> None:
    schedule = Schedule(timezone="UTC", cron="* * * * *", jitter=timedelta(seconds=30))
    engine = new_queue(tmp_path, minutely(schedule=schedule))
    plan(engine, START)
    run = row(engine, "tidy@2026-03-01T08:01:00Z")
    assert run["slot"] < run["due_at"] < run["slot"] + 30_000_000


def test_watched_and_disabled_jobs_are_not_planned(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(run=None), minutely(id="off", enabled=False), job(id="by-hand"))
    assert plan(engine, START + MINUTE) == 0


def test_changing_a_schedule_invents_no_run_and_withdraws_what_is_no_longer_owed(tmp_path: Path) -> None:
    at_seven = START + 7 * MINUTE
    engine = new_queue(tmp_path, minutely(), now=at_seven - MINUTE / 2)
    plan(engine, at_seven)
    quarterly = minutely(schedule=Schedule(timezone="UTC", cron="*/15 * * * *"))
    assert apply_definitions(engine, [quarterly], at_seven + timedelta(seconds=1)) == {"tidy": "changed"}
    assert slots(said(engine, "cancelled")) == ["08:08"]
    plan(engine, at_seven + timedelta(seconds=2))
    assert list(states(engine)) == ["tidy@2026-03-01T08:07:00Z"]
    assert [version.version for version in job_history(engine)] == [1, 2]


def test_a_change_of_words_alone_keeps_what_is_planned_under_the_new_version(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    plan(engine, START + timedelta(seconds=1))
    apply_definitions(engine, [minutely(description="Tidy up", queue="night")], START + timedelta(seconds=2))
    plan(engine, START + timedelta(seconds=3))
    run = row(engine, "tidy@2026-03-01T08:01:00Z")
    assert (run["version"], run["queue"]) == (2, "night")
    assert said(engine, "cancelled") == []
    assert len([event for event in said(engine, "queued") if event["run"] == run["run_id"]]) == 1


def test_a_job_that_left_the_files_is_closed_and_can_come_back(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    plan(engine, START + timedelta(seconds=1))
    assert apply_definitions(engine, [], START + timedelta(seconds=2)) == {"tidy": "removed"}
    assert current_jobs(engine, START + timedelta(seconds=3)) == []
    assert apply_definitions(engine, [], START + timedelta(seconds=3)) == {}
    assert apply_definitions(engine, [minutely()], START + timedelta(seconds=4)) == {"tidy": "added"}
    plan(engine, START + timedelta(seconds=5))
    assert states(engine)["tidy@2026-03-01T08:01:00Z"] == "queued"


def test_the_same_definition_makes_no_version(tmp_path: Path) -> None:
    rich = minutely(run=Command(argv=("a", "b"), env={"X": "1"}), labels={"class": "daily"}, valid_from=START)
    engine = new_queue(tmp_path, rich)
    assert apply_definitions(engine, [rich], START + MINUTE) == {}
    (version,) = current_jobs(engine, START + MINUTE)
    assert version.job == rich


def test_all_that_is_said_is_a_valid_run_event(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    plan(engine, START + 10 * MINUTE)
    take(engine, moment(START + 10 * MINUTE))
    events = [parse_event(event) for event in said(engine)]
    assert {event.type for event in events} == {"queued", "skipped", "started"}
    assert len({event.id for event in events}) == len(events)
