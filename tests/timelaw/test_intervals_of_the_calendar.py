"""`repeat`: every so many days, weeks, months or years, on days that have names."""

from datetime import UTC, date, datetime, timedelta

import pytest

from scheduler.jobs import Calendar, Repeat, Schedule, Unit
from scheduler.timelaw import next_slot, previous_slot, slots_between

SIX = (18 * 3600,)


def schedule(count: int, unit: Unit, starting: date, *on: str, calendar: Calendar | None = None) -> Schedule:
    repeat = Repeat(count=count, unit=unit, times=SIX, starting=starting, on=on)
    return Schedule(repeat=repeat, timezone="Asia/Jakarta", calendar=calendar)


def dates(of: Schedule, first: date, days: int) -> list[str]:
    start = datetime(first.year, first.month, first.day, tzinfo=UTC) - timedelta(days=1)
    return [f"{slot:%Y-%m-%d %H:%M}" for slot in slots_between(of, start, start + timedelta(days=days))]


def test_every_two_weeks_on_friday_counts_from_its_start() -> None:
    found = dates(schedule(2, "week", date(2026, 1, 2), "friday"), date(2026, 1, 1), 45)
    assert found == ["2026-01-02 11:00", "2026-01-16 11:00", "2026-01-30 11:00", "2026-02-13 11:00"]


def test_a_week_that_starts_midway_owes_nothing_before_its_start() -> None:
    found = dates(schedule(1, "week", date(2026, 1, 7), "monday", "friday"), date(2026, 1, 1), 15)
    assert found == ["2026-01-09 11:00", "2026-01-12 11:00"]


def test_every_three_days_goes_on_over_months_and_years() -> None:
    found = dates(schedule(3, "day", date(2025, 12, 30)), date(2025, 12, 28), 14)
    assert found == ["2025-12-30 11:00", "2026-01-02 11:00", "2026-01-05 11:00", "2026-01-08 11:00"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("last business day", ["2026-01-30", "2026-02-27", "2026-03-31", "2026-04-30"]),
        ("first business day", ["2026-01-02", "2026-02-02", "2026-03-02", "2026-04-01"]),
        ("3rd business day", ["2026-01-06", "2026-02-04", "2026-03-04", "2026-04-03"]),
        ("last day", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]),
        ("31", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]),
        ("2nd tuesday", ["2026-01-13", "2026-02-10", "2026-03-10", "2026-04-14"]),
        ("last friday", ["2026-01-30", "2026-02-27", "2026-03-27", "2026-04-24"]),
        ("5th friday", ["2026-01-30"]),
    ],
)
def test_a_monthly_interval_knows_the_days_of_a_month_by_name(word: str, expected: list[str]) -> None:
    calendar = Calendar(dates=(date(2026, 1, 1),))
    found = dates(schedule(1, "month", date(2026, 1, 1), word, calendar=calendar), date(2026, 1, 1), 121)
    assert found == [f"{day} 11:00" for day in expected]


def test_every_third_month_and_every_year_keep_their_month() -> None:
    quarterly = dates(schedule(3, "month", date(2026, 1, 15)), date(2026, 1, 1), 365)
    assert [day[5:10] for day in quarterly] == ["01-15", "04-15", "07-15", "10-15"]
    yearly = dates(schedule(2, "year", date(2024, 2, 29), "last day"), date(2024, 1, 1), 365 * 5)
    assert yearly == ["2024-02-29 11:00", "2026-02-28 11:00", "2028-02-29 11:00"]


def test_an_interval_has_a_first_slot_and_none_before_it() -> None:
    weekly = schedule(2, "week", date(2026, 1, 2), "friday")
    first = datetime(2026, 1, 2, 11, tzinfo=UTC)
    tick = timedelta(microseconds=1)
    assert next_slot(weekly, datetime(2020, 1, 1, tzinfo=UTC)) == first
    assert [previous_slot(weekly, at) for at in (first - tick, first, first + tick)] == [None, first, first]


def test_an_interval_keeps_its_local_time_over_a_clock_change() -> None:
    repeat = Repeat(count=1, unit="day", times=(2 * 3600 + 1800,), starting=date(2026, 3, 28))
    berlin = Schedule(repeat=repeat, timezone="Europe/Berlin")
    found = slots_between(berlin, datetime(2026, 3, 27, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC))
    assert [f"{slot:%d %H:%M}" for slot in found] == ["28 01:30", "29 01:00", "30 00:30"]
