"""After an outage or a step of the clock: which passed-over slots run, and what is said of the others."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from queueing.farm import START, minutely, new_queue, said, states, take, take_one
from sqlalchemy import Engine

from scheduler.endings import Result, finish
from scheduler.instants import format_instant, from_micros
from scheduler.jobs import Job, Schedule, Window
from scheduler.leases import Moment, clock_step
from scheduler.planner import look, plan
from scheduler.policy import CaughtUp, catch_up
from scheduler.registry import JobVersion, apply_definitions
from scheduler.timelaw import jitter_of

SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)
MICRO = timedelta(microseconds=1)
DOWN = datetime(2024, 5, 1, 8, 28, 30, tzinfo=UTC)
BACK = datetime(2024, 5, 1, 10, 21, tzinfo=UTC)
PAST = [START + number * MINUTE for number in range(5)]
NOW = START + 10 * MINUTE


def moment(now: datetime) -> Moment:
    return Moment(now, 1_000_000, "this-boot")


def clock_of(slot: datetime) -> str:
    return format_instant(slot)[11:16]


def skips(engine: Engine) -> dict[str, str]:
    """The reason of each skip, by slot."""
    return {event["slot"][11:16]: event["data"]["reason"] for event in said(engine, "skipped")}


def queued(engine: Engine, now: datetime) -> list[str]:
    """Slots that are due and wait."""
    due = [name for name, state in states(engine).items() if state == "queued"]
    return sorted(name.partition("@")[2][11:16] for name in due if name.partition("@")[2] <= format_instant(now))


def started_up(folder: Path, *, until: datetime = DOWN, **changes: Any) -> Engine:
    """A minutely job whose slots up to 08:28 are done, and whose scheduler last looked half a minute later."""
    engine = new_queue(folder, minutely(**changes), now=until - MINUTE)
    plan(engine, until - MINUTE)
    done = moment(until - MINUTE / 2)
    finish(engine, done, take_one(engine, done), Result(None, 1.0))
    plan(engine, until - MINUTE / 2)
    plan(engine, until)
    return engine


def look_back(job: Job, mark: datetime, now: datetime) -> Any:
    assert job.schedule is not None
    return look(JobVersion(job, 1, mark, None), job.schedule, mark, now, MINUTE)


def test_c01_the_newest_slot_starts_and_112_are_recorded(tmp_path: Path) -> None:
    engine = started_up(tmp_path)
    plan(engine, BACK)
    started = take_one(engine, moment(BACK))
    assert started.run_id == "tidy@2024-05-01T10:21:00Z"
    assert (len(skips(engine)), set(skips(engine).values())) == (112, {"catch_up"})
    assert (min(skips(engine)), max(skips(engine))) == ("08:29", "10:20")
    finish(engine, moment(BACK + SECOND), started, Result(None, 1.0))
    plan(engine, BACK + SECOND)
    assert take_one(engine, moment(BACK + MINUTE)).run_id == "tidy@2024-05-01T10:22:00Z"


def test_c01_with_a_deadline_of_200_seconds_exactly_four_slots_are_inside(tmp_path: Path) -> None:
    engine = started_up(tmp_path, catch_up="all", start_deadline=200 * SECOND)
    plan(engine, BACK)
    assert queued(engine, BACK) == ["10:18", "10:19", "10:20", "10:21"]
    assert len(skips(engine)) == 113 - 4
    # The newest 100 of those passed over were wanted: the deadline alone excludes them, and the mode the rest.
    old = sorted(slot for slot, reason in skips(engine).items() if reason == "catch_up")
    assert old == [f"08:{minute}" for minute in range(29, 41)]
    assert skips(engine)["08:41"] == skips(engine)["10:17"] == "deadline"


@pytest.mark.parametrize(("step", "inside"), [(-MICRO, True), (timedelta(0), True), (MICRO, False)])
def test_c01_a_slot_is_inside_up_to_its_deadline(step: timedelta, inside: bool) -> None:
    job = minutely(catch_up="all", catch_up_deadline=5 * MINUTE)
    found = catch_up(job, PAST, PAST[2] + 5 * MINUTE + step, has_current=True)
    assert found == CaughtUp(frozenset(PAST[2 if inside else 3 :]), frozenset(PAST[: 2 if inside else 3]))


def test_latest_wants_the_newest_unless_one_is_due_right_now() -> None:
    latest, nothing = minutely(), CaughtUp()
    assert catch_up(latest, PAST, NOW, has_current=False) == CaughtUp(frozenset(PAST[-1:]))
    assert catch_up(latest, PAST, NOW, has_current=True) == nothing
    assert catch_up(latest, [], NOW, has_current=False) == nothing
    assert catch_up(minutely(catch_up="none"), PAST, NOW, has_current=False) == nothing


@pytest.mark.parametrize("limit", [1, 4, 5, 6])
def test_all_runs_the_newest_up_to_its_limit(limit: int) -> None:
    found = catch_up(minutely(catch_up="all", catch_up_limit=limit), PAST, NOW, has_current=True)
    assert found == CaughtUp(frozenset(PAST[-limit:]))


@pytest.mark.parametrize(("step", "runs"), [(-MICRO, True), (timedelta(0), True), (MICRO, False)])
def test_latest_honours_the_deadline_too(step: timedelta, runs: bool) -> None:
    job = minutely(catch_up_deadline=3 * MINUTE)
    found = catch_up(job, PAST, PAST[-1] + 3 * MINUTE + step, has_current=False)
    assert (found.run, found.late) == (frozenset(PAST[-1:] if runs else ()), frozenset(() if runs else PAST[-1:]))
    assert {found.reason(slot) for slot in PAST[:-1]} == {"catch_up"}


def test_the_age_of_a_slot_counts_from_its_own_jitter_on() -> None:
    schedule = Schedule(timezone="UTC", cron="* * * * *", jitter=59 * SECOND)
    job = minutely(schedule=schedule, catch_up="all", catch_up_deadline=MINUTE)
    due = START + jitter_of("tidy", schedule, START)
    assert due > START
    assert catch_up(job, [START], due + MINUTE, has_current=True).run == {START}
    assert catch_up(job, [START], due + MINUTE + MICRO, has_current=True).late == {START}


def test_a_slot_whose_window_has_closed_is_not_caught_up() -> None:
    night = Window(start=22 * 3600, end=5 * 3600, timezone="UTC")
    job = minutely(schedule=Schedule(timezone="UTC", cron="30 4 * * *"), window=night)
    slot, closes = START.replace(hour=4, minute=30), START.replace(hour=5, minute=0)
    assert catch_up(job, [slot], closes - MICRO, has_current=False) == CaughtUp(frozenset({slot}))
    assert catch_up(job, [slot], closes, has_current=False) == CaughtUp(late=frozenset({slot}))


@pytest.mark.parametrize(("mode", "ran"), [("none", []), ("latest", ["08:05"]), ("all", ["08:04", "08:05"])])
def test_each_mode_decides_about_the_same_outage(tmp_path: Path, mode: str, ran: list[str]) -> None:
    engine = new_queue(tmp_path, minutely(catch_up=mode, catch_up_limit=2), now=START + 2.5 * MINUTE)
    plan(engine, START + 5.5 * MINUTE)
    assert queued(engine, START + 5.5 * MINUTE) == ran
    assert skips(engine) == dict.fromkeys(["08:03", "08:04", "08:05"][: 3 - len(ran)], "catch_up")


def test_one_limit_holds_for_rows_left_behind_and_slots_never_planned(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(catch_up="all", catch_up_limit=2), now=START - SECOND)
    plan(engine, START - SECOND, horizon=2 * MINUTE)
    plan(engine, START + 3.5 * MINUTE)
    assert queued(engine, START + 3.5 * MINUTE) == ["08:02", "08:03"]
    assert skips(engine) == {"08:00": "catch_up", "08:01": "catch_up"}


def test_rows_left_behind_past_their_deadline_say_so(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(catch_up="all", catch_up_deadline=90 * SECOND), now=START - SECOND)
    plan(engine, START - SECOND, horizon=2 * MINUTE)
    plan(engine, START + 3.5 * MINUTE)
    assert queued(engine, START + 3.5 * MINUTE) == ["08:02", "08:03"]
    assert skips(engine) == {"08:00": "deadline", "08:01": "deadline"}


def test_c13_a_wake_up_that_is_seconds_late_still_runs_its_slot(tmp_path: Path) -> None:
    slot = datetime(2018, 3, 9, 0, 30, tzinfo=UTC)
    daily = minutely(schedule=Schedule(timezone="UTC", cron="30 0 * * *"))
    engine = new_queue(tmp_path, daily, now=slot - DAY / 2)
    plan(engine, slot - SECOND)
    plan(engine, slot + 1.776 * SECOND)
    claimed = take_one(engine, moment(slot + 1.776 * SECOND))
    assert (claimed.slot, (claimed.started_at - slot).total_seconds()) == (slot, 1.776)


@pytest.mark.parametrize(("mode", "runs", "recorded"), [("latest", ["03:00"], {}), ("none", [], {"03:00": "catch_up"})])
def test_c13_a_weekly_slot_in_the_night_is_caught_up_or_recorded(
    tmp_path: Path, mode: str, runs: list[str], recorded: dict[str, str]
) -> None:
    asleep, awake = datetime(2026, 7, 4, 22, 0, tzinfo=UTC), datetime(2026, 7, 5, 8, 0, tzinfo=UTC)
    weekly = minutely(schedule=Schedule(timezone="UTC", cron="0 3 * * 0"), catch_up=mode)
    engine = new_queue(tmp_path, weekly, now=asleep - DAY)
    plan(engine, asleep)
    plan(engine, awake)
    assert [clock_of(one.slot) for one in take(engine, moment(awake)) if one.slot] == runs
    assert skips(engine) == recorded


def test_c15_a_changed_schedule_makes_no_run_for_what_came_before(tmp_path: Path) -> None:
    changed_at = datetime(2024, 12, 30, 10, 7, tzinfo=UTC)
    old = minutely(schedule=Schedule(timezone="UTC", cron="0 */12 * * *"), catch_up="none")
    new = minutely(schedule=Schedule(timezone="UTC", cron="*/15 * * * *"), catch_up="none")
    engine = new_queue(tmp_path, old, now=changed_at.replace(hour=0, minute=0))
    plan(engine, changed_at.replace(hour=0, minute=0))
    done = moment(changed_at.replace(hour=0, minute=0))
    finish(engine, done, take_one(engine, done), Result(None, 1.0))
    plan(engine, changed_at)
    apply_definitions(engine, [new], changed_at)
    plan(engine, changed_at + SECOND, horizon=38 * MINUTE)
    assert take(engine, moment(changed_at + SECOND)) == []
    assert sorted(states(engine)) == [f"tidy@2024-12-30T{clock}:00Z" for clock in ("00:00", "10:15", "10:30", "10:45")]


def test_c17_a_weekly_interval_fires_though_the_scheduler_restarts_each_day(tmp_path: Path) -> None:
    anchor = datetime(2026, 1, 5, tzinfo=UTC)
    weekly = minutely(schedule=Schedule(timezone="UTC", every=timedelta(days=7), anchor=anchor))
    new_queue(tmp_path, weekly, now=anchor + SECOND).dispose()
    ran: list[str] = []
    for day in range(15):
        engine = new_queue(tmp_path, weekly, now=anchor + day * DAY + DAY / 2)
        for hour in range(12, 36, 4):
            now = anchor + day * DAY + timedelta(hours=hour)
            plan(engine, now)
            for claimed in take(engine, moment(now)):
                ran.append(claimed.run_id)
                finish(engine, moment(now), claimed, Result(None, 1.0))
        engine.dispose()
    assert ran == ["tidy@2026-01-12T00:00:00Z", "tidy@2026-01-19T00:00:00Z"]


def test_c21_a_clock_that_steps_back_runs_a_slot_once(tmp_path: Path) -> None:
    midnight = datetime(2026, 3, 2, tzinfo=UTC)
    engine = new_queue(tmp_path, minutely(schedule=Schedule(timezone="UTC", cron="0 0 * * *")), now=midnight - DAY / 2)
    readings = [-1.0, 0.0, 30.0, -60.0, -1.0, 0.0, 1.0, 86_399.0]
    ran: list[str] = []
    for reading in readings:
        now = midnight + reading * SECOND
        plan(engine, now)
        for claimed in take(engine, moment(now)):
            ran.append(claimed.run_id)
            finish(engine, moment(now), claimed, Result(None, 1.0))
    assert ran == ["tidy@2026-03-02T00:00:00Z"]
    plan(engine, midnight + DAY)
    assert take_one(engine, moment(midnight + DAY)).run_id == "tidy@2026-03-03T00:00:00Z"


def test_c21_after_a_step_back_an_outage_is_still_seen(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(catch_up="none"), now=START - SECOND)
    plan(engine, START + 60 * MINUTE, horizon=SECOND)
    plan(engine, START + 57 * MINUTE, horizon=SECOND)
    with engine.begin() as connection:
        looked_at = connection.exec_driver_sql("SELECT looked_at FROM marks").scalar_one()
    assert from_micros(looked_at) == START + 57 * MINUTE


def test_c21_a_slot_that_ran_stays_run_though_its_job_is_changed_after_the_step_back(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(), now=START - SECOND)
    plan(engine, START)
    finish(engine, moment(START), take_one(engine, moment(START)), Result(None, 1.0))
    apply_definitions(engine, [minutely(description="changed")], START - 90 * SECOND)
    plan(engine, START - 90 * SECOND)
    plan(engine, START)
    assert take(engine, moment(START)) == []
    assert states(engine)["tidy@2026-03-01T08:00:00Z"] == "succeeded"


@pytest.mark.parametrize("worker_looks_first", [False, True])
def test_c21_after_a_step_forward_the_newest_slot_runs_and_nine_are_recorded(
    tmp_path: Path, worker_looks_first: bool
) -> None:
    before, after = START + 30 * SECOND, START + 630 * SECOND
    engine = new_queue(tmp_path, minutely(), now=START + SECOND)
    plan(engine, before)
    if worker_looks_first:
        assert take(engine, moment(after)) == []
    plan(engine, after, note={"clock_step": 600.0})
    assert [clock_of(one.slot) for one in take(engine, moment(after)) if one.slot] == ["08:10"]
    assert skips(engine) == {f"08:0{minute}": "catch_up" for minute in range(1, 10)}
    told = {event["slot"][11:16] for event in said(engine, "queued") if event["data"].get("clock_step") == 600.0}
    assert told == {"08:10"}  # the run that stands for the passed-over ones, and none that was planned as ever


@pytest.mark.parametrize(
    ("wall", "boot", "step"),
    [
        (1.0, 1.0, None),
        (2.999999, 1.0, None),
        (3.0, 1.0, 2.0),
        (3.000001, 1.0, 2.000001),
        (-1.0, 1.0, -2.0),
        (-0.999999, 1.0, None),
        (601.0, 1.0, 600.0),
        (601.0, 601.0, None),
    ],
)
def test_a_clock_that_was_set_is_told_from_time_that_passed(wall: float, boot: float, step: float | None) -> None:
    before = Moment(START, 5_000_000, "this-boot")
    after = Moment(START + timedelta(seconds=wall), 5_000_000 + round(boot * 1_000_000), "this-boot")
    assert clock_step(before, after) == step
    assert clock_step(before, Moment(after.now, after.boot, "another-boot")) is None


def test_a_worker_goes_on_with_what_was_due_when_its_scheduler_died(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(concurrency=1), now=START - SECOND)
    plan(engine, START)
    assert take_one(engine, moment(START + 40 * SECOND)).slot == START


def test_a_year_of_excused_slots_is_walked_past_in_bounded_steps() -> None:
    closed = Window(start=0, end=60, timezone="UTC")
    job = minutely(window=closed)
    found = look_back(job, START, START + 365 * DAY)
    assert (len(found.skip), found.caught_up) == (69, CaughtUp(late=frozenset({datetime(2027, 3, 1, tzinfo=UTC)})))
    assert START < found.planned_until < START + 365 * DAY
