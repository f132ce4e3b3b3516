"""Holidays and business days: which slots are skipped, which move, and where to."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.calendars import (
    CalendarError,
    business_date,
    check_calendar,
    holiday_name,
    is_business_day,
    is_holiday,
    weekend_of,
)
from scheduler.jobs import Calendar, HolidayPolicy, Job, Schedule, Window
from scheduler.timelaw import next_slot, previous_slot, skipped_by, slots_between

US, NYSE = Calendar(name="us", country="US"), Calendar(name="nyse", market="NYSE")
OWN = Calendar(name="own", dates=(date(2026, 5, 4), date(2026, 5, 5)))


def days(schedule: Schedule, first: date, last: date) -> list[str]:
    """Local date and time of each slot that is not excused, from the first to the last date."""
    start = datetime(first.year, first.month, first.day, tzinfo=UTC) - timedelta(seconds=1)
    job = Job(id="job", schedule=schedule)
    found = slots_between(schedule, start, start + timedelta(days=(last - first).days + 1))
    return [f"{slot:%m-%d %H:%M}" for slot in found if skipped_by(job, slot) is None]


def test_a_new_year_observed_in_the_year_before_is_a_holiday_of_that_year() -> None:
    assert is_holiday(US, date(2021, 12, 31))
    assert not is_holiday(NYSE, date(2021, 12, 31))


def test_exceptions_win_over_the_country_and_over_the_union() -> None:
    removed = Calendar(country="US", remove=(date(2026, 12, 25),), add=(date(2026, 12, 24),))
    assert [is_holiday(removed, date(2026, 12, day)) for day in (23, 24, 25, 26)] == [False, True, False, False]
    joined = Calendar(union=(US, OWN), remove=(date(2026, 5, 4),))
    assert [is_holiday(joined, date(2026, 5, day)) for day in (4, 5)] == [False, True]
    assert is_holiday(joined, date(2026, 12, 25))


def test_a_holiday_tells_its_name_and_a_plain_day_none() -> None:
    assert holiday_name(US, date(2026, 12, 25)) == "Christmas Day"
    assert holiday_name(OWN, date(2026, 5, 4)) == "own"
    assert holiday_name(US, date(2026, 12, 24)) is None


def test_the_weekend_is_the_countrys_own_unless_the_calendar_says_otherwise() -> None:
    assert weekend_of(US) == {5, 6}
    assert weekend_of(Calendar(country="US", weekend=(4, 5))) == {4, 5}
    assert is_business_day(None, date(2026, 5, 8)) and not is_business_day(None, date(2026, 5, 9))
    assert not is_business_day(Calendar(weekend=(4, 5)), date(2026, 5, 8))


@pytest.mark.parametrize(
    ("calendar", "words"),
    [
        (Calendar(country="XX"), "'XX' is not a known country"),
        (Calendar(country="us"), "did you mean US"),
        (Calendar(country="US", subdivision="ZZ"), "is not a subdivision of US"),
        (Calendar(subdivision="BY"), "has no country"),
        (Calendar(market="NYS"), "did you mean"),
    ],
)
def test_an_unknown_place_is_refused_with_the_nearest_known_one(calendar: Calendar, words: str) -> None:
    with pytest.raises(CalendarError, match="; ") as error:
        check_calendar(calendar)
    assert words in str(error.value)


def test_a_holiday_slot_stays_expected_and_is_excused_by_name() -> None:
    schedule = Schedule(cron="0 7 * * *", timezone="UTC", calendar=OWN, holidays="skip")
    start = datetime(2026, 5, 2, 12, tzinfo=UTC)
    found = slots_between(schedule, start, start + timedelta(days=4))
    assert [slot.day for slot in found] == [3, 4, 5, 6]
    assert [skipped_by(Job(id="job", schedule=schedule), slot) for slot in found] == [None, "holiday", "holiday", None]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        # 1 to 3 May 2026 are Friday, Saturday, Sunday; 4 and 5 May are holidays here.
        ("next_business_day", ["05-01 07:00", "05-06 07:00"]),
        ("previous_business_day", ["05-01 07:00"]),
    ],
)
def test_a_moved_slot_lands_on_the_nearest_business_day_and_counts_once(
    policy: HolidayPolicy, expected: list[str]
) -> None:
    schedule = Schedule(cron="0 7 1,2,3,4,5 5 *", timezone="UTC", calendar=OWN, holidays=policy)
    assert days(schedule, date(2026, 4, 20), date(2026, 5, 20)) == expected


def test_a_slot_moves_over_the_end_of_a_month_and_of_a_year() -> None:
    forward = Schedule(cron="0 7 31 12 *", timezone="UTC", calendar=US, holidays="next_business_day")
    assert days(forward, date(2021, 12, 1), date(2022, 1, 20)) == ["01-03 07:00"]
    back = Schedule(cron="0 7 1 1 *", timezone="UTC", calendar=US, holidays="previous_business_day")
    assert days(back, date(2021, 12, 1), date(2022, 1, 20)) == ["12-30 07:00"]


def test_a_run_past_midnight_belongs_to_the_business_day_before() -> None:
    schedule = Schedule(cron="30 0 * * *", timezone="UTC", calendar=OWN, holidays="skip", business_day_starts=6 * 3600)
    job = Job(id="job", schedule=schedule)
    slots = [datetime(2026, 5, day, 0, 30, tzinfo=UTC) for day in (4, 5, 6, 7)]
    assert [business_date(schedule, slot).day for slot in slots] == [3, 4, 5, 6]
    assert [skipped_by(job, slot) for slot in slots] == [None, "holiday", "holiday", None]


@pytest.mark.parametrize("second", [-1, 0, 1])
def test_the_business_day_begins_at_its_very_second(second: int) -> None:
    schedule = Schedule(every=timedelta(seconds=1), timezone="Asia/Jakarta", business_day_starts=6 * 3600)
    at = datetime(2026, 5, 4, 23, tzinfo=UTC) + timedelta(seconds=second)  # 06:00 in Jakarta on the 5th
    assert business_date(schedule, at) == date(2026, 5, 4 if second < 0 else 5)


def test_a_slot_that_finds_no_business_day_near_enough_is_skipped_where_it_is() -> None:
    shut = Calendar(dates=tuple(date(2026, 5, 1) + timedelta(days=number) for number in range(40)))
    schedule = Schedule(cron="0 7 2 5 *", timezone="UTC", calendar=shut, holidays="next_business_day")
    slot = next_slot(schedule, datetime(2026, 1, 1, tzinfo=UTC))
    assert slot == datetime(2026, 5, 2, 7, tzinfo=UTC)
    assert skipped_by(Job(id="job", schedule=schedule), slot) == "holiday"


def test_a_slot_that_two_schedules_name_is_a_holiday_only_if_both_say_so() -> None:
    skipping = Schedule(cron="0 7 * * *", timezone="UTC", calendar=OWN, holidays="skip")
    slot = datetime(2026, 5, 4, 7, tzinfo=UTC)
    both = Schedule(cron="0 7 * * *", timezone="UTC", also=(skipping,))
    assert skipped_by(Job(id="job", schedule=both), slot) is None
    alone = Schedule(cron="0 8 * * *", timezone="UTC", also=(skipping,))
    assert skipped_by(Job(id="job", schedule=alone), slot) == "holiday"


def test_a_disabled_job_says_so_before_anything_else() -> None:
    schedule = Schedule(cron="0 7 * * *", timezone="UTC", calendar=OWN, holidays="skip")
    job = Job(id="job", schedule=schedule, enabled=False, window=Window(start=0, end=60, timezone="UTC"))
    assert skipped_by(job, datetime(2026, 5, 4, 7, tzinfo=UTC)) == "disabled"


@given(
    st.sampled_from(["0 7 * * *", "30 0,7 */5 * *", "0 3 L * *", "0 1 15 * 5"]),
    st.sampled_from(["next_business_day", "previous_business_day"]),
    st.sampled_from([US, OWN, NYSE]),
    st.integers(0, 23),
    st.integers(0, 3000),
)
def test_moving_agrees_with_moving_every_single_slot(
    text: str, policy: HolidayPolicy, calendar: Calendar, starts: int, day: int
) -> None:
    plain = Schedule(cron=text, timezone="UTC", business_day_starts=starts * 3600)
    moved = Schedule(cron=text, timezone="UTC", business_day_starts=starts * 3600, calendar=calendar, holidays=policy)
    start = datetime(2019, 1, 1, tzinfo=UTC) + timedelta(days=day)
    end = start + timedelta(days=40)
    step = timedelta(days=1 if policy == "next_business_day" else -1)
    expected = set()
    for slot in slots_between(plain, start - timedelta(days=30), end + timedelta(days=30)):
        target = slot
        while not is_business_day(calendar, (target - timedelta(hours=starts)).date()):
            target += step
        expected.add(target)
    within = sorted(slot for slot in expected if start < slot <= end)
    assert slots_between(moved, start, end) == within
    if within:
        assert next_slot(moved, start) == within[0]
        assert previous_slot(moved, end) == within[-1]
