"""Instants that intervals, calendar intervals, fixed instants and lists of schedules do not name."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from explaining.asking import ask, at, cron, said

from scheduler.jobs import Repeat, Schedule

FORTNIGHT = Repeat(count=2, unit="week", times=(64800,), starting=date(2026, 1, 2), on=("friday",))


def test_an_interval_says_what_it_counts_from_and_how_far_off_the_instant_is() -> None:
    every = Schedule(timezone="UTC", every=timedelta(minutes=15), anchor=at("2026-01-01T00:00:00Z"))
    found = ask(every, "2026-05-05T02:07:00Z")
    assert found.code == "interval"
    assert found.sentences[1] == (
        "It runs every 15m, counted in real time from 2026-01-01T00:00:00Z; this instant lies 7m past one of those."
    )


@pytest.mark.parametrize(
    ("instants", "words"),
    [
        (("2026-05-01T15:00:00Z",), "It is due at 2026-05-01T15:00:00Z and at no other instant."),
        (("2026-05-01T15:00:00Z", "2026-06-01T15:00:00Z"), "It is due at 2 fixed instants, and this is none of them."),
    ],
)
def test_fixed_instants_are_told_as_such(instants: tuple[str, ...], words: str) -> None:
    found = ask(Schedule(timezone="UTC", at=tuple(map(at, instants))), "2026-05-05T02:07:00Z")
    assert found.code == "instants"
    assert found.sentences[1] == words


def test_past_the_last_instant_there_is_no_next_slot() -> None:
    found = ask(Schedule(timezone="UTC", at=(at("2026-05-01T15:00:00Z"),)), "2026-05-05T02:07:00Z")
    assert found.sentences[-1] == "The last slot was Friday 2026-05-01 15:00 UTC; there is none after it."


@pytest.mark.parametrize(
    ("instant", "code", "words"),
    [
        ("2026-05-05T18:00:00Z", "day", "does not fall on Tuesday 2026-05-05; in May 2026 it falls on day 8 and 22"),
        ("2026-05-08T17:00:00Z", "time", "The day is right, but the clock reads 17:00"),
        ("2025-12-26T18:00:00Z", "starting", "begins on Friday 2026-01-02, which is later"),
        ("2026-05-08T18:00:00Z", "slot", "is a slot of billing"),
    ],
)
def test_a_calendar_interval_says_whether_day_time_or_beginning_is_against_it(
    instant: str, code: str, words: str
) -> None:
    found = ask(Schedule(timezone="UTC", repeat=FORTNIGHT), instant)
    assert found.code == code
    assert words in said(found)


def test_each_of_several_schedules_says_its_own_reason() -> None:
    several = replace(cron("0 9 * * 1-5"), also=(cron("0 12 * * 6", "Europe/Berlin"),))
    found = ask(several, "2026-05-05T02:00:00Z")
    assert found.sentences[0].endswith("is no slot of billing, by none of its 2 schedules.")
    assert found.sentences[1] == "By `0 9 * * 1-5` (UTC): The hour is 2, and the hour field `9` allows only 9."
    assert found.sentences[2].startswith("By `0 12 * * 6` (Europe/Berlin): It is a Tuesday")


def test_a_slot_of_any_of_several_schedules_is_a_slot() -> None:
    several = replace(cron("0 9 * * 1-5"), also=(cron("0 12 * * 6", "Europe/Berlin"),))
    assert ask(several, "2026-05-09T10:00:00Z").code == "slot"


def test_of_many_schedules_five_are_explained_and_the_rest_counted() -> None:
    many = replace(cron("0 0 * * *"), also=tuple(cron(f"0 {hour} * * *") for hour in range(1, 8)))
    assert "Its 3 further schedules do not name it either." in ask(many, "2026-05-05T12:00:00Z").sentences
