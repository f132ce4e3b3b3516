"""May a queued run start, wait, be skipped, or replace another? One row for each answer that `admit` can give."""

from datetime import UTC, datetime, timedelta

import pytest
from queueing.farm import START, minutely

from scheduler.jobs import Retry, Schedule, Window
from scheduler.policy import (
    OUTAGE,
    PAST,
    QUEUE_LIMIT,
    Active,
    Admission,
    admit,
    after_failure,
    passed_over,
    too_late,
)

MICRO = timedelta(microseconds=1)
SECOND = timedelta(seconds=1)
BUSY = Active(running=1, covers_due=True, outlasts=True)
ANOTHER = Active(running=1)
ENDED = Active(running=0, covers_due=True)


@pytest.mark.parametrize(
    ("overlap", "active", "answer", "reason"),
    [
        ("forbid", Active(), "start", "free"),
        ("forbid", BUSY, "skip", "overlap"),
        ("forbid", ENDED, "skip", "overlap"),
        ("forbid", ANOTHER, "wait", "overlap"),
        ("allow", BUSY, "start", "free"),
        ("queue", Active(), "start", "free"),
        ("queue", BUSY, "wait", "overlap"),
        ("queue", ENDED, "start", "free"),
        ("replace", Active(), "start", "free"),
        ("replace", BUSY, "replace", "overlap"),
        ("replace", ENDED, "start", "free"),
        ("replace", ANOTHER, "wait", "overlap"),
    ],
)
def test_a_slot_meets_another_run_of_its_job(overlap: str, active: Active, answer: str, reason: str) -> None:
    assert admit(minutely(overlap=overlap), active, fresh_slot=True) == Admission(answer, reason)  # type: ignore[arg-type]


@pytest.mark.parametrize("overlap", ["forbid", "queue", "replace"])
def test_a_retry_or_a_run_by_hand_is_never_turned_away(overlap: str) -> None:
    crowded = Active(running=1, covers_due=True, outlasts=True, waiting=QUEUE_LIMIT, late=True, passed_over=True)
    assert admit(minutely(overlap=overlap), crowded, fresh_slot=False) == Admission("wait", "overlap")


@pytest.mark.parametrize(
    ("waiting", "answer"), [(QUEUE_LIMIT - 1, "wait"), (QUEUE_LIMIT, "skip"), (QUEUE_LIMIT + 1, "skip")]
)
def test_a_slot_that_finds_the_line_full_is_skipped(waiting: int, answer: str) -> None:
    found = admit(minutely(overlap="queue"), Active(running=1, waiting=waiting), fresh_slot=True)
    assert (found.answer, found.reason) == (answer, "buffer_full" if answer == "skip" else "overlap")


def test_an_overlap_is_the_reason_even_when_the_deadline_has_passed_too() -> None:
    assert admit(minutely(), Active(covers_due=True, late=True), fresh_slot=True).reason == "overlap"
    assert admit(minutely(), Active(running=1, late=True), fresh_slot=True) == Admission("skip", "deadline")


def test_what_no_planner_has_seen_fall_due_waits_for_one() -> None:
    lost = Active(covers_due=True, late=True, passed_over=True)
    assert admit(minutely(), lost, fresh_slot=True) == Admission("wait", "outage")


def test_concurrency_lets_wait_what_overlap_lets_start() -> None:
    assert admit(minutely(overlap="allow", concurrency=1), BUSY, fresh_slot=True) == Admission("wait", "concurrency")
    assert admit(minutely(overlap="allow", concurrency=2), BUSY, fresh_slot=True).answer == "start"


@pytest.mark.parametrize(
    ("after", "late"), [(200 * SECOND - MICRO, False), (200 * SECOND, False), (200 * SECOND + MICRO, True)]
)
def test_a_start_deadline_is_passed_strictly_after_it(after: timedelta, late: bool) -> None:
    due = START + 30 * SECOND
    assert too_late(minutely(start_deadline=200 * SECOND), START, due, due + after) is late


@pytest.mark.parametrize(("after", "late"), [(-MICRO, False), (timedelta(0), True), (MICRO, True)])
def test_a_batch_window_is_closed_from_its_end_on(after: timedelta, late: bool) -> None:
    night = minutely(
        schedule=Schedule(timezone="Europe/Berlin", cron="59 4 * * *"),
        window=Window(start=22 * 3600, end=5 * 3600, timezone="Europe/Berlin"),
    )
    slot, closes = datetime(2026, 7, 1, 2, 59, tzinfo=UTC), datetime(2026, 7, 1, 3, 0, tzinfo=UTC)
    assert too_late(night, slot, slot, closes + after) is late


def test_without_deadline_and_window_it_is_never_too_late() -> None:
    assert not too_late(minutely(), START, START, START + timedelta(days=999))


@pytest.mark.parametrize(("age", "unseen"), [(PAST - MICRO, False), (PAST, False), (PAST + MICRO, True)])
def test_a_run_is_passed_over_once_it_is_older_than_a_late_look(age: timedelta, unseen: bool) -> None:
    assert passed_over(START, START - timedelta(hours=1), START + age) is unseen


@pytest.mark.parametrize(("silence", "unseen"), [(OUTAGE - MICRO, False), (OUTAGE, False), (OUTAGE + MICRO, True)])
def test_only_a_long_silence_of_planners_passes_runs_over(silence: timedelta, unseen: bool) -> None:
    now = START + timedelta(hours=1)
    assert passed_over(now - PAST - MICRO, now - silence, now) is unseen


@pytest.mark.parametrize(("looked", "unseen"), [(-MICRO, True), (timedelta(0), False), (MICRO, False)])
def test_a_run_that_was_due_at_the_last_look_waits_rightly(looked: timedelta, unseen: bool) -> None:
    assert passed_over(START, START + looked, START + timedelta(hours=1)) is unseen


def test_a_job_that_no_planner_knows_passes_nothing_over() -> None:
    assert not passed_over(START, None, START + timedelta(days=1))


@pytest.mark.parametrize(
    ("kind", "used", "reason"),
    [
        ("interrupted", 0, "replaced"),
        ("lost", 0, "replaced"),
        ("lost", 1, "replaced"),
        ("temporary", 0, "replaced"),
        ("temporary", 1, "attempts_used"),
        ("timeout", 1, "attempts_used"),
        ("permanent", 0, "permanent"),
    ],
)
def test_a_replaced_run_is_not_tried_again(kind: str, used: int, reason: str) -> None:
    then = after_failure(Retry(attempts=2), kind, used, 0.0, replaced=True)  # type: ignore[arg-type]
    assert (then.again, then.reason) == (False, reason)
