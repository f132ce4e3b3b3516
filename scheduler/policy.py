"""What to do with passed-over slots, overlapping runs and failed attempts. Pure; every answer names its reason."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from scheduler.batch_windows import closes_at
from scheduler.jobs import Job, Retry
from scheduler.timelaw import jitter_of

QUEUE_LIMIT = 100
"""With `overlap: queue`, at most so many runs of a job wait; a slot that falls due past them is skipped."""

PAST = timedelta(seconds=5)
"""A slot due longer ago than this was passed over; up to here a planner or a worker is merely a little late."""
OUTAGE = timedelta(seconds=10)
"""A planner that has not looked for so long was down: rows it left behind are passed over too."""
LONGEST_ASKED = timedelta(hours=1)
"""So long another service may put a retry off with `Retry-After`: a wrong header must not park a run for days."""

ErrorKind = Literal["permanent", "temporary", "timeout", "lost", "interrupted", "signature"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterFailure:
    """What follows a failed attempt: another one after `delay`, a dead letter, or nothing when it was replaced."""

    again: bool
    reason: Literal["permanent", "attempts_used", "retry", "interrupted", "replaced"]
    delay: timedelta = timedelta(0)
    uses_retry: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a queued run may start now. `replace` means: not before the running one has been stopped for it."""

    answer: Literal["start", "wait", "skip", "replace"]
    reason: Literal["free", "overlap", "concurrency", "deadline", "buffer_full", "outage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """What else there is of a job, as an admission sees it.

    `running` counts other runs; `covers_due`: one of them was on, or has been, when this run fell due; `outlasts`: such
    a one still runs. `waiting` counts due runs that queue before this one. `late`: a deadline of its start has passed.
    `passed_over`: it fell due while no planner looked, so that catch-up must decide about it first.
    """

    running: int = 0
    covers_due: bool = False
    outlasts: bool = False
    waiting: int = 0
    late: bool = False
    passed_over: bool = False


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """Passed-over slots that still run, and those that only a deadline keeps from it. All others are `catch_up`."""

    run: frozenset[datetime] = frozenset()
    late: frozenset[datetime] = frozenset()

    def reason(self, slot: datetime) -> Literal["catch_up", "deadline"]:
        """Why a slot that is not in `run` is not."""
        return "deadline" if slot in self.late else "catch_up"


def back_off(retry: Retry, number: int, fraction: float) -> timedelta:
    """The wait before retry `number` (from 1): exponential up to `max`; full jitter takes `fraction` (0 to 1) of it."""
    try:
        seconds = retry.initial.total_seconds() * retry.factor ** (number - 1)
    except OverflowError:
        seconds = float("inf")
    ceiling = min(seconds, retry.max.total_seconds())
    return timedelta(seconds=ceiling * fraction if retry.jitter == "full" else ceiling)


def after_failure(
    retry: Retry,
    kind: ErrorKind,
    retries_used: int,
    fraction: float,
    *,
    replaced: bool = False,
    asked: timedelta = timedelta(0),
) -> AfterFailure:
    """Retry or dead-letter. An interruption is the scheduler's own doing, so it costs the job nothing.

    A run that a newer one replaces is not tried again; only what the program itself failed at for good is a failure.
    A retry comes no earlier than the other side `asked`, within `LONGEST_ASKED` or the back-off's own longer `max`.
    """
    then = _after_failure(retry, kind, retries_used, fraction)
    if then.uses_retry:
        then = replace(then, delay=max(then.delay, min(asked, max(retry.max, LONGEST_ASKED))))
    if replaced and (then.again or kind == "lost"):
        return AfterFailure(again=False, reason="replaced")
    return then


def _after_failure(retry: Retry, kind: ErrorKind, retries_used: int, fraction: float) -> AfterFailure:
    if kind == "interrupted":
        return AfterFailure(again=True, reason="interrupted")
    if kind in ("permanent", "signature"):
        return AfterFailure(again=False, reason="permanent")
    if retries_used + 1 >= retry.attempts:
        return AfterFailure(again=False, reason="attempts_used")
    delay = back_off(retry, retries_used + 1, fraction)
    return AfterFailure(again=True, reason="retry", delay=delay, uses_retry=True)


def classify_exit(retry: Retry, code: int) -> ErrorKind:
    """The kind of a bad exit. A death by signal (code below zero) is not the program's own word: temporary."""
    if code < 0 or not retry.on_exit or code in retry.on_exit:
        return "temporary"
    return "permanent"


def too_late(job: Job, slot: datetime, due: datetime, now: datetime) -> bool:
    """Whether the run of a slot may no longer begin: past its start deadline, or its batch window has closed."""
    if job.start_deadline is not None and now - due > job.start_deadline:
        return True
    closes = None if job.window is None else closes_at(job.window, slot)
    return closes is not None and closes <= now


def passed_over(due: datetime, looked_at: datetime | None, now: datetime) -> bool:
    """Whether a planned run fell due while no planner looked (host or scheduler down, clock stepped forward).

    `looked_at` is the planner's last look at the job, before `now`.
    """
    return looked_at is not None and now - due > PAST and looked_at < due and now - looked_at > OUTAGE


def wanted_back(job: Job) -> int:
    """How many passed-over slots the job's catch-up mode may run at most."""
    return {"none": 0, "latest": 1, "all": job.catch_up_limit}[job.catch_up]


def catch_up(job: Job, past: Sequence[datetime], now: datetime, *, has_current: bool) -> CaughtUp:
    """Which of the passed-over slots (ascending; none that the definition excuses) still run at `now`.

    `latest` wants the newest slot alone: when one is due right now, that is it, and none of the past runs. A slot is
    as old as its due instant, its jitter included.
    """
    count = wanted_back(job)
    if count == 0 or (job.catch_up == "latest" and has_current):
        return CaughtUp()
    wanted = frozenset(past[-count:])
    late = frozenset(slot for slot in wanted if _is_stale(job, slot, now))
    return CaughtUp(wanted - late, late)


def _is_stale(job: Job, slot: datetime, now: datetime) -> bool:
    assert job.schedule is not None
    due = slot + jitter_of(job.id, job.schedule, slot)
    if job.catch_up_deadline is not None and now - due > job.catch_up_deadline:
        return True
    return too_late(job, slot, due, now)


def admit(job: Job, active: Active, *, fresh_slot: bool) -> Admission:
    """May this run start? Overlap is decided first; concurrency then lets it wait.

    `fresh_slot` is true for a scheduled run at its first attempt: only such a run is skipped, or replaces another,
    because it fell due while that one ran. One that was due before the other began (a backlog), a retry and a run by
    hand wait.
    """
    if fresh_slot:
        turned_away = _turned_away(job, active)
        if turned_away is not None:
            return turned_away
    if job.overlap != "allow" and active.running:
        return Admission("wait", "overlap")
    if job.concurrency is not None and active.running >= job.concurrency:
        return Admission("wait", "concurrency")
    return Admission("start", "free")


def _turned_away(job: Job, active: Active) -> Admission | None:
    """What keeps a slot's first attempt from being considered at all."""
    if active.passed_over:
        return Admission("wait", "outage")
    if job.overlap == "forbid" and active.covers_due:
        return Admission("skip", "overlap")
    if active.late:
        return Admission("skip", "deadline")
    if job.overlap == "queue" and active.waiting >= QUEUE_LIMIT:
        return Admission("skip", "buffer_full")
    if job.overlap == "replace" and active.outlasts:
        return Admission("replace", "overlap")
    return None
