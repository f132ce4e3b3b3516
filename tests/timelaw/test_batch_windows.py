"""Batch windows: inside or outside, and when they close, on days of every length."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.batch_windows import closes_at, inside
from scheduler.instants import parse_instant
from scheduler.jobs import Job, Schedule, Window
from scheduler.offsets import wall
from scheduler.timelaw import skipped_by

NIGHT = Window(start=22 * 3600, end=5 * 3600, timezone="Europe/Berlin")


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-06-01T19:59:59Z", False),  # 21:59:59 in Berlin
        ("2026-06-01T20:00:00Z", True),
        ("2026-06-01T20:00:01Z", True),
        ("2026-06-02T02:59:59Z", True),
        ("2026-06-02T03:00:00Z", False),  # 05:00
        ("2026-06-02T03:00:01Z", False),
        ("2026-06-01T22:00:00Z", True),  # midnight itself
    ],
)
def test_a_window_over_midnight_opens_and_closes_to_the_second(at: str, expected: bool) -> None:
    assert inside(NIGHT, parse_instant(at)) is expected


def test_a_window_within_a_day_does_not_reach_over_midnight() -> None:
    day = Window(start=9 * 3600, end=17 * 3600, timezone="UTC")
    readings = [inside(day, datetime(2026, 6, 1, hour, tzinfo=UTC)) for hour in (0, 8, 9, 16, 17, 23)]
    assert readings == [False, False, True, True, False, False]


@pytest.mark.parametrize(
    ("at", "closes"),
    [
        ("2026-06-01T20:00:00Z", "2026-06-02T03:00:00Z"),
        ("2026-06-02T02:59:59Z", "2026-06-02T03:00:00Z"),
        ("2026-03-28T21:00:00Z", "2026-03-29T03:00:00Z"),  # the short night: six hours
        ("2026-10-24T20:00:00Z", "2026-10-25T04:00:00Z"),  # the long night: eight hours
    ],
)
def test_a_window_closes_when_the_clock_reads_so_on_long_and_short_nights(at: str, closes: str) -> None:
    assert closes_at(NIGHT, parse_instant(at)) == parse_instant(closes)


def test_a_window_that_is_shut_closes_never() -> None:
    assert closes_at(NIGHT, parse_instant("2026-06-02T03:00:00Z")) is None


def test_a_window_that_ends_inside_the_gap_closes_at_the_gap() -> None:
    window = Window(start=22 * 3600, end=2 * 3600 + 1800, timezone="Europe/Berlin")
    assert closes_at(window, parse_instant("2026-03-28T21:00:00Z")) == parse_instant("2026-03-29T01:00:00Z")


def test_a_slot_outside_its_window_is_excused_as_window() -> None:
    job = Job(id="job", schedule=Schedule(cron="0 * * * *", timezone="UTC"), window=NIGHT)
    assert skipped_by(job, parse_instant("2026-06-01T19:00:00Z")) == "window"
    assert skipped_by(job, parse_instant("2026-06-01T20:00:00Z")) is None


@given(
    st.integers(0, 86_399),
    st.integers(0, 86_399),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Jakarta", "Pacific/Apia"]),
    st.integers(0, 20_000 * 1440),
)
def test_a_window_is_open_until_it_closes_and_shut_then(start: int, end: int, zone: str, minute: int) -> None:
    if start == end:
        return
    window = Window(start=start, end=end, timezone=zone)
    at = datetime(1990, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    closes = closes_at(window, at)
    reading = wall(zone, at)
    second = reading.hour * 3600 + reading.minute * 60 + reading.second
    assert inside(window, at) is (start <= second < end if start < end else second >= start or second < end)
    assert (closes is None) is not inside(window, at)
    if closes is not None:
        assert not inside(window, closes)
        assert inside(window, closes - timedelta(seconds=1)) and closes > at
