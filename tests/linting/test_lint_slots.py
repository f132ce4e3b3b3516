"""Jobs with nothing due, intervals that wander over the day, and many jobs at one instant."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from linting.asking import QUIET, codes, cron, findings, message

from scheduler.jobs import Calendar, Job, Repeat, Schedule, Window
from scheduler.linting.collisions import MAX_AT_ONCE
from scheduler.linting.jobs import job_findings
from scheduler.linting.slots import SLOTS_JUDGED, shortest_interval

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
NIGHT = Window(start=22 * 3600, end=5 * 3600, timezone="UTC")
INDONESIA = Calendar(name="id", country="ID")


def due(*instants: datetime) -> Job:
    return replace(QUIET, schedule=Schedule(timezone="UTC", at=instants))


@pytest.mark.parametrize(
    ("valid_from", "expected"), [(NOON - SECOND, []), (NOON, []), (NOON + SECOND, [("error", "never_fires")])]
)
def test_instants_before_the_job_is_valid_never_fire(valid_from: datetime, expected: list[tuple[str, str]]) -> None:
    found = findings(replace(due(NOON - timedelta(days=9), NOON), valid_from=valid_from))
    assert [(finding.level, finding.code) for finding in found] == expected


def test_a_job_valid_too_late_is_told_its_last_slot() -> None:
    assert message(replace(due(NOON), valid_from=NOON + timedelta(days=1))) == (
        "never fires: it is valid from 2026-05-02T12:00:00Z, and its last slot is 2026-05-01T12:00:00Z; "
        "give it a later slot, or an earlier valid_from"
    )


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC), [("warning", "never_fires")]),
        (datetime(2026, 1, 1, tzinfo=UTC), []),
        (datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC), []),
    ],
)
def test_a_schedule_that_is_over_is_a_warning(last: datetime, expected: list[tuple[str, str]]) -> None:
    assert [(finding.level, finding.code) for finding in findings(due(last))] == expected


def test_years_that_are_used_up_are_a_warning_with_the_last_slot() -> None:
    job = cron("0 9 1 1 ? 2024-2025", dialect="aws")
    assert message(job) == (
        "nothing is due in 2026 or later: its last slot is 2025-01-01T09:00:00Z; remove the job, or give it new slots"
    )
    assert codes(job, year=2025) == []
    assert codes(job, year=2023) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("59 21 * * *", ["never_fires"]),
        ("0 22 * * *", []),
        ("59 4 * * *", []),
        ("0 5 * * *", ["never_fires"]),
        ("0 12,23 * * *", []),
        ("5 9-17 * * *", ["never_fires"]),
    ],
)
def test_a_window_that_lets_no_slot_start_is_an_error(text: str, expected: list[str]) -> None:
    found = findings(replace(cron(text), window=NIGHT))
    assert [finding.code for finding in found] == expected
    assert all(finding.level == "error" for finding in found)


def test_the_slots_that_a_window_shuts_out_are_counted() -> None:
    assert message(replace(cron("0 12 * * *"), window=NIGHT)) == (
        "never fires: each of its 365 slots in 2026 is skipped, because it is outside the job's window; "
        "move the schedule, the window or the calendar"
    )


def test_a_job_that_is_switched_off_is_judged_as_if_it_were_on() -> None:
    assert codes(replace(cron("0 12 * * *"), window=NIGHT, enabled=False)) == ["never_fires"]
    assert codes(replace(cron("0 23 * * *"), window=NIGHT, enabled=False)) == []


def test_a_window_is_judged_only_from_where_the_job_is_valid() -> None:
    job = replace(due(NOON - timedelta(hours=12), NOON), window=NIGHT)
    assert codes(job) == []
    assert codes(replace(job, valid_from=NOON)) == ["never_fires"]


@pytest.mark.parametrize(("text", "expected"), [("0 9 17 8 *", ["never_fires"]), ("0 9 16 8 *", [])])
def test_holidays_that_take_every_slot_of_the_year_are_a_warning(text: str, expected: list[str]) -> None:
    schedule = Schedule(timezone="Asia/Jakarta", cron=text, calendar=INDONESIA, holidays="skip")
    found = findings(replace(QUIET, schedule=schedule))
    assert [finding.code for finding in found] == expected
    assert all(finding.level == "warning" for finding in found)


def test_a_job_with_too_many_slots_to_look_at_is_left_alone() -> None:
    often = replace(cron("* * 9-17 * * ?", dialect="quartz"), window=NIGHT)
    assert SLOTS_JUDGED < 9 * 3600 * 365
    assert "never_fires" not in codes(often)


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        (timedelta(minutes=6), []),
        (timedelta(minutes=7), ["uneven_every"]),
        (timedelta(minutes=8), []),
        (timedelta(seconds=10), []),
        (timedelta(hours=5), ["uneven_every"]),
        (timedelta(days=1), []),
        (timedelta(hours=36), ["uneven_every"]),
        (timedelta(weeks=1), []),
    ],
)
def test_an_interval_that_does_not_divide_a_day_is_told(every: timedelta, expected: list[str]) -> None:
    assert codes(replace(QUIET, schedule=Schedule(timezone="UTC", every=every))) == expected


def test_an_interval_with_an_anchor_is_meant() -> None:
    anchored = Schedule(timezone="UTC", every=timedelta(minutes=7), anchor=NOON)
    assert codes(replace(QUIET, schedule=anchored)) == []
    assert message(replace(QUIET, schedule=Schedule(timezone="UTC", every=timedelta(minutes=7)))) == (
        "`every: 7m` does not divide a day: counted in real seconds from 1970-01-01T00:00:00Z, its times of day move "
        "from day to day; give an `anchor` if that is meant, or use `cron`"
    )


@pytest.mark.parametrize(
    ("schedule", "seconds"),
    [
        (Schedule(timezone="UTC", every=timedelta(minutes=7)), 420),
        (Schedule(timezone="UTC", cron="*/11 * * * *"), 300),
        (Schedule(timezone="UTC", cron="0 9,17 * * *"), 8 * 3600),
        (Schedule(timezone="Europe/Berlin", cron="0 2 * * *"), 23 * 3600),  # over the night of the change in March
        (Schedule(timezone="UTC", cron="0 9 1 * *"), 28 * 86400),
        (Schedule(timezone="UTC", cron="0 9 1 1 *"), None),
        (Schedule(timezone="UTC", at=(NOON, NOON + SECOND)), 1),
        (Schedule(timezone="UTC", at=(NOON,)), None),
        (Schedule(timezone="UTC", cron="@reboot"), None),
        (Schedule(timezone="UTC", cron="0 9 * * *", also=(Schedule(timezone="UTC", cron="5 9 * * *"),)), 300),
        (Schedule(timezone="UTC", repeat=Repeat(count=1, unit="day", times=(0, 60), starting=date(2026, 1, 1))), 60),
    ],
)
def test_the_shortest_time_between_two_slots_of_a_year(schedule: Schedule, seconds: int | None) -> None:
    assert shortest_interval(schedule, 2026) == (None if seconds is None else timedelta(seconds=seconds))


def crowd(count: int, change: Callable[[Job], Job] = lambda job: job) -> list[str]:
    jobs = [change(replace(QUIET, id=f"j{number}")) for number in range(count)]
    return [finding.code for finding in job_findings(jobs, {}, 2026)]


@pytest.mark.parametrize(
    ("count", "expected"), [(MAX_AT_ONCE - 1, []), (MAX_AT_ONCE, []), (MAX_AT_ONCE + 1, ["collision"])]
)
def test_more_than_ten_jobs_of_a_queue_at_one_instant_are_told_once(count: int, expected: list[str]) -> None:
    assert crowd(count) == expected


def test_the_fullest_instant_of_a_queue_is_named() -> None:
    jobs = [replace(QUIET, id=f"j{number}") for number in range(11)]
    (finding,) = job_findings(jobs, {job.id: f"jobs.yaml#{job.id}" for job in jobs}, 2026)
    assert (finding.level, finding.where) == ("warning", "jobs.yaml#j0")
    assert finding.message == (
        "11 jobs of queue default start at 2026-01-01T09:00:00Z: j0, j1, j2, j3, j4 and 6 more; "
        "spread them with `H` in the cron fields or with `jitter`"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda job: replace(job, queue=job.id),
        lambda job: replace(job, enabled=False),
        lambda job: replace(job, run=None, run_deadline=SECOND),
        lambda job: replace(job, schedule=Schedule(timezone="UTC", cron="0 9 * * *", jitter=timedelta(hours=1))),
        lambda job: replace(job, schedule=Schedule(timezone="UTC", cron=f"{job.id[1:]} 9 * * *")),
        lambda job: replace(job, schedule=None),
    ],
    ids=["queues", "disabled", "watched", "jitter", "minutes", "by hand"],
)
def test_jobs_that_do_not_start_together_here_are_no_collision(change: Callable[[Job], Job]) -> None:
    assert crowd(20, change) == []
