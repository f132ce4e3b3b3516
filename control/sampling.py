"""The queues' load as it was last sampled: taken when somebody asks, and never passed on when it has become stale."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from collector.durations import mean_durations
from scheduler.clock import monotonic
from scheduler.database import read
from scheduler.depths import job_loads
from scheduler.instants import format_instant
from scheduler.jobs import Job
from scheduler.queue_load import Known, QueueLoad, queue_loads
from scheduler.scaling import Limits, wanted

SAMPLE_SECONDS = 5.0
"""A sample is used for so long before a new one is tried."""
STALE_SECONDS = 3 * SAMPLE_SECONDS
"""A sample that is older is no answer any more."""
log = structlog.get_logger("ledger.sampling")


class StaleError(Exception):
    """There is no sample that is fresh enough; the text says why."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Every queue's load at one moment."""

    taken_at: datetime
    queues: Mapping[str, QueueLoad]


def take_sample(ledger: Engine, queue: Engine, jobs: Mapping[str, Job], now: datetime) -> Sample:
    """A new sample; SQLAlchemyError when a store can't be read."""
    loads, looks = job_loads(queue, now)
    with read(ledger) as connection:
        durations = mean_durations(connection, now)
    return Sample(now, queue_loads(loads, Known(jobs=jobs, looks=looks, durations=durations, now=now)))


def scaling_item(load: QueueLoad, limits: Limits, sample: Sample) -> dict[str, Any]:
    """The scaling signal of one queue; ages and durations in seconds, rates per second."""
    found = wanted(load, limits)
    return {
        "queue": load.queue,
        "depth": load.depth,
        "ready": load.ready,
        "in_flight": load.in_flight,
        "oldest_age_seconds": load.oldest_age,
        "ingress_rate": load.ingress_rate,
        "mean_duration_seconds": load.mean_duration,
        "due_soon": load.due_soon,
        "desired_replicas": found.replicas,
        "decided_by": found.decided_by,
        "formula": found.formula,
        "per_replica": limits.per_replica,
        "sampled_at": format_instant(sample.taken_at),
        "stale": False,
    }


class Sampler:
    """Keeps the last sample. Many may ask at once: one takes it, the others wait for that one."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._kept: Sample | None = None
        self._taken, self._trouble = 0.0, ""

    def get(self, take: Callable[[], Sample]) -> Sample:
        """The last sample, taken anew when it is older than an interval. StaleError when it is older than three."""
        with self._lock:
            at = self._clock()
            if self._kept is None or at - self._taken >= SAMPLE_SECONDS:
                self._renew(take, at)
            if self._kept is None:
                raise StaleError(f"no sample has been taken yet: {self._trouble}")
            age = at - self._taken
            if age > STALE_SECONDS:
                raise StaleError(f"the last sample is {age:.0f} s old, {STALE_SECONDS:g} s at most: {self._trouble}")
            return self._kept

    def _renew(self, take: Callable[[], Sample], at: float) -> None:
        try:
            self._kept, self._taken = take(), at
        except SQLAlchemyError as error:
            self._trouble = f"a store can't be read ({type(error).__name__}), see GET /readyz and the service's log"
            log.warning("sample failed", error=repr(error))
