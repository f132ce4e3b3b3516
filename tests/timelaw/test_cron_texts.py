"""Cron texts: dialects, words of their own, H, and errors that name the token."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.cron import NeverError, ScheduleError, parse_cron, spread
from scheduler.jobs import Dialect


@pytest.mark.parametrize(
    ("text", "dialect", "token"),
    [
        ("61 * * * *", "crontab", "'61'"),
        ("* 24 * * *", "crontab", "'24'"),
        ("* * 0 * *", "crontab", "'0'"),
        ("* * * 13 *", "crontab", "'13'"),
        ("* * * * 8", "crontab", "'8'"),
        ("22-2 * * * *", "crontab", "'22-2'"),
        ("* * * * FRI-MON", "crontab", "'FRI-MON'"),
        ("*/0 * * * *", "crontab", "'*/0'"),
        ("1,,2 * * * *", "crontab", "''"),
        ("* * ? * *", "crontab", "'?'"),
        ("* * L-3 * *", "crontab", "'L-3'"),
        ("* * * * L", "crontab", "'L'"),
        ("* * * * MON#6", "crontab", "'MON#6'"),
        ("* * 32W * *", "crontab", "'32W'"),
        ("* * * * 7L2", "crontab", "'7L2'"),
        ("² * * * *", "crontab", "'²'"),
        ("0 0 12 ? * 0", "quartz", "'0'"),
        ("0 0 12 1 * MON", "quartz", "exactly one"),
        ("0 12 * * ? *", "aws", None),
        ("0 12 * * MON *", "aws", "exactly one"),
        ("0 0 12 ? * 8", "quartz", "'8'"),
    ],
)
def test_a_token_without_meaning_is_named(text: str, dialect: Dialect, token: str | None) -> None:
    if token is None:
        assert parse_cron(text, dialect).hours == (12,)
        return
    with pytest.raises(ScheduleError) as error:
        parse_cron(text, dialect)
    assert token in str(error.value) and "is not a cron expression" in str(error.value)


@pytest.mark.parametrize("text", ["* * * *", "* * * * * *", "", "@fortnightly", "0 0 12 ? * MON-FRI"])
def test_a_crontab_line_has_five_fields_and_nothing_else(text: str) -> None:
    with pytest.raises(ScheduleError, match="write five fields: minute hour day month weekday"):
        parse_cron(text)


@pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 */31 2 MON#5", "0 0 31W 2 *"])
def test_a_date_that_never_comes_is_told_apart_from_one_that_cannot_be_read(text: str) -> None:
    with pytest.raises(NeverError, match="can never fire"):
        parse_cron(text)


def test_a_year_that_has_no_such_day_never_fires() -> None:
    with pytest.raises(NeverError):
        parse_cron("0 0 29 2 ? 2027", "aws")
    assert parse_cron("0 0 29 2 ? 2028", "aws").days_in(2028, 2) == (29,)


@pytest.mark.parametrize(
    ("text", "dialect", "day"),
    [("0 7 * * 4", "crontab", 15), ("0 0 7 ? * 4", "quartz", 14), ("0 7 ? * 4 *", "aws", 14),
     ("0 7 * * thu", "crontab", 15)],
)  # fmt: skip
def test_weekday_numbers_are_the_dialects_own(text: str, dialect: Dialect, day: int) -> None:
    assert day in parse_cron(text, dialect).days_in(2018, 2)


def test_sunday_is_both_nought_and_seven_in_a_crontab() -> None:
    found = [parse_cron(f"0 0 * * {text}").days_in(2026, 11) for text in ("0", "7", "SUN", "sun", "7-7", "0#1", "7L")]
    assert found == [(1, 8, 15, 22, 29)] * 5 + [(1,), (29,)]


def test_saturday_is_the_last_weekday_of_quartz() -> None:
    assert parse_cron("0 0 0 ? * L", "quartz").days_in(2026, 11) == (7, 14, 21, 28)
    assert parse_cron("0 0 0 L-2 * ?", "quartz").days_in(2026, 11) == (28,)


@pytest.mark.parametrize(
    ("text", "dialect", "follows"),
    [("* 9 * * *", "crontab", True), ("0 */2 * * *", "crontab", True), ("0-59 0-23 * * *", "crontab", False),
     ("0 0/2 ? * MON *", "aws", True), ("0 2 ? * MON *", "aws", False), ("0 2 * * *", "crontab", False)],
)  # fmt: skip
def test_a_line_follows_the_clock_by_its_text_alone(text: str, dialect: Dialect, follows: bool) -> None:
    assert parse_cron(text, dialect).follows_clock is follows


def test_a_step_counts_from_the_start_of_its_range() -> None:
    assert parse_cron("*/11 * * * *").minutes == (0, 11, 22, 33, 44, 55)
    assert parse_cron("5/20 * * * *").minutes == (5, 25, 45)
    assert parse_cron("10-30/7 * * * *").minutes == (10, 17, 24)
    assert parse_cron("*/100 * * * *").minutes == (0,)


@pytest.mark.parametrize("text", ["H H * * *", "H/15 * * * *", "H(10-20) H(0-7) H * H", "H(0-29)/10 2 H H *"])
def test_a_spread_line_is_the_same_whenever_it_is_asked_and_can_be_read(text: str) -> None:
    assert spread(text, "job") == spread(text, "job")
    parse_cron(spread(text, "job"))
    assert len({spread(text, f"job-{number}") for number in range(60)}) > 5


@given(st.text(min_size=1, max_size=20), st.sampled_from(["H", "H(10-20)", "H/15", "H(0-29)/10"]))
def test_a_spread_minute_stays_in_its_range(job: str, word: str) -> None:
    minutes = parse_cron(spread(f"{word} * * * *", job)).minutes
    low, high = (10, 20) if "10-20" in word else (0, 29) if "0-29" in word else (0, 59)
    assert all(low <= minute <= high for minute in minutes)
    step = 15 if word == "H/15" else 10
    assert "/" not in word or {b - a for a, b in pairwise(minutes)} == {step}


@pytest.mark.parametrize(
    ("text", "token"),
    [("H(5 * * * *", "H(5"), ("H(50-70) * * * *", "H(50-70)"), ("H(9-3) * * * *", "H(9-3)"), ("HX * * * *", "HX"),
     ("H/0 * * * *", "H/0"), ("H/61 * * * *", "H/61")],
)  # fmt: skip
def test_a_spread_that_cannot_be_read_is_named(text: str, token: str) -> None:
    with pytest.raises(ScheduleError) as error:
        spread(text, "job")
    assert repr(token) in str(error.value)


def test_a_line_without_a_spread_stays_as_it_is() -> None:
    assert spread("0 2 * * THU", "job") == "0 2 * * THU"
    assert spread("@daily", "job") == "@daily"
