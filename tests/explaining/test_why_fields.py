"""The field of a cron line that does not fit: its name, what it allows, and the slots around."""

import pytest
from explaining.asking import ask, cron, said

FRIDAY = "Friday 2026-05-08 09:00 (2026-05-08T02:00:00Z)"
MONDAY = "Monday 2026-05-11 09:00 (2026-05-11T02:00:00Z)"
FIELDS = [
    ("0 9 * * 1-5", "2026-05-05T02:31:00Z", "minute", "The minute is 31, and the minute field `0` allows only 0."),
    ("0 9,17 * * *", "2026-05-05T03:00:00Z", "hour", "The hour is 10, and the hour field `9,17` allows 9 and 17."),
    ("0 9 1-7 * *", "2026-05-08T02:00:00Z", "day", "It is the 8th, and the day field `1-7` allows 1 to 7."),
    ("0 9 * 3,6 *", "2026-05-08T02:00:00Z", "month", "It is May, and the month field `3,6` allows March and June."),
    ("0 9 * * 1-5", "2026-05-09T02:00:00Z", "weekday",
     "It is a Saturday, and the weekday field `1-5` allows Monday to Friday."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "instant", "code", "sentence"), FIELDS)
def test_the_field_that_does_not_fit_is_named_with_what_it_allows(
    text: str, instant: str, code: str, sentence: str
) -> None:
    found = ask(cron(text, "Asia/Jakarta"), instant)
    assert (found.owed, found.slot, found.code) == (False, None, code)
    assert found.sentences[1] == sentence


def test_the_local_time_and_the_nearest_slots_are_told_in_the_zone_of_the_job() -> None:
    found = ask(cron("0 9 * * 1-5", "Asia/Jakarta"), "2026-05-09T02:00:00Z")
    assert found.sentences == (
        "Saturday 2026-05-09 09:00 in Asia/Jakarta (2026-05-09T02:00:00Z) is no slot of billing.",
        "It is a Saturday, and the weekday field `1-5` allows Monday to Friday.",
        f"The slot before is {FRIDAY}; the next is {MONDAY}.",
    )


def test_every_field_that_does_not_fit_is_told_and_the_coarsest_gives_the_reason() -> None:
    found = ask(cron("30 2 * 6 *"), "2026-05-05T09:31:00Z")
    assert found.code == "month"
    assert [sentence.split(" and ")[0] for sentence in found.sentences[1:4]] == [
        "It is May,", "The hour is 9,", "The minute is 31,",
    ]  # fmt: skip


def test_c08_neither_of_two_day_fields_fits() -> None:
    found = ask(cron("0 0 13 * 5"), "2026-05-14T00:00:00Z")
    assert found.code == "day_or_weekday"
    assert found.sentences[1] == (
        "It is Thursday the 14th: the day field `13` allows 13, and the weekday field `5` allows Friday."
        " Either would be enough, but neither fits."
    )


@pytest.mark.parametrize(
    ("instant", "words"),
    [
        ("2026-05-13T00:00:00Z", "Wednesday the 13th fits the day field `13`, though not the weekday field `5`"),
        ("2026-05-15T00:00:00Z", "Friday the 15th fits the weekday field `5`, though not the day field `13`"),
    ],
)
def test_c08_one_of_two_day_fields_is_enough_and_this_is_told(instant: str, words: str) -> None:
    found = ask(cron("0 0 13 * 5"), instant)
    assert (found.owed, found.code) == (True, "slot")
    assert words in said(found)


@pytest.mark.parametrize(
    ("instant", "code"),
    [("2026-05-04T09:00:00Z", "day"), ("2026-05-05T09:00:00Z", "weekday"), ("2026-05-11T09:00:00Z", "slot")],
)
def test_c08_a_day_field_that_begins_with_a_star_must_fit_as_well(instant: str, code: str) -> None:
    assert ask(cron("0 9 */2 * 1"), instant).code == code


def test_c10_a_star_in_the_minutes_is_told_as_what_it_is() -> None:
    found = ask(cron("* 9 * * *", "America/Los_Angeles"), "2024-05-21T16:35:00Z")
    assert found.owed
    assert found.sentences[1] == (
        "The minute field is `*`, so every minute of that hour is a slot: 60 on such a day."
        " Once an hour would be `0 9 * * *`."
    )


def test_c10_past_the_hour_it_is_the_hour_that_does_not_fit() -> None:
    assert ask(cron("* 9 * * *", "America/Los_Angeles"), "2024-05-21T17:05:00Z").code == "hour"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 9 L * *", "the month's last day"),
        ("0 9 LW * *", "the month's last Monday-to-Friday"),
        ("0 9 15W * *", "the Monday-to-Friday nearest to the 15th"),
        ("0 9 * * 5L", "the month's last Friday"),
        ("0 9 * * MON#2", "the month's 2nd Monday"),
    ],
)
def test_special_days_are_said_in_words(text: str, words: str) -> None:
    assert f"allows {words}." in said(ask(cron(text), "2026-05-05T09:00:00Z"))


def test_a_macro_is_explained_by_the_fields_it_stands_for() -> None:
    assert "the hour field `0` allows only 0" in said(ask(cron("@daily"), "2026-05-05T09:00:00Z"))


@pytest.mark.parametrize(
    ("text", "dialect", "code"),
    [
        ("0 9 ? * MON-FRI 2027", "aws", "year"),
        ("*/10 0 9 ? * 2-6 2027", "quartz", "year"),
        ("30 0 9 ? * 2-6", "quartz", "second"),
    ],
)
def test_fields_of_other_dialects_are_named_too(text: str, dialect: str, code: str) -> None:
    # A minute past its slot, so that no slot is near enough to be meant.
    instant = "2026-05-05T09:00:00Z"
    assert ask(cron(text, dialect=dialect), instant).code == code
