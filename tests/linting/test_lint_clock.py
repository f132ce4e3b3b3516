"""Times that clock changes swallow or double, and what lint says the time law makes of them."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from linting.asking import QUIET, codes, cron, message

from scheduler.instants import format_instant
from scheduler.jobs import Dst, Job, Repeat, Schedule, Window
from scheduler.linting.clock import clock_notes
from scheduler.timelaw import slots_between

NEW_YORK, BERLIN = "America/New_York", "Europe/Berlin"


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("59 1 * * *", NEW_YORK, ["fold_time"]),
        ("0 2 * * *", NEW_YORK, ["gap_time"]),
        ("59 2 * * *", NEW_YORK, ["gap_time"]),
        ("0 3 * * *", NEW_YORK, []),
        ("59 0 * * *", NEW_YORK, []),
        ("0 1 * * *", NEW_YORK, ["fold_time"]),
        ("59 1 * * *", BERLIN, []),
        ("0 2 * * *", BERLIN, ["gap_time", "fold_time"]),
        ("59 2 * * *", BERLIN, ["gap_time", "fold_time"]),
        ("0 3 * * *", BERLIN, []),
        ("30 2 * * SAT", BERLIN, []),  # clocks change on Sundays there
        ("30 2 * * SUN", BERLIN, ["gap_time", "fold_time"]),
        ("30 2 1 * *", BERLIN, []),
        ("30 2 * 4-9 *", BERLIN, []),
        ("30 2 * * *", "Asia/Jakarta", []),
        ("*/30 2 * * *", BERLIN, []),  # follows the clock on the wall
        ("30 * * * *", BERLIN, []),
        ("0 0 * * *", "Africa/Cairo", ["gap_time"]),
        ("15 2 * * *", "Australia/Lord_Howe", ["gap_time"]),
        ("30 2 * * *", "Australia/Lord_Howe", []),  # half an hour is all that is missing
        ("45 1 * * *", "Australia/Lord_Howe", ["fold_time"]),
        ("15 1 * * *", "Australia/Lord_Howe", []),
    ],
)
def test_fixed_times_at_each_edge_of_a_clock_change(text: str, zone: str, expected: list[str]) -> None:
    assert codes(cron(text, zone)) == expected


@pytest.mark.parametrize(
    ("dst", "words"),
    [
        ("once", "`dst: once` runs it at 03:00 (2026-03-08T07:00:00Z)"),
        ("skip", "`dst: skip` leaves that day's run out"),
        ("literal", "`dst: literal` leaves that day's run out"),
    ],
)
def test_a_missing_time_is_told_with_its_date_and_its_policy(dst: Dst, words: str) -> None:
    assert message(cron("30 2 * * *", NEW_YORK, dst=dst)) == (
        f"02:30 does not exist on 2026-03-08 in America/New_York: clocks go forward from 02:00; {words}"
    )


@pytest.mark.parametrize(
    ("dst", "words"),
    [
        ("once", "`dst: once` runs it once, the first time (2026-11-01T05:30:00Z)"),
        ("skip", "`dst: skip` runs it once, the first time (2026-11-01T05:30:00Z)"),
        ("literal", "`dst: literal` runs it twice (2026-11-01T05:30:00Z and 2026-11-01T06:30:00Z)"),
    ],
)
def test_a_doubled_time_is_told_with_its_date_and_its_policy(dst: Dst, words: str) -> None:
    assert message(cron("30 1 * * *", NEW_YORK, dst=dst)) == (
        f"01:30 comes twice on 2026-11-01 in America/New_York: clocks go back from 02:00; {words}"
    )


@pytest.mark.parametrize("dst", ["once", "skip", "literal"])
@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN, "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago"])
@pytest.mark.parametrize("text", ["30 1 * * *", "15 2 * * *", "0 0 * * *", "30 23 * * *", "45 1 * * *"])
def test_the_instants_told_are_slots_of_the_time_law(dst: Dst, zone: str, text: str) -> None:
    schedule = Schedule(timezone=zone, cron=text, dst=dst)
    year = datetime(2026, 1, 1, tzinfo=UTC)
    slots = [format_instant(slot) for slot in slots_between(schedule, year, year + timedelta(days=365))]
    for note in clock_notes(schedule, 2026):
        told = [word.strip("()") for word in note.message.split() if word.strip("()").endswith("00Z")]
        assert all(instant in slots for instant in told), note.message
        assert len(told) == (2 if note.code == "fold_time" and dst == "literal" else 1 if told else 0)
        assert bool(told) == (note.code == "fold_time" or dst == "once")


def test_many_times_in_one_gap_are_one_finding() -> None:
    assert message(cron("0,10,20,30,40,50 2 * * *", NEW_YORK)) == (
        "02:00, 02:10, 02:20, 02:30 and 2 more do not exist on 2026-03-08 in America/New_York: clocks go forward "
        "from 02:00; `dst: once` runs them once at 03:00 (2026-03-08T07:00:00Z)"
    )


def test_a_zone_that_lost_a_whole_day_moves_the_run_into_the_next() -> None:
    (note,) = clock_notes(Schedule(timezone="Pacific/Apia", cron="0 9 30 12 *"), 2011)
    assert note.message.startswith("09:00 does not exist on 2011-12-30 in Pacific/Apia: clocks go forward from 00:00;")
    assert note.message.endswith("runs it at 2011-12-31 00:00 (2011-12-30T10:00:00Z)")


def test_dates_are_those_of_the_year_asked_for() -> None:
    assert "2027-03-14" in message(cron("30 2 * * *", NEW_YORK), year=2027)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (Schedule(timezone=BERLIN, every=timedelta(hours=1)), []),
        (Schedule(timezone=BERLIN, at=(datetime(2026, 3, 29, 1, tzinfo=UTC),)), []),
        (Schedule(timezone=BERLIN, repeat=Repeat(count=1, unit="day", times=(9_000,), starting=date(2026, 1, 1))), 2),
        (Schedule(timezone=BERLIN, repeat=Repeat(count=1, unit="day", times=(10_800,), starting=date(2026, 1, 1))), 0),
    ],
)
def test_intervals_have_no_wall_time_and_calendar_intervals_have(schedule: Schedule, expected: list[str] | int) -> None:
    found = codes(Job(id="j", schedule=schedule, run=QUIET.run))
    assert found == (expected if isinstance(expected, list) else ["gap_time", "fold_time"][:expected])


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("Etc/GMT-1", ["inverted_zone"]),
        ("Etc/GMT+12", ["inverted_zone"]),
        ("Etc/GMT", []),
        ("Etc/GMT-0", []),
        ("Etc/UTC", []),
        ("Europe/Berlin", []),
    ],
)
def test_zones_with_the_reversed_sign_are_told(zone: str, expected: list[str]) -> None:
    assert codes(cron("0 12 * * *", zone)) == expected


def test_c07_says_which_offset_the_zone_really_has() -> None:
    assert message(cron("0 5 * * *", "Etc/GMT-1")) == "Etc/GMT-1 is UTC+1; for UTC-1 write Etc/GMT+1 or a place"


def test_the_zone_of_a_batch_window_is_looked_at_too() -> None:
    window = Window(start=8 * 3600, end=20 * 3600, timezone="Etc/GMT+5")
    assert codes(replace(cron("0 12 * * *", "Etc/GMT+5"), window=window)) == ["inverted_zone"]
    assert codes(replace(cron("0 17 * * *"), window=window)) == ["inverted_zone"]
