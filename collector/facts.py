"""What the collector knows once events are folded: runs, attempts, stages, verdicts, as frozen values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

Outcome = Literal["queued", "running", "succeeded", "failed", "cancelled", "dead_lettered"]
VerdictKind = Literal["pending", "on_time", "late", "missed", "skipped", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A named step inside an attempt; `at` is its end, `seconds` its length."""

    name: str
    at: datetime
    seconds: float | None = None
    ok: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of a run. `error` is the `error` object of the event that ended it, if that was a bad end."""

    number: int
    started_at: datetime | None = None
    ended_at: datetime | None = None
    worker: str | None = None
    outcome: Literal["running", "retrying", "succeeded", "failed", "cancelled"] = "running"
    seconds: float | None = None
    error: dict[str, Any] | None = None
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The work done for one slot or one trigger. `outcome` is None when all that is known is that it was skipped."""

    id: str
    job: str
    source: str
    slot: datetime | None
    outcome: Outcome | None
    first_at: datetime
    queued_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    duration: float | None = None
    attempts: tuple[Attempt, ...] = ()
    starts: int = 0
    retries: int = 0
    duplicate_starts: int = 0
    flags: frozenset[str] = frozenset()
    error: dict[str, Any] | None = None
    output_tail: str = ""
    skip_reason: str | None = None
    skipped_at: datetime | None = None
    early_offset: float = 0.0
    dead_queue: str | None = None
    dead_since: datetime | None = None
    dead_arrivals: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Of one slot. `settled_at` is the instant it belongs to (None while pending or unknown); `reason` says why."""

    job: str
    slot: datetime
    kind: VerdictKind
    reason: str
    limit: datetime
    settled_at: datetime | None = None
    run: str | None = None
    started_at: datetime | None = None
    lateness: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The observer was blind in [since, until): silence in it proves nothing. `job` None means every job."""

    since: datetime
    until: datetime
    job: str | None = None
