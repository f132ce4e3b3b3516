"""What to do with passed-over slots, overlapping runs and failed attempts. Pure; every answer names its reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from scheduler.jobs import CatchUp, Job, Overlap, Retry

CATCH_UP_LIMIT = 100
"""With `catch_up: all`, the newest so many passed-over slots run; older ones are recorded as skipped."""

ErrorKind = Literal["permanent", "temporary", "timeout", "lost", "interrupted", "signature"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterFailure:
    """What follows a failed attempt: another one after `delay`, or a dead letter."""

    again: bool
    reason: Literal["permanent", "attempts_used", "retry", "interrupted"]
    delay: timedelta = timedelta(0)
    uses_retry: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a queued run may start now."""

    answer: Literal["start", "wait", "skip"]
    reason: Literal["free", "overlap", "concurrency"]


@dataclass(frozen=True, slots=True)
class Active:
    """Other runs of a job as an admission sees them: how many run, and when one of them began before a due instant."""

    running: int
    covers_due: bool


def back_off(retry: Retry, number: int, fraction: float) -> timedelta:
    """The wait before retry `number` (from 1): exponential up to `max`; full jitter takes `fraction` (0 to 1) of it."""
    try:
        seconds = retry.initial.total_seconds() * retry.factor ** (number - 1)
    except OverflowError:
        seconds = float("inf")
    ceiling = min(seconds, retry.max.total_seconds())
    return timedelta(seconds=ceiling * fraction if retry.jitter == "full" else ceiling)


def after_failure(retry: Retry, kind: ErrorKind, retries_used: int, fraction: float) -> AfterFailure:
    """Retry or dead-letter. An interruption is the scheduler's own doing, so it costs the job nothing."""
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


def catch_up(mode: CatchUp, past: Sequence[datetime], *, has_current: bool) -> frozenset[datetime]:
    """Which of the passed-over slots (ascending) still run; the others are recorded with reason `catch_up`.

    `latest` wants the newest slot alone: when one is due right now, that is it, and none of the past runs.
    """
    if mode == "all":
        return frozenset(past[-CATCH_UP_LIMIT:])
    if mode == "latest" and not has_current:
        return frozenset(past[-1:])
    return frozenset()


def admit(job: Job, active: Active, *, fresh_slot: bool) -> Admission:
    """May this run start? Overlap is decided first; concurrency then lets it wait.

    `fresh_slot` is true for a scheduled run at its first attempt: only such a run is skipped for overlap, because it
    fell due while another ran. One that was due before the other began (a backlog), a retry and a run by hand wait.
    """
    if _forbids(job.overlap):
        if fresh_slot and active.covers_due:
            return Admission("skip", "overlap")
        if active.running:
            return Admission("wait", "overlap")
    if job.concurrency is not None and active.running >= job.concurrency:
        return Admission("wait", "concurrency")
    return Admission("start", "free")


def _forbids(overlap: Overlap) -> bool:
    return overlap == "forbid"
