"""Cron texts that fire rarer, oftener or less evenly than they read: each with a near neighbour that is fine."""

import pytest
from linting.asking import QUIET, codes, cron, findings, message

from scheduler.jobs import Dialect, Job, Schedule
from scheduler.linting.cron import cron_notes


def told(text: str, dialect: Dialect = "crontab", year: int = 2026) -> list[str]:
    """The codes about the text alone, without what lint says of how often it comes."""
    return [note.code for note in cron_notes(Schedule(timezone="UTC", cron=text, dialect=dialect), year)]


def test_a_quiet_job_and_no_job_at_all_have_no_findings() -> None:
    assert findings(QUIET) == []
    assert findings(Job(id="by-hand")) == []


def test_a_finding_says_where_its_job_stands() -> None:
    (finding,) = findings(cron("0 0 31 * *"))
    assert (finding.level, finding.code, finding.where) == ("warning", "rare_day", "jobs.yaml#job")


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("* 9 * * *", "crontab", ["minute_star"]),  # C10
        ("*/1 9 * * *", "crontab", ["minute_star"]),
        ("* 9,21 * * MON", "crontab", ["minute_star"]),
        ("* 9-17 * * *", "crontab", []),  # each minute of the working day is meant
        ("0-59 9 * * *", "crontab", []),
        ("0 9 * * *", "crontab", []),
        ("* * * * *", "crontab", []),
        ("*/2 9 * * *", "crontab", []),
        ("0 * 9 * * ?", "quartz", ["minute_star"]),
        ("* * 9 * * ?", "quartz", ["minute_star"]),
        ("* 9 * * ? *", "aws", ["minute_star"]),
        ("* 0 12 * * ?", "quartz", ["second_star"]),
        ("* 0,30 * * * ?", "quartz", ["second_star"]),
        ("0 0 12 * * ?", "quartz", []),
        ("* * * * * ?", "quartz", []),
        ("*/10 0 12 * * ?", "quartz", []),
    ],
)
def test_a_star_under_a_fixed_number_is_told(text: str, dialect: Dialect, expected: list[str]) -> None:
    assert told(text, dialect) == expected


def test_c10_says_sixty_runs_and_what_was_meant() -> None:
    (note,) = cron_notes(Schedule(timezone="America/Los_Angeles", cron="* 9 * * *"), 2026)
    assert note.message == (
        "`* 9 * * *`: minute is * while hour is fixed: 60 runs a day, at 09:00, 09:01 and on; did you mean `0 9 * * *`?"
    )


def test_what_was_meant_has_no_star_left_in_seconds_either() -> None:
    (note,) = cron_notes(Schedule(timezone="UTC", cron="* * 9 * * ?", dialect="quartz"), 2026)
    assert "3600 runs a day" in note.message
    assert note.message.endswith("did you mean `0 0 9 * * ?`?")


@pytest.mark.parametrize(
    ("text", "year", "expected"),
    [
        ("0 0 28 * *", 2026, []),
        ("0 0 29 * *", 2026, ["rare_day"]),
        ("0 0 29 * *", 2028, []),  # a leap year has a 29th in each month
        ("0 0 30 * *", 2028, ["rare_day"]),
        ("0 0 31 * *", 2026, ["rare_day"]),
        ("0 0 1,31 * *", 2026, ["rare_day"]),
        ("0 0 28-31 * *", 2026, []),  # the idiom of those who look for the last day themselves
        ("0 0 L * *", 2026, []),
        ("0 0 31 1,3,5,7,8,10,12 *", 2026, []),
        ("0 0 31 1,4 *", 2026, ["rare_day"]),
        ("0 9 * * FRI#4", 2026, []),
        ("0 9 * * FRI#5", 2026, ["rare_day"]),
        ("0 9 * * FRIL", 2026, []),
    ],
)
def test_days_that_some_months_lack_are_told(text: str, year: int, expected: list[str]) -> None:
    assert told(text, year=year) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 0 31 * *", "7 runs a year (2026), not 12: there is no day 31 in Feb, Apr, Jun, Sep, Nov;"),  # C09
        ("0 0 30 * *", "11 runs a year (2026), not 12: there is no day 30 in Feb;"),
        ("0 0 29 2 *", "0 runs a year (2026), not 1: there is no day 29 in Feb;"),
        ("0 0 1,31 * *", "7 runs on day 31 a year (2026), not 12:"),
        ("0 0,12 31 * *", "7 days with runs a year (2026), not 12:"),
        (
            "0 9 * * FRI#5",
            "4 runs a year (2026), not 12: there is no such day in Feb, Mar, Apr, Jun, Aug, Sep, Nov, Dec;",
        ),
    ],
)
def test_rare_days_are_counted_in_the_year_asked_for(text: str, words: str) -> None:
    assert words in message(cron(text))


def test_a_text_for_other_years_is_not_counted_in_this_one() -> None:
    assert told("0 0 31 * ? 2027", "aws", 2026) == []
    assert told("0 0 31 * ? 2027", "aws", 2027) == ["rare_day"]


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("*/11 * * * *", "crontab", ["uneven_step"]),  # F04
        ("*/10 * * * *", "crontab", []),
        ("*/12 * * * *", "crontab", []),
        ("*/11 9 * * *", "crontab", []),  # the next hour has none, so there is no short gap
        ("*/11 9,10 * * *", "crontab", ["uneven_step"]),
        ("*/11 0,23 * * *", "crontab", ["uneven_step"]),  # over midnight
        ("0-59/11 * * * *", "crontab", ["uneven_step"]),
        ("0-29/11 * * * *", "crontab", []),  # cut short on purpose
        ("5/15 * * * *", "crontab", []),
        ("5/11 * * * *", "crontab", ["uneven_step"]),
        ("*/1 * * * *", "crontab", []),
        ("0 */5 * * *", "crontab", ["uneven_step"]),
        ("0 */6 * * *", "crontab", []),
        ("0 */5 1 * *", "crontab", []),
        ("0 */5 * * 1-5", "crontab", ["uneven_step"]),
        ("0 0 */2 * *", "crontab", ["uneven_step"]),
        ("0 0 */31 * *", "crontab", []),
        ("0 0 */2 1,7 *", "crontab", []),
        ("0 0 1 */3 *", "crontab", []),
        ("0 0 1 */5 *", "crontab", ["uneven_step"]),
        ("0 0 * * */2", "crontab", ["uneven_step"]),
        ("0/7 * * * * ?", "quartz", ["uneven_step"]),
        ("0/15 * * * * ?", "quartz", []),
        ("0/7 0 * * * ?", "quartz", []),
        ("0/2 * ? * MON-FRI *", "aws", []),
    ],
)
def test_steps_that_do_not_divide_their_field_are_told(text: str, dialect: Dialect, expected: list[str]) -> None:
    assert told(text, dialect) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("*/11 * * * *", "minutes 0, 11, 22, 33, 44, 55, so the last gap is 5 minutes, not 11; `every: 11m` is even"),
        ("0 */5 * * *", "hours 0, 5, 10, 15, 20, so the last gap is 4 hours, not 5; `every: 5h` is even"),
        ("0 0 * * */2", "weekdays 0, 2, 4, 6, so the last gap is 1 day, not 2"),
        ("0 0 */2 * *", "day 31 is followed by day 1 of the next month, not by a gap of 2 days; `every: 2d` is even"),
    ],
)
def test_an_uneven_step_shows_its_numbers_and_the_last_gap(text: str, words: str) -> None:
    (note,) = cron_notes(Schedule(timezone="UTC", cron=text), 2026)
    assert note.message.endswith(words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/59 * * * *", ["uneven_step"]),
        ("*/60 * * * *", []),
        ("*/61 * * * *", ["step_too_large"]),
        ("*/100 * * * *", ["step_too_large"]),
        ("0 */24 * * *", []),
        ("0 */25 * * *", ["step_too_large"]),
        ("0 0 */32 * *", ["step_too_large"]),
        ("0 0 1 */13 *", ["step_too_large"]),
        ("0 0 * * */8", ["step_too_large"]),
        ("*/100,30 * * * *", []),
    ],
)
def test_a_step_past_the_end_of_its_field_is_told(text: str, expected: list[str]) -> None:
    assert told(text) == expected


def test_a_step_of_ninety_minutes_is_shown_as_an_interval() -> None:
    assert message(cron("*/90 * * * *")).endswith("so it names minute 0 alone; use `every: 90m`")


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("0 0 13 * 5", "crontab", ["both_day_fields"]),
        ("0 0 1-7 * MON", "crontab", ["both_day_fields"]),
        ("0 0 13 * *", "crontab", []),
        ("0 0 * * 5", "crontab", []),
        ("0 0 13 * */1", "crontab", []),
        ("0 0 13 * ?", "crontab", None),
        ("0 0 0 13 * ?", "quartz", []),
    ],
)
def test_two_restricted_day_fields_are_told(text: str, dialect: Dialect, expected: list[str] | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match=r"'\?' is not a weekday"):
            told(text, dialect)
    else:
        assert told(text, dialect) == expected


def test_c08_says_either_and_shows_the_next_five_dates() -> None:
    says = message(cron("0 0 13 * 5"))
    assert "runs on EITHER: day 13 or weekday 5" in says
    assert says.endswith("2026-01-02, 2026-01-09, 2026-01-13, 2026-01-16, 2026-01-23")


def test_a_leading_star_makes_both_day_fields_count_and_the_dates_show_it() -> None:
    notes = list(cron_notes(Schedule(timezone="UTC", cron="0 9 */2 * 1"), 2026))
    assert [note.code for note in notes] == ["uneven_step", "both_day_fields"]
    assert "runs where BOTH fit" in notes[1].message
    assert notes[1].message.endswith("2026-01-05, 2026-01-19, 2026-02-09, 2026-02-23, 2026-03-09")


def test_every_schedule_of_a_job_is_looked_at() -> None:
    first = Schedule(timezone="UTC", cron="0 9 * * *", also=(Schedule(timezone="UTC", cron="0 0 31 * *"),))
    assert codes(Job(id="j", schedule=first, run=QUIET.run)) == ["rare_day"]


def test_a_job_at_the_start_of_the_host_has_no_text_to_doubt() -> None:
    assert codes(cron("@reboot")) == []


@pytest.mark.parametrize("macro", ["@hourly", "@daily", "@weekly", "@monthly", "@yearly"])
def test_macros_are_what_they_say(macro: str) -> None:
    assert told(macro) == []
