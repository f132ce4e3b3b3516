"""Slots, runs, coverage and now to verdicts. Pure. Every slot ends in exactly one verdict, with its reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from collector.facts import Gap, Run, Verdict, VerdictKind
from collector.runs import BAD_SKIPS
from scheduler.jobs import Job
from scheduler.timelaw import jitter_bound, jitter_of, next_slot, previous_slot, skipped_by

# How long after a gap the slots of Tepat's own jobs wait for the word of an outbox before silence is believed.
GAP_PATIENCE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One due instant with its limits worked out. `base`, the slot plus its jitter, is what limits count from.

    `skipped` is why the definition itself excuses the slot: `disabled`, `holiday` or `window`; None when a run is owed.
    """

    job: str
    at: datetime
    base: datetime
    start_limit: datetime | None
    complete_limit: datetime | None
    early: timedelta
    own: bool
    skipped: str | None = None

    @property
    def limit(self) -> datetime:
        """The instant at which silence alone decides."""
        return self.start_limit or self.complete_limit or self.base


def slot_of(job: Job, at: datetime) -> Slot:
    """The slot of `job` at `at`, with limits. For jobs that others run, the jitter's bound stands for the jitter."""
    assert job.schedule is not None, f"job {job.id} has no schedule, so no slots"
    own = job.run is not None
    base = at + (jitter_of(job.id, job.schedule, at) if own else jitter_bound(job.schedule))
    start, complete = job.on_time.start_within, job.on_time.complete_within
    return Slot(
        job=job.id,
        at=at,
        base=base,
        start_limit=None if start is None else base + start,
        complete_limit=None if complete is None else base + complete,
        early=job.early,
        own=own,
        skipped=skipped_by(job, at),
    )


def claimed_slot(job: Job, run: Run) -> datetime | None:
    """The slot that a run stands for: the one it names, or its single candidate by when it started.

    The candidate is the next slot when the start lies within `early` (plus the event's own clock offset) before it;
    else the latest slot at or before the start, if the start is within its limit or nearer to it than to the next.
    """
    if run.slot is not None:
        return run.slot
    moment = run.started_at or run.ended_at
    if job.schedule is None or moment is None or run.id.startswith(f"{job.id}!"):
        return None
    coming = next_slot(job.schedule, moment)
    if coming is not None and coming - moment <= job.early + timedelta(seconds=max(0.0, run.early_offset)):
        return coming
    latest = previous_slot(job.schedule, moment)
    if latest is None:
        return None
    near = coming is None or moment - latest < coming - moment
    return latest if near or moment <= slot_of(job, latest).limit else None


def judge(slot: Slot, runs: Iterable[Run], gaps: Sequence[Gap], now: datetime) -> Verdict:
    """The verdict of one slot from the runs that claim it (`claimed_slot`), the gaps known, and the time."""
    if slot.skipped is not None:
        return _verdict(slot, "skipped", slot.skipped)
    claims = list(runs)
    run = _winner(claims)
    if run is not None:
        return _by_run(slot, run, gaps, now)
    skip = min((r for r in claims if r.skip_reason in BAD_SKIPS), key=_skip_instant, default=None)
    if skip is not None and skip.skipped_at is not None:
        return _verdict(slot, "skipped", str(skip.skip_reason), settled=min(skip.skipped_at, slot.limit), run=skip)
    if now < slot.limit:
        return _verdict(slot, "pending", "not started, within the limit")
    if _blind(slot, slot.limit, gaps, now):
        return _verdict(slot, "unknown", "the observer was blind")
    return _verdict(slot, "missed", "no start by the limit", settled=slot.limit)


def moves_at(slot: Slot, gaps: Sequence[Gap]) -> list[datetime]:
    """The instants at which time alone can change the slot's verdict."""
    limits = [limit for limit in (slot.start_limit, slot.complete_limit) if limit is not None] or [slot.base]
    waits = [gap.until + GAP_PATIENCE for gap in gaps if slot.own and _overlaps(slot, max(limits), gap)]
    return limits + waits


def _winner(runs: Iterable[Run]) -> Run | None:
    """The earliest start wins a slot; the others are extra runs. An end without a start counts by its end."""
    begun = [run for run in runs if _begun(run) is not None]
    return min(begun, key=lambda run: (_begun(run), run.id), default=None)


def _begun(run: Run) -> datetime | None:
    return run.started_at or (run.ended_at if "end_only" in run.flags else None)


def _skip_instant(run: Run) -> tuple[datetime, str]:
    assert run.skipped_at is not None
    return (run.skipped_at, run.id)


def _by_run(slot: Slot, run: Run, gaps: Sequence[Gap], now: datetime) -> Verdict:
    start_limit = slot.start_limit
    if "end_only" in run.flags and slot.complete_limit is not None:
        start_limit = None  # its start is unknown: the end is held against the limit of ends alone
    begun = _begun(run)
    assert begun is not None
    if start_limit is not None and begun > start_limit:
        return _verdict(slot, "late", "started after the limit", settled=start_limit, run=run)
    if slot.complete_limit is None:
        return _verdict(slot, "on_time", "started within the limit", settled=begun, run=run)
    return _by_completion(slot, run, slot.complete_limit, gaps, now)


def _by_completion(slot: Slot, run: Run, limit: datetime, gaps: Sequence[Gap], now: datetime) -> Verdict:
    if run.outcome == "succeeded" and run.ended_at is not None and run.ended_at <= limit:
        return _verdict(slot, "on_time", "succeeded within the limit", settled=run.ended_at, run=run)
    if now < limit:
        return _verdict(slot, "pending", "started, not yet succeeded, within the limit", run=run)
    if run.outcome == "running" and _blind(slot, limit, gaps, now):
        return _verdict(slot, "unknown", "the observer was blind when it should have ended", run=run)
    return _verdict(slot, "late", "not succeeded by the limit", settled=limit, run=run)


def _blind(slot: Slot, limit: datetime, gaps: Sequence[Gap], now: datetime) -> bool:
    touching = [gap for gap in gaps if _overlaps(slot, limit, gap)]
    if slot.own:
        return any(now < gap.until + GAP_PATIENCE for gap in touching)
    return bool(touching)


def _overlaps(slot: Slot, limit: datetime, gap: Gap) -> bool:
    return gap.job in (None, slot.job) and gap.since <= limit and gap.until > slot.at - slot.early


def _verdict(
    slot: Slot, kind: VerdictKind, reason: str, *, settled: datetime | None = None, run: Run | None = None
) -> Verdict:
    started = run.started_at if run is not None else None
    late = None if started is None else max(0.0, (started - slot.base).total_seconds())
    return Verdict(
        job=slot.job,
        slot=slot.at,
        kind=kind,
        reason=reason,
        limit=slot.limit,
        settled_at=settled,
        run=run.id if run is not None else None,
        started_at=started,
        lateness=late,
    )
