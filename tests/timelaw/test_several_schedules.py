"""Several schedules on one job, jitter, and the laws that hold for every kind of schedule."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.jobs import REBOOT, Calendar, Repeat, Schedule
from scheduler.timelaw import jitter_bound, jitter_of, next_slot, parts, previous_slot, slots_between

START = datetime(2026, 3, 25, tzinfo=UTC)
WEEKDAYS = Schedule(cron="0 9 * * 1-5", timezone="Europe/Berlin", jitter=timedelta(seconds=30))
HOURLY = Schedule(every=timedelta(hours=1), timezone="UTC", jitter=timedelta(seconds=90))
ONCE = Schedule(at=(START + timedelta(hours=8), START + timedelta(hours=8, minutes=30)), timezone="UTC")
MONTHLY = Schedule(
    repeat=Repeat(count=1, unit="month", times=(9 * 3600,), starting=date(2026, 1, 1), on=("last business day",)),
    timezone="Europe/Berlin",
    calendar=Calendar(country="DE"),
)
LITERAL = Schedule(cron="30 2 * * *", timezone="Europe/Berlin", dst="literal")
KINDS = (WEEKDAYS, HOURLY, ONCE, MONTHLY, LITERAL)


def together(*schedules: Schedule) -> Schedule:
    first, *others = schedules
    return Schedule(
        timezone=first.timezone, cron=first.cron, every=first.every, at=first.at, repeat=first.repeat, dst=first.dst,
        jitter=first.jitter, calendar=first.calendar, also=tuple(others),
    )  # fmt: skip


def test_an_instant_that_several_schedules_name_is_one_slot() -> None:
    both = together(WEEKDAYS, HOURLY, ONCE)
    found = slots_between(both, START + timedelta(hours=7, minutes=30), START + timedelta(hours=9))
    assert found == [START + timedelta(hours=hour) for hour in (8, 8.5, 9)]
    assert parts(both)[1:] == (HOURLY, ONCE)


def test_the_first_schedule_that_names_a_slot_gives_its_jitter() -> None:
    both = together(WEEKDAYS, HOURLY)
    shared, hourly = START + timedelta(hours=8), START + timedelta(hours=9)
    assert jitter_of("job", both, shared) == jitter_of("job", WEEKDAYS, shared)
    assert jitter_of("job", both, hourly) == jitter_of("job", HOURLY, hourly)
    assert jitter_bound(both) == timedelta(seconds=90)


def test_a_run_at_the_hosts_start_has_no_slots() -> None:
    reboot = Schedule(cron=REBOOT, timezone="UTC")
    assert slots_between(reboot, START, START + timedelta(days=400)) == []
    assert next_slot(reboot, START) is None and previous_slot(reboot, START) is None
    assert next_slot(together(reboot, HOURLY), START) == START + timedelta(hours=1)


@pytest.mark.parametrize("tick", [-1, 0, 1])
def test_fixed_instants_are_counted_once_whatever_their_order(tick: int) -> None:
    a, b = START, START + timedelta(hours=1)
    schedule = Schedule(at=(b, a, b), timezone="UTC")
    assert slots_between(schedule, a - timedelta(hours=1), b) == [a, b]
    at = a + tick * timedelta(microseconds=1)
    assert previous_slot(schedule, at) == (None if tick < 0 else a)
    assert next_slot(schedule, at) == (a if tick < 0 else b)


@given(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    st.integers(0, 366 * 24 * 60),
    st.integers(1, 40 * 24 * 60),
)
def test_for_every_schedule_forwards_backwards_and_in_bulk_are_the_same(
    chosen: list[Schedule], minute: int, length: int
) -> None:
    schedule = together(*chosen)
    after = START + timedelta(minutes=minute)
    until = after + timedelta(minutes=length)
    bulk = slots_between(schedule, after, until)
    assert bulk == sorted(set(bulk)) and all(after < slot <= until for slot in bulk)
    forwards, slot = [], next_slot(schedule, after)
    while slot is not None and slot <= until:
        forwards.append(slot)
        slot = next_slot(schedule, slot)
    backwards, slot = [], previous_slot(schedule, until)
    while slot is not None and slot > after:
        backwards.append(slot)
        slot = previous_slot(schedule, slot - timedelta(microseconds=1))
    assert forwards == bulk == backwards[::-1]
