"""Slots that the definition excuses: nobody queues them, nobody says anything of them, nobody can make them up."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from queueing.farm import START, minutely, new_queue, said, states

from scheduler.jobs import Calendar, Job, Schedule, Window
from scheduler.planner import plan
from scheduler.queue import make_up_slot
from scheduler.registry import apply_definitions

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
MORNING = Window(start=8 * 3600 + 120, end=8 * 3600 + 240, timezone="UTC")
FEAST = Calendar(name="feast", dates=(date(2026, 3, 2),))


def half_hourly(**changes: object) -> Job:
    schedule = Schedule(timezone="Asia/Jakarta", cron="*/30 * * * *", calendar=FEAST, holidays="skip")
    return minutely(schedule=schedule, **changes)


def planned(folder: Path, job: Job, since: datetime, length: timedelta) -> list[str]:
    engine = new_queue(folder, job, now=since)
    plan(engine, since, horizon=length)
    return sorted(name.partition("@")[2] for name in states(engine))


def test_only_slots_inside_the_batch_window_are_queued(tmp_path: Path) -> None:
    found = planned(tmp_path, minutely(window=MORNING), START, 6 * MINUTE)
    assert found == ["2026-03-01T08:02:00Z", "2026-03-01T08:03:00Z"]


def test_only_slots_before_and_after_a_holiday_are_queued(tmp_path: Path) -> None:
    # In Jakarta the second of March lasts from 17:00 UTC on the first to 17:00 UTC on the second.
    since = datetime(2026, 3, 1, 16, 0, 1, tzinfo=UTC)
    found = planned(tmp_path, half_hourly(), since, 25.5 * HOUR)
    assert found == ["2026-03-01T16:30:00Z", "2026-03-02T17:00:00Z", "2026-03-02T17:30:00Z"]


def test_excused_slots_leave_no_event(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(window=MORNING, catch_up="none"))
    plan(engine, START + HOUR)
    assert [event["slot"] for event in said(engine)] == ["2026-03-01T08:02:00Z", "2026-03-01T08:03:00Z"]
    assert {event["type"] for event in said(engine)} == {"skipped"}


def test_catch_up_goes_past_excused_slots_to_the_newest_that_is_owed(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, half_hourly(), now=datetime(2026, 3, 1, 15, 59, tzinfo=UTC))
    plan(engine, datetime(2026, 3, 2, 16, 40, tzinfo=UTC))
    assert states(engine) == {"tidy@2026-03-01T16:00:00Z": "skipped", "tidy@2026-03-01T16:30:00Z": "queued"}


def test_an_excused_slot_that_is_due_now_does_not_stand_for_a_passed_over_one(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, half_hourly(), now=datetime(2026, 3, 1, 16, 1, tzinfo=UTC))
    plan(engine, datetime(2026, 3, 1, 17, 0, tzinfo=UTC))
    assert states(engine) == {"tidy@2026-03-01T16:30:00Z": "queued"}


@pytest.mark.parametrize(
    "change",
    [
        {"window": Window(start=0, end=60, timezone="UTC")},
        {"enabled": False},
        {
            "schedule": Schedule(
                timezone="UTC",
                cron="* * * * *",
                calendar=Calendar(name="today", dates=(date(2026, 3, 1),)),
                holidays="skip",
            )
        },
    ],
)
def test_a_queued_slot_that_a_new_version_excuses_is_withdrawn(tmp_path: Path, change: dict[str, object]) -> None:
    engine = new_queue(tmp_path, minutely(), now=START + SECOND)
    plan(engine, START + SECOND)
    assert list(states(engine)) == ["tidy@2026-03-01T08:01:00Z"]
    apply_definitions(engine, [minutely(**change)], START + 2 * SECOND)
    assert states(engine) == {}
    assert said(engine, "cancelled")[0]["data"] == {"reason": "definition changed"}
    plan(engine, START + 3 * SECOND)
    assert states(engine) == {}


def test_a_slot_that_is_owed_again_is_planned_again(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(), now=START + SECOND)
    plan(engine, START + SECOND)
    apply_definitions(engine, [minutely(enabled=False)], START + 2 * SECOND)
    apply_definitions(engine, [minutely()], START + 3 * SECOND)
    plan(engine, START + 4 * SECOND)
    assert states(engine) == {"tidy@2026-03-01T08:01:00Z": "queued"}


@pytest.mark.parametrize(
    ("job", "slot", "why"),
    [
        (minutely(window=MORNING), START + MINUTE, "it lies outside the job's batch window"),
        (minutely(window=MORNING), START + 4 * MINUTE, "it lies outside the job's batch window"),
        (half_hourly(), datetime(2026, 3, 1, 17, 0, tzinfo=UTC), "it falls on a holiday of its calendar"),
        (minutely(enabled=False), START, "the job is not enabled"),
    ],
)
def test_an_excused_slot_is_not_made_up(tmp_path: Path, job: Job, slot: datetime, why: str) -> None:
    engine = new_queue(tmp_path, job)
    with pytest.raises(
        ValueError, match=f"is excused by its definition: {why}; .* `tepat run tidy` makes an extra run"
    ):
        make_up_slot(engine, "tidy", slot, START + 48 * HOUR)
    assert states(engine) == {}


@pytest.mark.parametrize("minute", [2, 3])
def test_a_slot_inside_the_window_is_made_up(tmp_path: Path, minute: int) -> None:
    engine = new_queue(tmp_path, minutely(window=MORNING))
    assert make_up_slot(engine, "tidy", START + minute * MINUTE, START + HOUR) == f"tidy@2026-03-01T08:0{minute}:00Z"
