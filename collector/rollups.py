"""What runs and slots add up to by the minute: counts, and sketches of duration and lateness. Pure.

A rollup is a bag of whole numbers, so that adding, taking out again, and summing minutes to hours are exact.
A run counts in the minute it ended, a slot in the minute it was due, whenever anybody heard of it.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from collector.facts import Run, Verdict
from collector.sketch import Sketch, summary
from scheduler.instants import format_instant, from_micros, to_micros

Rollup = Counter[str]
BucketKey = tuple[str, int]
MINUTE = 60_000_000
STEPS = {"1m": timedelta(minutes=1), "1h": timedelta(hours=1), "1d": timedelta(days=1)}
_SKETCHED = ("duration", "lateness")


def minute_of(at: datetime) -> int:
    """The start of the instant's UTC minute, in microseconds since 1970."""
    return to_micros(at) // MINUTE * MINUTE


def of_run(run: Run | None) -> tuple[BucketKey, Rollup] | None:
    """Where a run counts and what it adds; None while it has not ended."""
    if run is None or run.ended_at is None or run.outcome is None:
        return None
    found = Rollup({f"runs/{run.outcome}": 1, "attempts": run.starts, "retries": run.retries})
    if run.duration is not None and run.outcome != "cancelled":
        found += _sketched("duration", run.duration)
    return (run.job, minute_of(run.ended_at)), found


def of_verdict(verdict: Verdict) -> tuple[BucketKey, Rollup]:
    """Where a slot counts and what it adds."""
    kind = f"skipped/{verdict.reason}" if verdict.kind == "skipped" else verdict.kind
    found = Rollup({f"slots/{kind}": 1})
    if verdict.lateness is not None and verdict.kind in ("on_time", "late"):
        found += _sketched("lateness", verdict.lateness)
    return (verdict.job, minute_of(verdict.slot)), found


def changed(rollup: Rollup, taken_out: Iterable[Rollup], put_in: Iterable[Rollup]) -> Rollup:
    """The rollup with some contributions exactly out again and others in; nothing is kept of what came to zero."""
    found = Rollup(rollup)
    for each in put_in:
        found.update(each)
    for each in taken_out:
        found.subtract(each)
    return Rollup({name: count for name, count in found.items() if count})


def coarser(rollups: Iterable[tuple[int, Rollup]], step: timedelta) -> dict[int, Rollup]:
    """Minutes summed to steps of UTC time, by the start of the step in microseconds, ascending."""
    size = step // timedelta(microseconds=1)
    found: dict[int, Rollup] = {}
    for minute, rollup in rollups:
        found.setdefault(minute // size * size, Rollup()).update(rollup)
    return dict(sorted(found.items()))


def item(job: str, at: int, rollup: Rollup) -> dict[str, Any]:
    """One bucket as the API lists it. Percentiles are within 1 %, the maximum too."""
    return {
        "job": job,
        "at": format_instant(from_micros(at)),
        "slots": _counts(rollup, "slots/"),
        "runs": _counts(rollup, "runs/"),
        "attempts": rollup["attempts"],
        "retries": rollup["retries"],
        **{f"{name}_seconds": _percentiles(rollup, name) for name in _SKETCHED},
    }


def _sketched(name: str, seconds: float) -> Rollup:
    sketch = Sketch([seconds])
    return Rollup({f"{name}/{index}": 1 for index in sketch.buckets} or {f"{name}/zero": 1})


def _counts(rollup: Rollup, prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): count for name, count in sorted(rollup.items()) if name.startswith(prefix)}


def _percentiles(rollup: Rollup, name: str) -> dict[str, Any]:
    sketch = Sketch()
    for index, count in _counts(rollup, f"{name}/").items():
        if index == "zero":
            sketch.zero = count
        else:
            sketch.buckets[int(index)] = count
    return summary(sketch, sketch.quantile(1.0))
