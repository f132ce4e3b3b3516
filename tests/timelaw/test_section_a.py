"""The known faults of schedulers in the field, case by case, each with its right slots. Case ids stand in the names."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from scheduler.calendars import is_business_day, is_holiday
from scheduler.instants import format_instant, parse_instant
from scheduler.jobs import REBOOT, Calendar, Dialect, Dst, Job, Schedule
from scheduler.timelaw import NeverError, ScheduleError, check_cron, next_slot, previous_slot, skipped_by, slots_between

TICK = timedelta(microseconds=1)
POLICIES: tuple[Dst, ...] = ("once", "skip", "literal")


def cron(text: str, zone: str = "UTC", dst: Dst = "once", dialect: Dialect = "crontab") -> Schedule:
    return Schedule(cron=text, timezone=zone, dst=dst, dialect=dialect)


def shown(slot: datetime | None) -> str | None:
    text = None if slot is None else format_instant(slot)
    return f"{text[:-4]}Z" if text is not None and text.endswith(":00Z") else text


def slots(schedule: Schedule, after: str, until: str) -> list[str | None]:
    return [shown(slot) for slot in slots_between(schedule, parse_instant(after), parse_instant(until))]


def following(schedule: Schedule, after: str, count: int = 1) -> list[str | None]:
    found: list[datetime | None] = [parse_instant(after)]
    for _ in range(count):
        assert found[-1] is not None
        found.append(next_slot(schedule, found[-1]))
    return [shown(slot) for slot in found[1:]]


def days(schedule: Schedule, year: int, month: int) -> list[int]:
    """The local days of a month that have slots."""
    zone = ZoneInfo(schedule.timezone)
    first = datetime(year, month, 1, tzinfo=zone).astimezone(UTC)
    last = (datetime(year, month, 28, tzinfo=zone) + timedelta(days=4)).replace(day=1).astimezone(UTC)
    return sorted({slot.astimezone(zone).day for slot in slots_between(schedule, first - TICK, last - TICK)})


def test_c01_an_outage_of_two_hours_leaves_every_slot_countable_and_the_next_one_due() -> None:
    minutely = cron("* * * * *")
    assert len(slots(minutely, "2024-05-01T08:28:00Z", "2024-05-01T10:21:00Z")) == 113
    assert following(minutely, "2024-05-01T10:21:00Z") == ["2024-05-01T10:22Z"]
    within = slots(minutely, "2024-05-01T10:17:40Z", "2024-05-01T10:21:00Z")
    assert within == ["2024-05-01T10:18Z", "2024-05-01T10:19Z", "2024-05-01T10:20Z", "2024-05-01T10:21Z"]


C02 = ["2023-10-28T00:00Z", "2023-10-29T00:00Z", "2023-10-30T01:00Z"]


@pytest.mark.parametrize(
    ("dst", "expected"), [("once", C02), ("skip", C02), ("literal", sorted([*C02, "2023-10-29T01:00Z"]))]
)
def test_c02_the_hour_that_comes_twice_runs_a_daily_job_as_its_policy_says(dst: Dst, expected: list[str]) -> None:
    daily = cron("0 2 * * *", "Europe/Berlin", dst)
    assert slots(daily, "2023-10-27T12:00Z", "2023-10-30T12:00Z") == expected


@pytest.mark.parametrize("dst", ["once", "skip"])
def test_c02_one_slot_is_owed_for_each_local_date(dst: Dst) -> None:
    daily = cron("0 2 * * *", "Europe/Berlin", dst)
    assert len(slots(daily, "2023-10-28T21:59:59Z", "2023-10-29T22:59:59Z")) == 1


GAPLESS = ["2026-03-09T06:30Z", "2026-03-10T06:30Z", "2026-03-11T06:30Z"]


@pytest.mark.parametrize(
    ("dst", "expected"),
    [
        ("once", ["2026-03-08T07:00Z", "2026-03-09T06:30Z", "2026-03-10T06:30Z"]),
        ("skip", GAPLESS),
        ("literal", GAPLESS),
    ],
)
def test_c03_a_time_inside_the_spring_gap_is_moved_or_left_out_by_policy(dst: Dst, expected: list[str]) -> None:
    assert following(cron("30 2 * * *", "America/New_York", dst), "2026-03-08T06:30Z", 3) == expected


@pytest.mark.parametrize("dst", POLICIES)
def test_c03_the_next_slot_is_never_later_than_the_next_days_and_slots_increase(dst: Dst) -> None:
    daily = cron("30 2 * * *", "America/New_York", dst)
    first = next_slot(daily, parse_instant("2026-03-08T06:30Z"))
    assert first is not None and first <= parse_instant("2026-03-09T06:30Z")
    year = slots_between(daily, parse_instant("2026-01-01T00:00Z"), parse_instant("2027-01-01T00:00Z"))
    assert len(year) == (365 if dst == "once" else 364)
    assert all(one < two for one, two in pairwise(year))


@pytest.mark.parametrize(
    ("text", "zone", "after", "expected"),
    [
        ("0 0 * * *", "Europe/Prague", "2026-03-28T23:30Z", "2026-03-29T22:00Z"),
        ("0 8 * * 0", "America/Chicago", "2026-03-08T05:45Z", "2026-03-08T13:00Z"),
        ("0 12 * * 0", "Europe/Berlin", "2022-03-24T11:00Z", "2022-03-27T10:00Z"),
        ("* * * */3 *", "America/New_York", "2015-02-15T05:00Z", "2015-04-01T04:00Z"),
    ],
)
@pytest.mark.parametrize("dst", POLICIES)
def test_c04_no_day_or_week_is_jumped_over_near_a_clock_change(
    text: str, zone: str, after: str, expected: str, dst: Dst
) -> None:
    assert following(cron(text, zone, dst), after) == [expected]


@pytest.mark.parametrize(
    ("dst", "expected"),
    [("once", "2025-09-07T04:00Z"), ("skip", "2025-09-08T03:00Z"), ("literal", "2025-09-08T03:00Z")],
)
def test_c04_a_midnight_that_is_the_gap_itself_is_moved_or_left_out(dst: Dst, expected: str) -> None:
    assert following(cron("0 0 * * *", "America/Santiago", dst), "2025-09-06T04:00Z") == [expected]


def test_c07_an_etc_zone_is_read_with_its_inverted_sign_and_a_restart_owes_nothing() -> None:
    daily = cron("35 5 * * *", "Etc/GMT-1")
    assert slots(daily, "2020-02-28T04:35:00Z", "2020-02-28T05:39:46Z") == []
    assert shown(previous_slot(daily, parse_instant("2020-02-28T05:39:46Z"))) == "2020-02-28T04:35Z"
    assert following(daily, "2020-02-28T05:39:46Z") == ["2020-02-29T04:35Z"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 9 */2 * 1", [11, 25]),
        ("0 9 1-31 * 1", list(range(1, 32))),
        ("0 0 1,15 * 0-6", list(range(1, 32))),
        ("0 16 1,2,3 * FRI", [1, 2, 3, 8, 15, 22, 29]),
        ("0 0 1-7 * MON", [1, 2, 3, 4, 5, 6, 7, 11, 18, 25]),
        ("0 0 */100,1-7 * MON", [4]),
        ("0 0 13 * 5", [1, 8, 13, 15, 22, 29]),
    ],
)
def test_c08_both_day_fields_mean_either_unless_one_begins_with_a_star(text: str, expected: list[int]) -> None:
    assert days(cron(text), 2026, 5) == expected


@pytest.mark.parametrize("text", ["0 0 31 4 *", "0 0 30 2 *", "0 0 31 4,6 *"])
def test_c09_a_date_that_can_never_come_is_refused(text: str) -> None:
    with pytest.raises(NeverError, match="can never fire"):
        check_cron(text)


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("0 0 31 4,5 *", "2029-03-26T00:00Z", "2029-05-31T00:00Z"),
        ("0 0 29 2 *", "2096-03-01T00:00Z", "2104-02-29T00:00Z"),
        ("0 0 29 2 *", "2025-01-01T00:00Z", "2028-02-29T00:00Z"),
    ],
)
def test_c09_a_rare_date_is_found_however_far_it_lies(text: str, after: str, expected: str) -> None:
    assert following(cron(text), after) == [expected]


def test_c09_the_31st_comes_seven_times_a_year() -> None:
    assert len(slots(cron("0 0 31 * *"), "2025-12-31T23:59Z", "2026-12-31T23:59Z")) == 7


def test_c10_a_star_for_the_minute_means_sixty_slots_within_the_hour() -> None:
    day = slots(cron("* 9 * * *", "America/Los_Angeles"), "2024-05-21T07:00Z", "2024-05-22T07:00Z")
    assert (len(day), day[0], day[-1]) == (60, "2024-05-21T16:00Z", "2024-05-21T16:59Z")
    assert "2024-05-21T16:34Z" in day and "2024-05-21T16:35Z" in day


def test_c17_an_interval_counts_from_its_anchor_whatever_restarts() -> None:
    weekly = Schedule(every=timedelta(days=7), anchor=parse_instant("2026-01-05T00:00Z"), timezone="UTC")
    expected = ["2026-01-12T00:00Z", "2026-01-19T00:00Z"]
    assert slots(weekly, "2026-01-05T00:00Z", "2026-01-20T00:00Z") == expected
    restarts = [datetime(2026, 1, day, 12, tzinfo=UTC) for day in range(5, 20)]
    found = [slots_between(weekly, one, two) for one, two in pairwise(restarts)]
    assert [shown(slot) for run in found for slot in run] == expected


@pytest.mark.parametrize(
    ("schedules", "expected"),
    [
        ([cron("0 0 LW * *"), cron("0 0 0 LW * ?", dialect="quartz")], {9: [29], 10: [31], 11: [30], 12: [29]}),
        ([cron("0 0 1W * *"), cron("0 0 1W * ? *", dialect="aws")], {4: [3], 7: [3], 10: [2]}),
        ([cron("0 0 15W * *"), cron("0 0 0 15W * ?", dialect="quartz")], {4: [14], 7: [14], 10: [16]}),
        (
            [
                cron("0 0 * * 5L"),
                cron("0 0 0 ? * 6L", dialect="quartz"),
                cron("0 0 ? * 6L *", dialect="aws"),
                cron("0 0 * * FRIL"),
            ],
            {10: [27], 11: [24], 12: [29]},
        ),
        ([cron("0 0 * * 0L"), cron("0 0 * * 7L"), cron("0 0 ? * 1L *", dialect="aws")], {10: [29], 11: [26], 12: [31]}),
        (
            [
                cron("0 0 * * 1#2"),
                cron("0 0 * * MON#2"),
                cron("0 0 0 ? * 2#2", dialect="quartz"),
                cron("0 0 ? * 2#2 *", dialect="aws"),
            ],
            {10: [9], 11: [13], 12: [11]},
        ),
    ],
)
def test_c19_special_days_fall_where_the_dialect_puts_them_in_2023(
    schedules: list[Schedule], expected: dict[int, list[int]]
) -> None:
    for schedule in schedules:
        assert {month: days(schedule, 2023, month) for month in expected} == expected, schedule.cron


def test_c19_a_fifth_friday_comes_only_in_months_that_have_one() -> None:
    fifth = cron("0 0 * * FRI#5")
    found = {month: days(fifth, 2023, month) for month in range(8, 13)}
    assert found == {8: [], 9: [29], 10: [], 11: [], 12: [29]}


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (cron("30 7 * * 4"), "2018-02-15T07:30Z"),
        (cron("0 30 7 ? * 4", dialect="quartz"), "2018-02-14T07:30Z"),
        (cron("30 7 ? * 4 *", dialect="aws"), "2018-02-14T07:30Z"),
    ],
    ids=["crontab", "quartz", "aws"],
)
def test_c19_the_same_weekday_number_is_thursday_or_wednesday_by_dialect(schedule: Schedule, expected: str) -> None:
    assert following(schedule, "2018-02-10T00:00Z") == [expected]


@pytest.mark.parametrize(
    ("text", "dialect", "token"),
    [
        ("0 0 * * MON#6", "crontab", "MON#6"),
        ("0 0 * * 8L", "crontab", "8L"),
        ("0 0 32W * *", "crontab", "32W"),
        ("0 0 WL * *", "crontab", "WL"),
        ("0 0 L-3 * *", "crontab", "L-3"),
        ("0 0 0 ? * 0", "quartz", "0"),
        ("0 0 ? * 8 *", "aws", "8"),
    ],
)
def test_c19_a_token_with_no_meaning_is_an_error_that_names_it(text: str, dialect: Dialect, token: str) -> None:
    with pytest.raises(ScheduleError, match=f"'{token}'"):
        check_cron(text, dialect)


US, NYSE = Calendar(country="US"), Calendar(market="NYSE")
C20_US = [date(2021, 12, 27), date(2021, 12, 28), date(2021, 12, 29), date(2021, 12, 30)]
C20_JANUARY = [date(2022, 1, 3), date(2022, 1, 4)]


@pytest.mark.parametrize(
    ("calendar", "expected"),
    [(US, [*C20_US, *C20_JANUARY]), (NYSE, [*C20_US, date(2021, 12, 31), *C20_JANUARY])],
    ids=["us_federal", "nyse"],
)
def test_c20_a_new_year_observed_in_the_old_year_is_a_holiday_by_one_calendar_alone(
    calendar: Calendar, expected: list[date]
) -> None:
    workdays = Schedule(cron="0 7 * * 1-5", timezone="America/New_York", calendar=calendar, holidays="skip")
    job = Job(id="workdays", schedule=workdays)
    owed = slots_between(workdays, parse_instant("2021-12-27T05:00Z"), parse_instant("2022-01-05T04:59Z"))
    reasons = {slot.date(): skipped_by(job, slot) for slot in owed}
    everyone = [*C20_US, date(2021, 12, 31), *C20_JANUARY]
    assert reasons == {day: None if day in expected else "holiday" for day in everyone}


def test_c20_a_bank_holiday_of_england_is_one_and_boxing_day_is_a_working_day_in_the_us() -> None:
    assert is_holiday(Calendar(country="GB", subdivision="ENG"), date(2022, 8, 29))
    assert is_business_day(US, date(2024, 12, 26))


def test_f01_a_line_with_both_day_fields_runs_on_either_in_its_zone() -> None:
    line = cron("00 */3 15-25/2 May 1-5", "America/Los_Angeles")
    year = slots(line, "2026-01-01T08:00Z", "2027-01-01T07:59Z")
    assert (len(year), year[0], year[-1]) == (184, "2026-05-01T07:00Z", "2026-05-30T04:00Z")
    found = days(line, 2026, 5)
    assert found == [1, *range(4, 9), *range(11, 16), *range(17, 24), *range(25, 30)] and len(found) == 23


def test_f02_the_guarded_sunday_line_starts_weekly_and_its_wrong_rewrite_far_more_often() -> None:
    year = ("2025-12-31T23:59Z", "2026-12-31T23:59Z")
    assert len(slots(cron("57 0 * * 0"), *year)) == 52
    assert len(slots(cron("57 0 1-7 * 0"), *year)) == 124


def test_f04_steps_start_over_each_hour_and_lists_keep_their_minutes() -> None:
    elevenths = slots(cron("*/11 * * * *"), "2026-01-01T23:59Z", "2026-01-02T23:59Z")
    assert len(elevenths) == 144
    assert {int((slot or "")[14:16]) for slot in elevenths} == {0, 11, 22, 33, 44, 55}
    halves = slots(cron("1,31 0-5 * * *"), "2026-01-01T23:59Z", "2026-01-02T23:59Z")
    assert (len(halves), halves[0], halves[-1]) == (12, "2026-01-02T00:01Z", "2026-01-02T05:31Z")


def test_f05_a_list_of_hours_runs_four_times_a_day() -> None:
    found = slots(cron("1 0,6,12,18 * * *"), "2026-01-01T23:59Z", "2026-01-02T23:59Z")
    assert (len(found), found[:2]) == (4, ["2026-01-02T00:01Z", "2026-01-02T06:01Z"])


def test_f07_six_fields_are_never_read_as_seconds_unasked() -> None:
    with pytest.raises(ScheduleError, match="five fields"):
        check_cron("_ */3 * * * *")
    with pytest.raises(ScheduleError, match="five fields"):
        check_cron("0 */3 * * * *")


def test_f09_aws_fields_begin_with_the_minute_and_a_rate_counts_from_its_creation() -> None:
    every_other = cron("0/2 * ? * MON-FRI *", dialect="aws")
    expected = ["2026-01-02T23:58Z", "2026-01-05T00:00Z", "2026-01-05T00:02Z"]
    assert following(every_other, "2026-01-02T23:57Z", 3) == expected
    rate = Schedule(every=timedelta(minutes=1), anchor=parse_instant("2026-01-02T10:00:17Z"), timezone="UTC")
    assert following(rate, "2026-01-02T10:00:17Z") == ["2026-01-02T10:01:17Z"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0,18 6 * * *", ["06:00Z", "06:18Z"]), ("0 6,18 * * *", ["06:00Z", "18:00Z"])],
    ids=["as_written", "as_meant"],
)
def test_f11_the_minutes_of_a_timer_are_not_its_hours(text: str, expected: list[str]) -> None:
    found = slots(cron(text), "2026-01-01T23:59Z", "2026-01-02T23:59Z")
    assert [(slot or "")[11:] for slot in found] == expected


def test_f18_a_run_at_the_start_has_no_slots_and_quartz_counts_seconds_first() -> None:
    reboot = cron(REBOOT)
    assert slots(reboot, "2026-01-01T00:00Z", "2027-01-01T00:00Z") == []
    assert next_slot(reboot, parse_instant("2026-01-01T00:00Z")) is None
    noon = cron("0 0 12 ? * MON-FRI", dialect="quartz")
    assert following(noon, "2026-01-02T12:00Z") == ["2026-01-05T12:00Z"]
    with pytest.raises(ScheduleError):
        check_cron("0 0 12 ? * MON-FRI")


def test_f18_a_line_in_tokyo_is_read_by_tokyos_clock() -> None:
    assert following(cron("5 9 * * *", "Asia/Tokyo"), "2026-01-01T01:00Z") == ["2026-01-02T00:05Z"]
