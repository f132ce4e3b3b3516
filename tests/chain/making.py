"""Short ways to make events, jobs and replays in tests. All instants are seconds after START."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import count
from typing import Any

from scheduler.events import RunEvent, run_id
from scheduler.jobs import Command, Job, OnTime, Schedule
from slo.promises import Objective, Policy
from slo.replay import Replay, Span

START = datetime(2026, 1, 1, tzinfo=UTC)
_numbers = count()


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def ev(kind: str, seconds: float, run: str | None = "r", job: str = "job", /, **fields: Any) -> RunEvent:
    names = ("attempt", "slot", "sent_at", "received_at")
    known = {name: fields.pop(name) for name in names if name in fields}
    source = fields.pop("source", "test")
    identity = fields.pop("id", None) or f"e{next(_numbers):06d}"
    return RunEvent(id=identity, source=source, type=kind, job=job, run=run, at=at(seconds), data=fields, **known)


def minutely(job: str = "job", own: bool = False, **fields: Any) -> Job:
    schedule = Schedule(timezone="UTC", every=timedelta(minutes=1))
    command = Command(argv=("true",)) if own else None
    return Job(id=job, schedule=schedule, run=command, **fields)


def limits(start: float | None = 60, complete: float | None = None) -> OnTime:
    def span(value: float | None) -> timedelta | None:
        return None if value is None else timedelta(seconds=value)

    return OnTime(start_within=span(start), complete_within=span(complete))


def ran(job: Job, slot: float, start: float, seconds: float = 1, ok: bool = True) -> list[RunEvent]:
    """The two events of a run of the slot that began `start` seconds after it."""
    name = run_id(job.id, at(slot))
    kind = "succeeded" if ok else "failed"
    begun = ev("started", slot + start, name, job.id, slot=at(slot))
    return [begun, ev(kind, slot + start + seconds, name, job.id, slot=at(slot))]


def objective(percent: str = "99.9", indicator: str = "on_time", **policy: Any) -> Objective:
    return Objective(
        id="goal",
        indicator=indicator,  # type: ignore[arg-type]  # callers pass the two words there are
        select={},
        objective=Fraction(percent) / 100,
        window=timedelta(days=30),
        policy=Policy(**policy),
        notify=(),
    )


def play(
    jobs: Sequence[Job],
    events: Iterable[RunEvent],
    until: float,
    objectives: Iterable[Objective] = (),
    since: float = 0,
    step: float = 60,
) -> dict[str, Any]:
    replay = Replay(jobs, objectives, Span(since=at(since), until=at(until), step=timedelta(seconds=step)))
    replay.run(events)
    return replay.report([])
