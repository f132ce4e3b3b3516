"""Holidays by name, slots that a holiday moved, and batch windows (C20)."""

import pytest
from explaining.asking import ask, cron, said

from scheduler.jobs import Calendar, Window

NEW_YORK = "America/New_York"
US, NYSE = Calendar(name="us", country="US"), Calendar(name="nyse", market="NYSE")
NIGHT = Window(start=22 * 3600, end=5 * 3600, timezone="Asia/Jakarta")


def test_c20_a_holiday_is_told_by_its_name_though_it_belongs_to_the_next_year() -> None:
    found = ask(cron("0 7 * * 1-5", NEW_YORK, calendar=US, holidays="skip"), "2021-12-31T12:00:00Z")
    assert (found.owed, found.code) == (False, "holiday")
    assert found.slot is not None
    assert found.sentences[1] == (
        "Friday 2021-12-31 is New Year's Day (observed) in the calendar `us`, and `holidays: skip` owes no run then."
    )


@pytest.mark.parametrize(
    ("calendar", "instant", "owed"),
    [
        (US, "2021-12-30T12:00:00Z", True),
        (NYSE, "2021-12-31T12:00:00Z", True),
        (US, "2022-01-03T12:00:00Z", True),
    ],
)
def test_c20_days_around_it_and_other_calendars_are_owed(calendar: Calendar, instant: str, owed: bool) -> None:
    found = ask(cron("0 7 * * 1-5", NEW_YORK, calendar=calendar, holidays="skip"), instant)
    assert (found.owed, found.code) == (owed, "slot")


def test_a_run_after_midnight_is_told_to_belong_to_the_business_day_before() -> None:
    early = cron("30 0 * * *", NEW_YORK, calendar=US, holidays="skip", business_day_starts=6 * 3600)
    found = ask(early, "2022-01-01T05:30:00Z")
    assert found.code == "holiday"
    assert "Until 06:00 it still is the business day before. Friday 2021-12-31 is New Year's Day" in said(found)


def test_a_slot_that_a_holiday_moved_away_says_where_it_went() -> None:
    moving = cron("0 7 * * 1-5", NEW_YORK, calendar=US, holidays="next_business_day")
    found = ask(moving, "2021-12-31T12:00:00Z")
    assert (found.owed, found.code) == (False, "moved")
    assert found.sentences[1] == (
        "Friday 2021-12-31 is New Year's Day (observed) in the calendar `us`, so `holidays: next_business_day`"
        " moves the slot to Monday 2022-01-03 07:00 (2022-01-03T12:00:00Z)."
    )


def test_a_slot_that_a_weekend_moved_away_says_so() -> None:
    moving = cron("0 7 1 * *", NEW_YORK, calendar=US, holidays="previous_business_day")
    found = ask(moving, "2022-05-01T11:00:00Z")
    assert found.code == "moved"
    assert "2022-05-01 is a Sunday, no business day by the calendar `us`" in said(found)
    assert "Friday 2022-04-29 07:00" in said(found)


@pytest.mark.parametrize(
    ("instant", "code"),
    [("2022-01-03T12:00:00Z", "moved"), ("2022-01-31T12:00:00Z", "slot"), ("2022-01-04T12:00:00Z", "day")],
)
def test_a_slot_that_was_moved_here_says_where_from(instant: str, code: str) -> None:
    moving = cron("0 7 31 * *", NEW_YORK, calendar=US, holidays="next_business_day")
    found = ask(moving, instant)
    assert found.code == code
    assert ("moved it here from Friday 2021-12-31 07:00 (2021-12-31T12:00:00Z)" in said(found)) == (code == "moved")


@pytest.mark.parametrize(
    ("instant", "owed", "code"),
    [
        ("2026-05-05T14:00:00Z", False, "window"),
        ("2026-05-05T15:00:00Z", True, "slot"),
        ("2026-05-05T21:00:00Z", True, "slot"),
        ("2026-05-05T22:00:00Z", False, "window"),
    ],
)
def test_a_slot_outside_the_window_is_told_what_the_clock_reads(instant: str, owed: bool, code: str) -> None:
    found = ask(cron("0 * * * *", "Asia/Jakarta"), instant, window=NIGHT)
    assert (found.owed, found.code) == (owed, code)


def test_the_window_is_told_in_its_own_zone() -> None:
    found = ask(cron("0 * * * *"), "2026-05-05T22:00:00Z", window=NIGHT)
    assert found.sentences[1] == (
        "The clock reads 05:00, outside the window 22:00 to 05:00 in Asia/Jakarta, so no run is owed."
    )


def test_a_nearest_slot_that_is_skipped_is_marked_so() -> None:
    found = ask(cron("0 7 * * 1-5", NEW_YORK, calendar=US, holidays="skip"), "2021-12-30T23:00:00Z")
    assert "the next is Friday 2021-12-31 07:00 (2021-12-31T12:00:00Z), skipped as a holiday." in said(found)
