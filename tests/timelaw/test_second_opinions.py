"""cronsim under `once` and systemd under `skip` agree with the time law, except where a table here says why not.

Each reason has an example that must go on differing in exactly this way, and a rule that tells which texts, zones and
days it covers; whatever no rule covers must be equal.
"""

import zoneinfo
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from cronsim import CronSimError
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import require
from timelaw.expressions import ZONES, expression, stretch
from timelaw.oracle import Policy, fields_of, numbers_of
from timelaw.second_opinions import EndlessError, cronsim_slots, oncalendar, systemd_slots

from scheduler.jobs import Schedule
from scheduler.offsets import Transition, transitions
from scheduler.timelaw import NeverError, check_cron, slots_between

HOUR = timedelta(hours=1)
ROUND = timedelta(hours=26)  # a change this near can move what a day means
MOST = 150
SYSTEM_ZONES = Path("/usr/share/zoneinfo")


@dataclass(frozen=True)
class Asked:
    """One question: a text in a zone for the slots in `(after, until]`, and the zone's changes in and around it."""

    text: str
    zone: str
    after: datetime
    until: datetime

    @property
    def changes(self) -> list[Transition]:
        return transitions(self.zone, self.after - ROUND, self.until + ROUND)

    def ours(self, policy: Policy) -> list[datetime]:
        return slots_between(Schedule(cron=self.text, timezone=self.zone, dst=policy), self.after, self.until)


@dataclass(frozen=True)
class Disagreement:
    """Why another differs, what that covers, and an example with the slots that one alone has (day of month, UTC)."""

    reason: str
    covers: Callable[[Asked], bool]
    text: str
    zone: str
    after: str
    until: str
    theirs_alone: str = ""
    ours_alone: str = ""
    fails: type[Exception] | None = None

    @property
    def asked(self) -> Asked:
        return Asked(self.text, self.zone, *(datetime.fromisoformat(edge + "Z") for edge in (self.after, self.until)))


def alone(one: Sequence[datetime], other: Sequence[datetime]) -> str:
    return " ".join(f"{slot:%dT%H:%M}" for slot in one if slot not in other)


def names_a_workday(asked: Asked) -> bool:
    return any(term != "LW" and term[-1] == "W" for term in fields_of(asked.text).day.split(","))


def names_a_last_weekday_by_word(asked: Asked) -> bool:
    terms = fields_of(asked.text).weekday.split(",")
    return any(term[-1] == "L" and not term[:-1].isdigit() for term in terms)


def steps_through_one_number(asked: Asked) -> bool:
    spans = [term.partition("/")[0] for term in asked.text.upper().replace(",", " ").split() if "/" in term]
    return any("-" in span and len(list(numbers_of(span, 0, 59))) == 1 for span in spans)


def follows_the_clock(asked: Asked) -> bool:
    return fields_of(asked.text).follows_clock


def changes_off_the_hour(asked: Asked) -> bool:
    return any(edge.minute or edge.second for change in asked.changes for edge in (change.opens, change.closes))


def loses_a_midnight(asked: Asked) -> bool:
    gaps = [change for change in asked.changes if change.after > change.before]
    return any(change.opens <= change.closes.replace(hour=0, minute=0, second=0) < change.closes for change in gaps)


def asked_within_a_second_reading(asked: Asked) -> bool:
    return asked.after.astimezone(zoneinfo.ZoneInfo(asked.zone)).fold == 1


def puts_the_clock_back(asked: Asked) -> bool:
    return any(change.after < change.before for change in asked.changes)


def puts_it_back_within_one_kind_of_time(asked: Asked) -> bool:
    backs = [change for change in asked.changes if change.after < change.before]
    return any(_dst(asked, change.at) == _dst(asked, change.at - HOUR) for change in backs)


def has_negative_summer_time(asked: Asked) -> bool:
    return any(_dst(asked, at) < timedelta(0) for change in asked.changes for at in (change.at, change.at - HOUR))


def _dst(asked: Asked, at: datetime) -> timedelta:
    return at.astimezone(zoneinfo.ZoneInfo(asked.zone)).dst() or timedelta(0)


def jumps_off_the_hour(asked: Asked) -> bool:
    return changes_off_the_hour(asked) and any(change.after > change.before for change in asked.changes)


def counts_days_from_the_end(asked: Asked) -> bool:
    return "~" in (oncalendar(asked.text) or "")


LORD_HOWE = ("Australia/Lord_Howe", "2044-10-01T12:00", "2044-10-02T12:00")
JANUARY = ("UTC", "2026-01-01T00:00", "2026-01-31T05:00")
CRONSIM = [
    Disagreement(
        "cronsim has no `nW`",
        names_a_workday, "30 2 15W * *", *JANUARY, ours_alone="15T02:30", fails=CronSimError,
    ),
    Disagreement(
        "cronsim takes numbers before `L`, and no names",
        names_a_last_weekday_by_word, "30 2 * * FRIL", *JANUARY, ours_alone="30T02:30", fails=CronSimError,
    ),
    Disagreement(
        "cronsim reads the range `22-22/1`, which is one number, as `22/1`, which runs to the field's end",
        steps_through_one_number, "30 22-22/1 1 * *", *JANUARY, theirs_alone="01T23:30",
    ),
    Disagreement(
        "a wildcard text and a change off the full hour: cronsim goes on in steps of an hour and passes over times",
        lambda asked: follows_the_clock(asked) and changes_off_the_hour(asked),
        "*/30 */5 * * *", *LORD_HOWE, ours_alone="01T18:00",
    ),
    Disagreement(
        "a wildcard text and a change off the full hour that undoes a midnight: cronsim never answers",
        lambda asked: follows_the_clock(asked) and changes_off_the_hour(asked),
        "*/30 0 * * *", "America/Goose_Bay", "2010-11-07T00:00", "2010-11-07T12:00",
        ours_alone="07T03:00 07T04:00 07T04:30", fails=EndlessError,
    ),
    Disagreement(
        "a wildcard text and a midnight in the gap: cronsim takes the midnight that did not happen for a slot",
        lambda asked: follows_the_clock(asked) and loses_a_midnight(asked),
        "0 */16 * * 5", "Asia/Amman", "2012-03-29T12:00", "2012-03-30T20:00", theirs_alone="29T22:00",
    ),
    Disagreement(
        "a wildcard text and a midnight in the gap: cronsim starts the day an hour late and passes over that hour",
        lambda asked: follows_the_clock(asked) and loses_a_midnight(asked),
        "*/30 1 * * 0", "Atlantic/Stanley", "1993-09-11T12:00", "1993-09-12T12:00", ours_alone="12T04:00 12T04:30",
    ),
    Disagreement(
        "asked from within the second reading of a doubled hour, cronsim answers the first reading, which is past",
        lambda asked: not follows_the_clock(asked) and asked_within_a_second_reading(asked),
        "30 2 * * *", "Europe/Malta", "2016-10-30T01:10", "2016-10-31T12:00", theirs_alone="30T00:30",
    ),
]  # fmt: skip

SYSTEMD = [
    Disagreement(
        "a day counted from the month's end (`~`) and a clock put back: systemd takes the second reading",
        lambda asked: counts_days_from_the_end(asked) and puts_the_clock_back(asked),
        "0,30 1,2 L * *", "Europe/Brussels", "2066-10-30T12:00", "2066-10-31T12:00",
        theirs_alone="31T01:00 31T01:30", ours_alone="31T00:00 31T00:30",
    ),
    Disagreement(
        "a clock put back with no end of summer time: systemd cannot tell the readings apart and takes either",
        puts_it_back_within_one_kind_of_time,
        "0,30 1,2 * * *", "Asia/Tomsk", "2002-04-30T12:00", "2002-05-01T12:00",
        theirs_alone="30T19:30", ours_alone="30T18:30",
    ),
    Disagreement(
        "a gap that ends off the full hour: systemd goes on at the next full hour and passes over what is left of this",
        jumps_off_the_hour,
        "*/10 4 * * *", "Hongkong", "1975-04-19T12:00", "1975-04-20T12:00", ours_alone="19T19:30 19T19:40 19T19:50",
    ),
    Disagreement(
        "summer time counted below zero, as Ireland's winter: systemd takes the hours after the gap for the gap",
        has_negative_summer_time,
        "30 1,2 * * *", "Europe/Dublin", "1990-03-24T12:00", "1990-03-26T12:00", ours_alone="25T01:30",
    ),
]  # fmt: skip


def covered(asked: Asked, table: list[Disagreement]) -> bool:
    return any(row.covers(asked) for row in table)


@pytest.mark.parametrize("row", CRONSIM, ids=lambda row: row.reason)
def test_cronsim_differs_for_the_reason_that_is_listed(row: Disagreement) -> None:
    asked = row.asked
    assert row.covers(asked)
    ours = asked.ours("once")
    if row.fails is not None:
        with pytest.raises(row.fails):
            cronsim_slots(asked.text, asked.zone, asked.after, asked.until)
        assert alone(ours, []) == row.ours_alone
        return
    theirs = cronsim_slots(asked.text, asked.zone, asked.after, asked.until)
    assert (alone(theirs, ours), alone(ours, theirs)) == (row.theirs_alone, row.ours_alone)


@settings(max_examples=300)
@given(st.integers(0, 2**63).map(Random))
def test_cronsim_agrees_under_once_wherever_no_reason_is_listed(random: Random) -> None:
    zone = random.choice(ZONES)
    after, until = stretch(random, zone)
    for _ in range(4):
        asked = Asked(expression(random), zone, after, until)
        if readable(asked.text) and not covered(asked, CRONSIM):
            assert asked.ours("once") == cronsim_slots(asked.text, zone, after, until), asked


@pytest.fixture(scope="module")
def systemd() -> str:
    return require("systemd-analyze", "systemd")


@pytest.fixture(scope="module")
def zones_of_systemd(systemd: str) -> list[str]:
    """systemd takes a zone's rules from where the tests say, but refuses a name that the system has no file for."""
    assert (SYSTEM_ZONES / "Europe/Berlin").is_file(), "the system has no zones; on Debian: apt-get install tzdata"
    return [zone for zone in ZONES if (SYSTEM_ZONES / zone).is_file()]


@pytest.mark.parametrize("row", SYSTEMD, ids=lambda row: row.reason)
def test_systemd_differs_for_the_reason_that_is_listed(row: Disagreement, systemd: str) -> None:
    asked = row.asked
    assert row.covers(asked)
    ours, theirs = asked.ours("skip"), from_systemd(asked, systemd, 100)
    assert (alone(theirs, ours), alone(ours, theirs)) == (row.theirs_alone, row.ours_alone)


@settings(max_examples=150)
@given(st.integers(0, 2**63).map(Random))
def test_systemd_agrees_under_skip_wherever_no_reason_is_listed(
    systemd: str, zones_of_systemd: list[str], random: Random
) -> None:
    zone = random.choice(zones_of_systemd)
    after, until = stretch(random, zone)
    after = after.replace(second=0, microsecond=0)
    for _ in range(4):
        asked = Asked(expression(random), zone, after, until)
        if oncalendar(asked.text) and readable(asked.text) and not covered(asked, SYSTEMD):
            ours = asked.ours("skip")[:MOST]
            # One more than is due shows a slot that systemd alone has; many more would take it years ahead.
            assert ours == from_systemd(asked, systemd, len(ours) + 1)[:MOST], asked


def from_systemd(asked: Asked, binary: str, most: int) -> list[datetime]:
    text = oncalendar(asked.text)
    assert text is not None
    return systemd_slots(binary, text, asked.zone, asked.after, asked.until, most)


def readable(text: str) -> bool:
    try:
        check_cron(text)
    except NeverError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("*/30 2 * * 1-5", "Mon,Tue,Wed,Thu,Fri *-*-* 2:0,30:00"),
        ("0 0 */10 1,7 *", "*-1,7-1,11,21,31 0:0:00"),
        ("0 0 */10 * 7", "Sun *-*-1,11,21,31 0:0:00"),
        ("5 4 * * 1#5", "Mon *-*-29..31 4:5:00"),
        ("5 4 * * 5L", "Fri *-*~07/1 4:5:00"),
        ("5 4 L * *", "*-*~01 4:5:00"),
        ("5 4 LW * *", None),
        ("5 4 1 * 1", None),
    ],
)
def test_a_cron_text_is_written_as_systemd_writes_it(text: str, written: str | None) -> None:
    assert oncalendar(text) == written
