"""Runs against intervals, graces and limits; overlap on jobs that change things."""

from dataclasses import replace
from datetime import timedelta

import pytest
from linting.asking import QUIET, codes, message

from scheduler.jobs import Command, Job, OnTime, Overlap, Schedule

MINUTELY = replace(QUIET, schedule=Schedule(timezone="UTC", every=timedelta(minutes=1)))
WATCHED = Job(id="sync", schedule=QUIET.schedule, run_deadline=timedelta(hours=1))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"mutates": "payments"}, ["overlap_mutates"]),
        ({"mutates": "true"}, ["overlap_mutates"]),
        ({"mutates": ""}, ["overlap_mutates"]),
        ({"mutates": "false"}, []),
        ({"tier": "critical"}, ["overlap_mutates"]),
        ({"tier": "standard"}, []),
        ({}, []),
    ],
)
def test_r38_overlap_is_told_on_jobs_that_change_things(labels: dict[str, str], expected: list[str]) -> None:
    assert codes(replace(QUIET, labels=labels, overlap="allow")) == expected


@pytest.mark.parametrize("overlap", ["forbid", "replace", "queue"])
def test_jobs_that_change_things_one_at_a_time_are_fine(overlap: Overlap) -> None:
    assert codes(replace(QUIET, labels={"mutates": "payments", "tier": "critical"}, overlap=overlap)) == []


def test_overlap_is_told_with_the_label_that_forbids_it() -> None:
    assert message(replace(QUIET, labels={"tier": "critical"}, overlap="allow")) == (
        "`overlap: allow` on a job labelled `tier: critical`: two runs may change the same things at once; "
        "use `forbid` or `queue`"
    )


@pytest.mark.parametrize(
    ("measured", "expected"),
    [(59.9, []), (60.0, []), (60.1, ["run_time_exceeds_interval"]), (None, [])],
)
def test_c14_a_run_longer_than_its_interval_is_told(measured: float | None, expected: list[str]) -> None:
    run = Command(argv=("true",), timeout=timedelta(seconds=1), grace=timedelta(minutes=5))
    assert codes(replace(MINUTELY, run=run), measured=measured) == expected


@pytest.mark.parametrize(
    ("overlap", "words"),
    [
        ("forbid", "with `overlap: forbid` 2 of 3 slots are skipped"),
        ("queue", "with `overlap: queue` the backlog grows without end"),
        ("replace", "with `overlap: replace` most runs are stopped before they end"),
        ("allow", "with `overlap: allow` about 3 run at once"),
    ],
)
def test_what_becomes_of_too_long_a_run_depends_on_its_overlap(overlap: Overlap, words: str) -> None:
    run = Command(argv=("true",), grace=timedelta(minutes=5))
    assert message(replace(MINUTELY, run=run, overlap=overlap), measured=150) == (
        f"runs take 150 s (p95), and the shortest interval is 1m: {words}; be due less often"
    )


def test_watched_jobs_are_held_against_their_interval_too() -> None:
    assert codes(WATCHED, measured=86_400.0) == []
    assert codes(WATCHED, measured=86_401.0) == ["run_time_exceeds_interval"]


@pytest.mark.parametrize(("seconds", "expected"), [(59, []), (60, []), (61, ["limit_exceeds_interval"])])
def test_a_timeout_longer_than_the_interval_is_told(seconds: int, expected: list[str]) -> None:
    run = Command(argv=("true",), timeout=timedelta(seconds=seconds))
    assert codes(replace(MINUTELY, run=run)) == expected


@pytest.mark.parametrize(("seconds", "expected"), [(59, []), (60, []), (61, ["limit_exceeds_interval"])])
def test_a_completion_limit_longer_than_the_interval_is_told(seconds: int, expected: list[str]) -> None:
    limits = OnTime(start_within=None, complete_within=timedelta(seconds=seconds))
    assert codes(replace(MINUTELY, on_time=limits)) == expected


def test_both_limits_make_one_finding_and_the_default_is_nobodys_choice() -> None:
    limits = OnTime(start_within=None, complete_within=timedelta(minutes=2))
    chosen = Command(argv=("true",), timeout=timedelta(minutes=90))
    assert message(replace(MINUTELY, on_time=limits, run=chosen)) == (
        "on_time.complete_within 2m and run.timeout 90m are longer than the shortest interval of 1m: "
        "one slow run touches the slots after it; shorten the limit, or be due less often"
    )
    assert "run.timeout" not in message(replace(MINUTELY, on_time=limits, run=Command(argv=("true",))))


def test_a_job_with_one_slot_a_year_has_no_interval_to_exceed() -> None:
    yearly = Schedule(timezone="UTC", cron="@yearly")
    assert codes(replace(QUIET, schedule=yearly, run=Command(argv=("true",), timeout=timedelta(days=400)))) == []


@pytest.mark.parametrize(("measured", "expected"), [(29.9, []), (30.0, []), (30.1, ["grace_too_short"]), (None, [])])
def test_r39_a_grace_shorter_than_the_work_is_told(measured: float | None, expected: list[str]) -> None:
    assert codes(QUIET, measured=measured) == expected


def test_the_measured_duration_stands_beside_the_grace() -> None:
    assert message(replace(QUIET, schedule=None), measured=95.25).startswith(
        "`run.grace: 30s` is shorter than the work, which takes 95.2 s (p95):"
    )


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (replace(WATCHED, run_deadline=None), ["no_deadline"]),
        (WATCHED, []),
        (replace(WATCHED, run_deadline=None, on_time=OnTime(complete_within=timedelta(hours=1))), []),
        (replace(WATCHED, run_deadline=None, run=QUIET.run), []),
        (replace(WATCHED, run_deadline=None, schedule=None), []),
    ],
)
def test_a_watched_job_without_any_limit_on_its_run_is_told(job: Job, expected: list[str]) -> None:
    assert codes(job) == expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (timedelta(seconds=1), ["start_within_tiny"]),
        (timedelta(seconds=4.999), ["start_within_tiny"]),
        (timedelta(seconds=5), []),
        (timedelta(seconds=5.001), []),
        (None, []),
    ],
)
def test_c13_a_start_limit_of_a_few_seconds_is_told(limit: timedelta | None, expected: list[str]) -> None:
    assert codes(replace(QUIET, on_time=OnTime(start_within=limit, complete_within=timedelta(minutes=1)))) == expected


def test_a_start_limit_without_a_schedule_says_nothing() -> None:
    assert codes(replace(QUIET, schedule=None, on_time=OnTime(start_within=timedelta(seconds=1)))) == []
