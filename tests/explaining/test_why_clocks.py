"""Times that the clock skips or shows twice, by policy (C02, C03)."""

import pytest
from explaining.asking import ask, cron, said

NEW_YORK = "America/New_York"
GAP = "02:30 does not exist on 2026-03-08 in America/New_York: the clocks go forward from 02:00 to 03:00."
TWICE = (
    "02:00 comes twice on 2023-10-29 in Europe/Berlin: first at 2023-10-29T00:00:00Z, again at 2023-10-29T01:00:00Z."
)


@pytest.mark.parametrize("dst", ["once", "skip", "literal"])
@pytest.mark.parametrize("asked", ["2026-03-08T02:30:00-05:00", "2026-03-08T02:30:00-04:00"])
def test_c03_a_time_in_the_gap_is_told_whichever_offset_was_reckoned_with(dst: str, asked: str) -> None:
    found = ask(cron("30 2 * * *", NEW_YORK, dst=dst), asked)
    assert (found.owed, found.code) == (False, "dst_gap")
    assert GAP in found.sentences


@pytest.mark.parametrize(
    ("dst", "rule"),
    [
        ("once", "`dst: once` lets it run at the first real minute after the gap, 03:00 (2026-03-08T07:00:00Z)."),
        ("skip", "`dst: skip` leaves it out on that day."),
        ("literal", "`dst: literal` leaves it out on that day."),
    ],
)
def test_c03_the_policy_says_what_becomes_of_the_missing_time(dst: str, rule: str) -> None:
    assert rule in ask(cron("30 2 * * *", NEW_YORK, dst=dst), "2026-03-08T07:30:00Z").sentences


@pytest.mark.parametrize(
    ("instant", "owed", "code"),
    [
        ("2026-03-08T06:59:00Z", False, "hour"),
        ("2026-03-08T07:00:00Z", True, "dst_gap"),
        ("2026-03-08T07:02:00Z", False, "hour"),
    ],
)
def test_c03_the_slot_after_the_gap_is_explained_by_it(instant: str, owed: bool, code: str) -> None:
    found = ask(cron("30 2 * * *", NEW_YORK), instant)
    assert (found.owed, found.code) == (owed, code)
    assert GAP in found.sentences


def test_a_line_that_follows_the_clock_makes_nothing_up() -> None:
    found = ask(cron("*/30 2 * * *", NEW_YORK), "2026-03-08T07:30:00Z")
    assert found.code == "dst_gap"
    assert "follows the clock, and nothing is made up for" in said(found)


@pytest.mark.parametrize("dst", ["once", "skip"])
def test_c02_the_second_reading_of_a_doubled_time_is_no_slot(dst: str) -> None:
    found = ask(cron("0 2 * * *", "Europe/Berlin", dst=dst), "2023-10-29T01:00:00Z")
    assert (found.owed, found.code) == (False, "dst_fold")
    assert found.sentences[1:3] == (TWICE, f"`dst: {dst}` runs at the first only.")


@pytest.mark.parametrize("instant", ["2023-10-29T00:00:00Z", "2023-10-29T01:00:00Z"])
def test_c02_literal_runs_at_both_readings(instant: str) -> None:
    found = ask(cron("0 2 * * *", "Europe/Berlin", dst="literal"), instant)
    assert (found.owed, found.code) == (True, "dst_fold")
    assert found.sentences[1:] == (TWICE, "`dst: literal` runs at both.")


def test_a_gap_of_a_whole_day_names_both_its_dates() -> None:
    # Samoa left out 30 December 2011.
    found = ask(cron("0 9 * * *", "Pacific/Apia"), "2011-12-30T10:00:00Z")
    assert found.code == "dst_gap"
    assert "09:00 does not exist on 2011-12-30 in Pacific/Apia" in said(found)
    assert "from 00:00 to 2011-12-31 00:00" in said(found)


def test_a_day_without_a_change_says_nothing_of_clocks() -> None:
    assert "clocks" not in said(ask(cron("30 2 * * *", NEW_YORK), "2026-03-10T12:00:00Z"))
