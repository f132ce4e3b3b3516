"""What lies before each queue's workers: the jobs' rows, put together as numbers per queue. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler.instants import format_instant
from scheduler.jobs import Job
from scheduler.policy import OUTAGE
from scheduler.timelaw import skipped_by, slots_between

RATE_OVER = timedelta(minutes=5)
"""How far back arrivals are counted for the rate."""
SOON = timedelta(minutes=1)
"""How far ahead runs are due soon: as far as the planner plans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLoad:
    """The runs of one job in one queue. `depth`: due and waiting; `ready`: those whose next attempt may begin too.

    `arrivals` fell due in the last RATE_OVER; without slots that `history` has settled, whose rows may be gone.
    """

    queue: str
    job: str
    depth: int = 0
    ready: int = 0
    running: int = 0
    due_soon: int = 0
    arrivals: int = 0
    oldest_due: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerLook:
    """When a planner last looked at a job, and up to where `history` may have taken the job's rows away."""

    at: datetime
    cleared_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLoad:
    """One queue at one moment. `ready` counts only runs that a free worker could start now.

    `mean_duration` (seconds) is that of the runs that arrived, None while no such job has ended a run. `blind` says
    why the numbers may be too low; it is empty when they can be trusted.
    """

    queue: str
    depth: int = 0
    ready: int = 0
    in_flight: int = 0
    due_soon: int = 0
    arrivals: int = 0
    oldest_age: float = 0.0
    mean_duration: float | None = None
    blind: str = ""

    @property
    def ingress_rate(self) -> float:
        """Arrivals per second."""
        return self.arrivals / RATE_OVER.total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known beside the runs: current jobs, planners' looks, and the mean seconds of a run, each by job."""

    jobs: Mapping[str, Job]
    looks: Mapping[str, PlannerLook]
    durations: Mapping[str, float]
    now: datetime


def queue_loads(loads: Iterable[JobLoad], known: Known) -> dict[str, QueueLoad]:
    """Every queue that a current job names, or that still holds runs."""
    found: dict[str, list[JobLoad]] = defaultdict(list)
    named: dict[str, list[Job]] = defaultdict(list)
    for load in loads:
        found[load.queue].append(load)
    for job in known.jobs.values():
        named[job.queue].append(job)
    return {queue: _load(queue, found[queue], named[queue], known) for queue in sorted(found.keys() | named.keys())}


def _load(queue: str, loads: Sequence[JobLoad], named: Sequence[Job], known: Known) -> QueueLoad:
    arrivals = Counter({load.job: load.arrivals for load in loads})
    arrivals.update({job.id: _forgotten(job, known) for job in named})
    oldest = min((load.oldest_due for load in loads if load.oldest_due is not None), default=known.now)
    return QueueLoad(
        queue=queue,
        depth=sum(load.depth for load in loads),
        ready=sum(_startable(load, known.jobs.get(load.job)) for load in loads),
        in_flight=sum(load.running for load in loads),
        due_soon=sum(load.due_soon for load in loads),
        arrivals=arrivals.total(),
        oldest_age=max(0.0, (known.now - oldest).total_seconds()),
        mean_duration=_mean(arrivals, known.durations),
        blind=_blind(named, known),
    )


def _startable(load: JobLoad, job: Job | None) -> int:
    """More workers don't help runs that wait for another run of their own job."""
    if job is None:
        return load.ready
    limits = [*([] if job.concurrency is None else [job.concurrency]), *([] if job.overlap == "allow" else [1])]
    return min([load.ready, *(max(0, limit - load.running) for limit in limits)])


def _forgotten(job: Job, known: Known) -> int:
    """Slots of the last minutes whose rows `history` may have taken away: the schedule still tells them."""
    look = known.looks.get(job.id)
    if look is None or look.cleared_until is None or job.schedule is None or job.run is None:
        return 0
    since, until = known.now - RATE_OVER, min(look.cleared_until, known.now)
    slots = slots_between(job.schedule, since, until) if since < until else []
    return sum(skipped_by(job, slot) is None for slot in slots)


def _mean(arrivals: Mapping[str, int], durations: Mapping[str, float]) -> float | None:
    """The mean of what arrives; a job of which no run has ended yet is taken to be like the others."""
    known = {job: count for job, count in arrivals.items() if count and job in durations}
    if not known:
        return None
    return sum(count * durations[job] for job, count in known.items()) / sum(known.values())


def _blind(named: Sequence[Job], known: Known) -> str:
    """While no planner looks, what falls due does not reach the queue: an empty one then proves nothing."""
    planned = [job.id for job in named if job.enabled and job.schedule is not None and job.run is not None]
    seen = [known.looks[job].at for job in planned if job in known.looks]
    if not planned or (seen and known.now - max(seen) <= OUTAGE):
        return ""
    since = f"since {format_instant(max(seen))}" if seen else "yet"
    what = f"no scheduler has looked at the queue's schedules {since}"
    return f"{what}, so what falls due may be missing; see that one runs"
