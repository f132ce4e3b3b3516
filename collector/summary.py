"""What a job's verdicts and runs add up to: the one function behind API, `/metrics`, dashboard and backtest. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from collector.facts import Outcome, Run, Verdict, VerdictKind
from collector.hints import zone_hint
from collector.runs import BAD_SKIPS
from collector.sketch import Sketch, summary
from scheduler.jobs import Job

VERDICTS: tuple[VerdictKind, ...] = ("on_time", "late", "missed", "unknown", "pending")
OUTCOMES: tuple[Outcome, ...] = ("succeeded", "failed", "cancelled", "dead_lettered", "running")


def job_summary(verdicts: Iterable[Verdict], runs: Iterable[Run], job: Job | None, now: datetime) -> dict[str, Any]:
    """Slots by verdict, runs by outcome, rates and percentiles (seconds) of one job over what is passed in.

    Rates are null, never 0 or 1, where nothing was counted. A skip by `holiday`, `window` or `disabled` leaves the
    on-time rate's denominator; other skips count as bad in it.
    """
    slots, found = list(verdicts), [run for run in runs if run.outcome is not None]
    kinds = Counter(verdict.kind for verdict in slots)
    skipped = Counter(verdict.reason for verdict in slots if verdict.kind == "skipped")
    outcomes = Counter(run.outcome for run in found)
    bad = outcomes["failed"] + outcomes["dead_lettered"]
    off_time = kinds["late"] + kinds["missed"] + sum(skipped[reason] for reason in BAD_SKIPS)
    return {
        "slots": {
            "expected": len(slots),
            **{kind: kinds[kind] for kind in VERDICTS},
            "skipped": dict(sorted(skipped.items())),
        },
        "runs": {"total": len(found), **{outcome: outcomes[outcome] for outcome in OUTCOMES}},
        "attempts": sum(run.starts for run in found),
        "retries": sum(run.retries for run in found),
        "duplicate_starts": sum(run.duplicate_starts for run in found),
        "on_time_rate": rate(kinds["on_time"], off_time),
        "success_rate": rate(outcomes["succeeded"], bad),
        "duration_seconds": lengths(run.duration for run in found if run.outcome != "cancelled"),
        "lateness_seconds": lengths(verdict.lateness for verdict in slots if verdict.kind in ("on_time", "late")),
        "flags": sorted(set().union(*(run_flags(run, job, now) for run in found), _hints(slots, found, job))),
    }


def _hints(slots: Iterable[Verdict], runs: Iterable[Run], job: Job | None) -> set[str]:
    hint = zone_hint(job, {verdict.slot for verdict in slots if verdict.kind == "missed"}, runs)
    return set() if hint is None else {hint}


def rate(good: int, bad: int) -> float | None:
    """good / (good + bad), or None when there is neither."""
    return good / (good + bad) if good + bad else None


def lengths(values: Iterable[float | None]) -> dict[str, Any]:
    """Count and percentiles of lengths in seconds; those that can't be known are left out."""
    known = [value for value in values if value is not None]
    return summary(Sketch(known), max(known, default=None))


def queue_of(run: Run, jobs: Mapping[str, Job]) -> str:
    """The queue that a dead letter counts for: what its event says, else its job's, else `default`."""
    job = jobs.get(run.job)
    return run.dead_queue or (job.queue if job is not None else "default")


def overdue_at(run: Run, job: Job | None) -> datetime | None:
    """The instant after which the run is overdue, or None where the job has no run deadline."""
    if job is None or job.run_deadline is None or run.started_at is None:
        return None
    return run.started_at + job.run_deadline


def run_flags(run: Run, job: Job | None, now: datetime) -> frozenset[str]:
    """The run's flags, with `overdue` when it has been, or was, open past its deadline."""
    deadline = overdue_at(run, job)
    over = deadline is not None and (run.ended_at or now) > deadline
    return run.flags | {"overdue"} if over else run.flags
