"""An instant near a slot stands for it, and the answer says so: nothing is snapped in silence."""

from datetime import timedelta

import pytest
from explaining.asking import ask, at, cron, job, said

from scheduler.explaining.why import Version, explain, meant
from scheduler.jobs import OnTime, Schedule
from scheduler.timelaw import jitter_of

TWO = at("2026-05-05T02:00:00Z")
LIMIT = OnTime(start_within=timedelta(minutes=5))


@pytest.mark.parametrize(
    ("instant", "is_meant"),
    [
        ("2026-05-05T02:00:00Z", True),
        ("2026-05-05T02:04:59.999999Z", True),
        ("2026-05-05T02:05:00Z", True),
        ("2026-05-05T02:05:00.000001Z", False),
    ],
)
def test_an_instant_up_to_the_limit_of_a_slot_stands_for_it(instant: str, is_meant: bool) -> None:
    found = ask(cron("0 2 * * *"), instant, on_time=LIMIT)
    assert found.owed == is_meant
    assert found.slot == (TWO if is_meant else None)


def test_the_first_sentence_says_which_slot_is_meant_and_why() -> None:
    found = ask(cron("0 2 * * *"), "2026-05-05T02:03:07Z", on_time=LIMIT)
    assert found.sentences[0] == (
        "Tuesday 2026-05-05 02:03:07 UTC is no slot of billing itself, but lies within the limit of the one of"
        " Tuesday 2026-05-05 02:00 UTC: that slot is meant."
    )


@pytest.mark.parametrize(("instant", "is_meant"), [("2026-05-05T02:00:59Z", True), ("2026-05-05T02:01:00Z", False)])
def test_an_instant_in_the_minute_of_a_slot_stands_for_it_past_its_limit(instant: str, is_meant: bool) -> None:
    found = ask(cron("0 2 * * *"), instant, on_time=OnTime(start_within=timedelta(seconds=1)))
    assert (found.slot is not None) == is_meant
    assert ("past its limit (2026-05-05T02:00:01Z)" in said(found)) == is_meant


@pytest.mark.parametrize(
    ("instant", "is_meant"),
    [("2026-05-05T01:57:59Z", False), ("2026-05-05T01:58:00Z", True), ("2026-05-05T01:59:00Z", True)],
)
def test_an_instant_within_early_before_a_slot_stands_for_it(instant: str, is_meant: bool) -> None:
    found = ask(cron("0 2 * * *"), instant, early=timedelta(minutes=2))
    assert found.slot == (TWO if is_meant else None)
    assert ("a run may start 2m early" in said(found)) == is_meant


def test_a_slot_of_its_own_is_never_taken_for_a_neighbour() -> None:
    found = meant([Version(job=job(cron("* * * * *"), early=timedelta(minutes=1)))], TWO)
    assert found is not None
    assert found.slot == TWO


def test_jitter_is_told_with_the_instant_of_the_start() -> None:
    schedule = cron("0 2 * * *", jitter=timedelta(minutes=10))
    start = TWO + jitter_of("billing", schedule, TWO)
    found = explain([Version(job=job(schedule))], TWO)
    assert (found.owed, found.code) == (True, "jitter")
    assert f"so the run starts at {start:%Y-%m-%dT%H:%M:%SZ}." in said(found)


def test_from_the_start_on_jitter_is_no_reason_any_more() -> None:
    schedule = cron("0 2 * * *", jitter=timedelta(minutes=10))
    start = TWO + jitter_of("billing", schedule, TWO)
    tick = timedelta.resolution
    codes = [explain([Version(job=job(schedule))], when).code for when in (start - tick, start, start + tick)]
    assert codes == ["jitter", "slot", "slot"]


def test_of_a_job_that_others_run_only_the_bound_of_the_jitter_is_known() -> None:
    found = ask(cron("0 2 * * *", jitter=timedelta(minutes=10)), "2026-05-05T02:09:00Z", run=None)
    assert found.code == "jitter"
    assert "may delay it by up to 10m, so it may start until 2026-05-05T02:10:00Z" in said(found)


def test_seconds_of_an_interval_stand_for_its_latest_slot() -> None:
    found = ask(Schedule(timezone="UTC", every=timedelta(seconds=10)), "2026-05-05T02:00:17Z")
    assert found.slot == at("2026-05-05T02:00:10Z")
