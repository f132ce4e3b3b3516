"""Slots of schedules: the cases that schedulers in the field get wrong."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.instants import format_instant, from_micros, parse_instant
from scheduler.jobs import Schedule
from scheduler.timelaw import ScheduleError, check_cron, jitter_of, next_slot, previous_slot, slots_between

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",
    "Australia/Lord_Howe",
    "Asia/Jakarta",
    "Etc/GMT-1",
)
EXPRESSIONS = ("*/30 * * * *", "0 2 * * *", "30 1 * * *", "30 2 * * *", "0 */2 * * *", "0 0 1 * *", "15 3 * * 0")


def cron(text: str, zone: str) -> Schedule:
    return Schedule(cron=text, timezone=zone)


def slots(text: str, zone: str, after: str, until: str) -> list[str]:
    return [
        format_instant(slot)[:16] + "Z"
        for slot in slots_between(cron(text, zone), parse_instant(after), parse_instant(until))
    ]


def test_the_hour_that_comes_twice_runs_a_daily_job_once() -> None:
    found = slots("0 2 * * *", "Europe/Berlin", "2023-10-27T12:00Z", "2023-10-30T12:00Z")
    assert found == ["2023-10-28T00:00Z", "2023-10-29T00:00Z", "2023-10-30T01:00Z"]


def test_a_time_inside_the_gap_runs_at_the_first_minute_after_it() -> None:
    found = slots("30 2 * * *", "America/New_York", "2026-03-08T06:30Z", "2026-03-10T06:30Z")
    assert found == ["2026-03-08T07:00Z", "2026-03-09T06:30Z", "2026-03-10T06:30Z"]


@pytest.mark.parametrize(
    ("text", "zone", "after", "expected"),
    [
        ("0 0 * * *", "Europe/Prague", "2026-03-28T23:30Z", "2026-03-29T22:00:00Z"),
        ("0 8 * * 0", "America/Chicago", "2026-03-08T05:45Z", "2026-03-08T13:00:00Z"),
        ("0 12 * * 0", "Europe/Berlin", "2022-03-24T11:00Z", "2022-03-27T10:00:00Z"),
        ("* * * */3 *", "America/New_York", "2015-02-15T05:00Z", "2015-04-01T04:00:00Z"),
        ("0 0 * * *", "America/Santiago", "2025-09-06T04:00Z", "2025-09-07T04:00:00Z"),
        ("35 5 * * *", "Etc/GMT-1", "2020-02-28T05:39:46Z", "2020-02-29T04:35:00Z"),
        ("30 7 * * 4", "UTC", "2018-02-10T00:00Z", "2018-02-15T07:30:00Z"),
        ("0 0 29 2 *", "UTC", "2096-03-01T00:00Z", "2104-02-29T00:00:00Z"),
    ],
)
def test_no_day_or_week_is_jumped_over(text: str, zone: str, after: str, expected: str) -> None:
    found = next_slot(cron(text, zone), parse_instant(after))
    assert found is not None and format_instant(found) == expected


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 9 */2 * 1", [11, 25]),
        ("0 16 1,2,3 * FRI", [1, 2, 3, 8, 15, 22, 29]),
        ("0 0 1-7 * MON", [1, 2, 3, 4, 5, 6, 7, 11, 18, 25]),
        ("0 0 13 * 5", [1, 8, 13, 15, 22, 29]),
    ],
)
def test_two_restricted_day_fields_mean_either(text: str, days: list[int]) -> None:
    found = slots(text, "UTC", "2026-04-30T23:59Z", "2026-05-31T23:59Z")
    assert [int(slot[8:10]) for slot in found] == days


@pytest.mark.parametrize(
    "text", ["0 0 31 4 *", "0 0 30 2 *", "0 0 31 4,6 *", "61 * * * *", "0 0 12 ? * MON-FRI", "_ */3 * * *"]
)
def test_a_schedule_that_can_never_fire_or_be_read_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError):
        check_cron(text)


def test_every_counts_real_seconds_from_its_anchor_whatever_restarts() -> None:
    anchor = datetime(2026, 1, 5, tzinfo=UTC)
    weekly = Schedule(every=timedelta(days=7), anchor=anchor, timezone="Europe/Berlin")
    found = slots_between(weekly, anchor, datetime(2026, 1, 20, tzinfo=UTC))
    assert found == [datetime(2026, 1, 12, tzinfo=UTC), datetime(2026, 1, 19, tzinfo=UTC)]


def test_jitter_is_the_same_whenever_it_is_asked_and_below_its_bound() -> None:
    schedule = Schedule(every=timedelta(minutes=1), timezone="UTC", jitter=timedelta(seconds=10))
    slot = datetime(2026, 1, 1, tzinfo=UTC)
    found = [jitter_of("job", schedule, slot + timedelta(minutes=n)) for n in range(100)]
    assert found == [jitter_of("job", schedule, slot + timedelta(minutes=n)) for n in range(100)]
    assert all(timedelta(0) <= value < timedelta(seconds=10) for value in found)
    assert len(set(found)) > 90


@given(
    st.sampled_from(EXPRESSIONS),
    st.sampled_from(ZONES),
    st.integers(946684800, 2114380800).map(lambda seconds: from_micros(seconds * 1_000_000)),
)
def test_previous_now_and_next_agree_with_the_enumeration(text: str, zone: str, now: datetime) -> None:
    schedule = cron(text, zone)
    before, after = previous_slot(schedule, now), next_slot(schedule, now)
    assert before is not None and after is not None
    assert before <= now < after
    assert slots_between(schedule, before, after) == [after]
    assert slots_between(schedule, before - timedelta(microseconds=1), now) == [before]
