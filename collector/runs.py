"""Events to run state. Pure and order-free: the same set of events gives the same run, whatever order they came in."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from collector.facts import Attempt, Outcome, Run, Stage
from scheduler.events import RunEvent

# How ends of one attempt outrank each other. `lost` is the sweeper's guess: any word from the worker itself beats it.
_SUCCEEDED, _FAILED, _CANCELLED, _LOST = 4, 3, 2, 1
BAD_SKIPS = frozenset({"overlap", "deadline", "upstream", "buffer_full"})
_ENDS = frozenset({"succeeded", "failed", "cancelled", "dead_lettered"})
_LIFE = frozenset({"started", "stage", "heartbeat", "retrying"})


def event_order(event: RunEvent) -> tuple[datetime, str, str]:
    """The one order in which events are considered, whatever order they arrived in."""
    return (event.at, event.source, event.id)


def fold(run_key: str, events: Iterable[RunEvent], flags: frozenset[str] = frozenset()) -> Run:
    """All events of one run to its state. `flags` are what the caller knows (`ambiguous`, `conflict`).

    Durations are seconds; instants aware UTC. Raises ValueError for no events, since nothing is known of such a run.
    """
    facts = sorted(events, key=event_order)
    if not facts:
        raise ValueError(f"run {run_key}: no events to fold")
    base = max((event.attempt for event in facts if event.type == "redriven"), default=1)
    end = _last_end(facts, base)
    outcome = _outcome(facts, base, end)
    started_at, end_only = _start(facts, end)
    over = outcome not in (None, "queued", "running")
    duration, skewed = _duration(facts, base, end, flags) if over else (None, False)
    duplicates, stepped = _duplicate_starts(facts), any("clock_step" in event.data for event in facts)
    found = {"clock_skew": skewed, "clock_step": stepped, "end_only": end_only, "duplicate_execution": duplicates > 0}
    skip, dead = _skip(facts), _dead(facts, outcome)
    return Run(
        id=run_key,
        job=next((event.job for event in facts if event.job is not None), ""),
        source=facts[0].source,
        slot=next((event.slot for event in facts if event.slot is not None), None),
        outcome=outcome,
        first_at=facts[0].at,
        queued_at=next((event.at for event in facts if event.type == "queued"), None),
        started_at=started_at,
        ended_at=end.at if end is not None and over else None,
        duration=duration,
        attempts=_attempts(facts),
        starts=len(_starts(facts)),
        retries=len({event.attempt for event in facts if event.type == "started" and event.attempt > base}),
        duplicate_starts=duplicates,
        flags=flags | {name for name, is_so in found.items() if is_so},
        error=_error(end),
        output_tail=str(end.data.get("output_tail", "")) if end is not None else "",
        skip_reason=skip.data.get("reason") if skip is not None else None,
        skipped_at=skip.at if skip is not None else None,
        early_offset=clock_offset(next((event for event in facts if event.type == "started"), facts[0])),
        dead_queue=dead.data.get("queue") if dead is not None else None,
        dead_since=dead.at if dead is not None else None,
        dead_arrivals=len({event.attempt for event in facts if event.type == "dead_lettered"}),
    )


def clock_offset(event: RunEvent) -> float:
    """Seconds by which the sender's clock is behind the collector's, by this event's own word; else 0."""
    if event.sent_at is None or event.received_at is None:
        return 0.0
    return (event.received_at - event.sent_at).total_seconds()


def _rank(event: RunEvent) -> int:
    if event.type == "succeeded":
        return _SUCCEEDED
    if event.type == "cancelled":
        return _CANCELLED
    return _LOST if _kind(event) == "lost" else _FAILED


def _kind(event: RunEvent) -> Any:
    error = event.data.get("error")
    return error.get("kind") if isinstance(error, dict) else None


def _last_end(facts: list[RunEvent], base: int) -> RunEvent | None:
    """The end that stands: higher attempt, then rank, then a plain `failed` over its dead letter, then the earliest."""
    ends = [event for event in facts if event.type in _ENDS and event.attempt >= base]
    # `facts` ascends in time, and max keeps the first of equals: the earliest.
    return max(ends, key=lambda event: (event.attempt, _rank(event), event.type != "dead_lettered"), default=None)


def _outcome(facts: list[RunEvent], base: int, end: RunEvent | None) -> Outcome | None:
    living = max((event.attempt for event in facts if event.type in _LIFE and event.attempt >= base), default=0)
    if end is not None and living <= end.attempt:
        return _ended(facts, end)
    if living:
        return "running"
    return "queued" if any(event.type in ("queued", "redriven") for event in facts) else None


def _ended(facts: list[RunEvent], end: RunEvent) -> Outcome:
    if end.type == "succeeded":
        return "succeeded"
    if end.type == "cancelled":
        return "cancelled"
    dead = any(event.type == "dead_lettered" and event.attempt >= end.attempt for event in facts)
    return "dead_lettered" if dead else "failed"


def _start(facts: list[RunEvent], end: RunEvent | None) -> tuple[datetime | None, bool]:
    """When the run's first attempt began, and whether only an end without a length is known."""
    first = next((event.at for event in facts if event.type == "started"), None)
    if first is not None or end is None or end.type not in ("succeeded", "failed"):
        return first, False
    seconds = _seconds(end)
    return (None, True) if seconds is None else (end.at - timedelta(seconds=seconds), False)


def _duration(
    facts: list[RunEvent], base: int, end: RunEvent | None, flags: frozenset[str]
) -> tuple[float | None, bool]:
    """The run's length in seconds, or None where it can't be known, and whether the clocks contradict each other."""
    if end is None or "ambiguous" in flags:
        return None, False
    starts = [event for event in facts if event.type == "started" and event.attempt >= base]
    wall = (end.at - starts[0].at).total_seconds() if starts else None
    skewed = wall is not None and wall < 0
    seconds = _seconds(end)
    if seconds is not None and len({event.attempt for event in starts}) <= 1:
        return seconds, skewed
    return (None if skewed else wall), skewed


def _seconds(event: RunEvent) -> float | None:
    """The sender's monotonic length, where it is a finite number that is not negative."""
    value = event.data.get("seconds")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        return None
    return float(value)


def _starts(facts: list[RunEvent]) -> set[tuple[int, Any, Any]]:
    return {_start_key(event) for event in facts if event.type == "started"}


def _start_key(event: RunEvent) -> tuple[int, str, str]:
    return (event.attempt, str(event.data.get("worker", "")), str(event.data.get("fence", "")))


def _duplicate_starts(facts: list[RunEvent]) -> int:
    starts = _starts(facts)
    return len(starts) - len({attempt for attempt, _, _ in starts})


def _error(end: RunEvent | None) -> dict[str, Any] | None:
    if end is None or end.type == "succeeded":
        return None
    error = end.data.get("error")
    if isinstance(error, dict):
        return error
    reason = end.data.get("reason")
    return {"kind": end.type, "message": str(reason)} if reason else None


def _skip(facts: list[RunEvent]) -> RunEvent | None:
    """The skip that counts: the earliest one that is bad for punctuality, else the earliest that explains."""
    skips = [event for event in facts if event.type == "skipped"]
    return min(skips, key=lambda event: (event.data.get("reason") not in BAD_SKIPS, event.at), default=None)


def _dead(facts: list[RunEvent], outcome: Outcome | None) -> RunEvent | None:
    """The dead letter that still waits for a person, if any."""
    letters = [event for event in facts if event.type == "dead_lettered"]
    if not letters or outcome != "dead_lettered":
        return None
    attempt = max(event.attempt for event in letters)
    if any(event.type == "discarded" and event.attempt >= attempt for event in facts):
        return None
    return next(event for event in letters if event.attempt == attempt)


def _attempts(facts: list[RunEvent]) -> tuple[Attempt, ...]:
    numbers = sorted({event.attempt for event in facts if event.type in _LIFE | {"succeeded", "failed"}})
    return tuple(_attempt(number, [event for event in facts if event.attempt == number]) for number in numbers)


def _attempt(number: int, facts: list[RunEvent]) -> Attempt:
    start = next((event for event in facts if event.type == "started"), None)
    ends = [event for event in facts if event.type in ("succeeded", "failed", "cancelled", "retrying")]
    end = max(ends, key=_rank, default=None)
    return Attempt(
        number=number,
        started_at=start.at if start is not None else None,
        ended_at=end.at if end is not None else None,
        worker=str(start.data["worker"]) if start is not None and "worker" in start.data else None,
        outcome=end.type if end is not None else "running",  # type: ignore[arg-type]  # the list above is the type
        seconds=_seconds(end) if end is not None else None,
        error=_error(end),
        stages=tuple(_stage(event) for event in facts if event.type == "stage"),
    )


def _stage(event: RunEvent) -> Stage:
    return Stage(
        name=str(event.data.get("name", "stage"))[:200],
        at=event.at,
        seconds=_seconds(event),
        ok=event.data.get("ok") is not False,
    )
