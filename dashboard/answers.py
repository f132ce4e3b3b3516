"""The shapes of the API's answers that the screens read: checked once where they come in, trusted after.

Keys that a screen does not need are passed over, so a newer API stays readable. Instants are aware, durations are
seconds, rates are shares between 0 and 1, and `None` is "no data". Must not fetch, format or judge.
"""

from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

Item = TypeVar("Item")


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """One answer of a list. `next` is the cursor of the next page, None at the end."""

    items: list[Item]
    next: str | None = None


class Gap(msgspec.Struct, frozen=True, rename={"since": "from"}):
    """The collector was blind from `since` until `until`; `None` means that it still is."""

    since: datetime
    until: datetime | None = None


class Status(msgspec.Struct, frozen=True):
    """The API's own state. Its `as_of` is the only "now" that the dashboard has."""

    as_of: datetime
    version: str = ""
    store: str = "ok"
    gaps: list[Gap] = []
    event_count: int | None = None


class Quantiles(msgspec.Struct, frozen=True):
    """Seconds over a job's window, each within the sketch's 1 %."""

    count: int = 0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class SlotCounts(msgspec.Struct, frozen=True):
    """How many slots of the window got which verdict; `skipped` by reason."""

    expected: int = 0
    on_time: int = 0
    late: int = 0
    missed: int = 0
    unknown: int = 0
    pending: int = 0
    skipped: dict[str, int] = {}


class RunCounts(msgspec.Struct, frozen=True):
    """How many runs of the window had which outcome."""

    total: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    dead_lettered: int = 0
    running: int = 0


class Schedule(msgspec.Struct, frozen=True):
    """A schedule in its author's words, and the zone that those words count in."""

    text: str = ""
    timezone: str = "UTC"


class Run(msgspec.Struct, frozen=True):
    """A run; `error` is what the job said, foreign text."""

    id: str
    job: str = ""
    slot: datetime | None = None
    outcome: str | None = None
    attempts: int | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    duration_seconds: float | None = None
    error: Any = None
    flags: list[str] = []


class Job(msgspec.Struct, frozen=True):
    """A job with its numbers over `window`."""

    id: str
    description: str = ""
    owner: str | None = None
    impact: str | None = None
    queue: str = ""
    tenant: str | None = None
    enabled: bool = True
    runbook: str | None = None
    schedule: Schedule | None = None
    next_slots: list[datetime] = []
    running: int = 0
    window: str = ""
    slots: SlotCounts = SlotCounts()
    runs: RunCounts = RunCounts()
    retries: int = 0
    on_time_rate: float | None = None
    success_rate: float | None = None
    duration_seconds: Quantiles = Quantiles()
    lateness_seconds: Quantiles = Quantiles()
    last_run: Run | None = None


class Slot(msgspec.Struct, frozen=True):
    """One due instant and its verdict."""

    job: str
    slot: datetime
    verdict: str
    reason: str | None = None
    limit: datetime | None = None
    run: str | None = None
    started_at: datetime | None = None
    lateness_seconds: float | None = None


class Queue(msgspec.Struct, frozen=True):
    """A queue's depth now, and its dead letters'."""

    queue: str
    depth: int | None = None
    oldest_seconds: float | None = None
    running: int | None = None
    dead_depth: int | None = None
    dead_arrivals: int | None = None
    dead_oldest_seconds: float | None = None


class Budget(msgspec.Struct, frozen=True):
    """Bad events allowed and spent in the window; `remaining` is a share, below 0 when overspent."""

    allowed: float | None = None
    spent: float | None = None
    remaining: float | None = None


class Objective(msgspec.Struct, frozen=True):
    """An objective and where it stands; `burn` by window, as multiples of the allowed rate."""

    id: str
    indicator: str = ""
    objective: float | None = None
    window: str = ""
    jobs: list[str] = []
    expected: int | None = None
    bad: int | None = None
    sli: float | None = None
    state: str = "no_data"
    budget: Budget = Budget()
    burn: dict[str, float | None] = {}


class Alert(msgspec.Struct, frozen=True):
    """An episode; open while `resolved_at` is None."""

    id: str
    slo: str
    severity: str
    started_at: datetime
    resolved_at: datetime | None = None
    reason: Any = None


class Snapshot(msgspec.Struct, frozen=True):
    """All that one refresh learned. `cut` names the lists of which the API, or a bound of ours, held more back."""

    status: Status
    jobs: list[Job]
    slots: list[Slot]
    running: list[Run]
    dead: list[Run]
    queues: list[Queue]
    objectives: list[Objective]
    alerts: list[Alert]
    cut: list[str] = []

    @property
    def as_of(self) -> datetime:
        """The instant that the data speaks of, by the API's clock."""
        return self.status.as_of
