"""Which slot of which version of a job does an instant stand for, and which lie around it? Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler.day_times import FIRST_YEAR, LAST_YEAR
from scheduler.instants import format_instant
from scheduler.jobs import Job
from scheduler.timelaw import jitter_bound, jitter_of, next_slot, previous_slot

_TICK = timedelta.resolution


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a job, valid in [valid_from, valid_until). None: for ever back, or until further notice."""

    job: Job
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    def holds(self, at: datetime) -> bool:
        """Whether it is the version of `at`."""
        begun = self.valid_from is None or self.valid_from <= at
        return begun and (self.valid_until is None or at < self.valid_until)

    def latest(self, at: datetime) -> datetime | None:
        """Its latest slot at or before `at`, while it was valid."""
        if self.job.schedule is None:
            return None
        end = at if self.valid_until is None else min(at, self.valid_until - _TICK)
        found = previous_slot(self.job.schedule, end)
        return found if found is not None and self.holds(found) else None

    def coming(self, at: datetime) -> datetime | None:
        """Its first slot past `at`, while it is valid."""
        if self.job.schedule is None:
            return None
        start = at if self.valid_from is None else max(at, self.valid_from - _TICK)
        found = next_slot(self.job.schedule, start)
        return found if found is not None and self.holds(found) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """The slot that an instant stands for, and the job as the version has it that the slot belongs to."""

    slot: datetime
    job: Job


class OutOfRangeError(ValueError):
    """An instant past the years that schedules know. Its text says which years those are."""


def check_range(at: datetime) -> datetime:
    """The instant itself. Raises OutOfRangeError: past these years there are no zone rules and no slots."""
    if not FIRST_YEAR <= at.year < LAST_YEAR:
        says = f"{format_instant(at)} lies outside the years that schedules know"
        raise OutOfRangeError(f"{says}; ask about one from {FIRST_YEAR} to {LAST_YEAR - 1}")
    return at


def meant(versions: Sequence[Version], at: datetime) -> Meant | None:
    """The slot that `at` stands for: itself, one that it lies within `early` before, or the latest whose limit holds.

    An instant in the minute of a slot stands for that one too, whatever the limit.
    """
    found = [Meant(slot=slot, job=one.job) for one in versions if (slot := _meant_of(one, at)) is not None]
    return max(found, key=lambda one: (one.slot == at, one.slot), default=None)


def around(versions: Sequence[Version], at: datetime) -> tuple[Meant | None, Meant | None]:
    """The nearest slots before and after an instant that is none, over all versions."""
    before = [Meant(slot=slot, job=one.job) for one in versions if (slot := one.latest(at - _TICK)) is not None]
    after = [Meant(slot=slot, job=one.job) for one in versions if (slot := one.coming(at)) is not None]
    return (
        max(before, key=lambda one: one.slot, default=None),
        min(after, key=lambda one: one.slot, default=None),
    )


def base(job: Job, slot: datetime) -> datetime:
    """What limits count from: the slot and its jitter, or the jitter's bound where others run the job."""
    assert job.schedule is not None
    return slot + (jitter_of(job.id, job.schedule, slot) if job.run is not None else jitter_bound(job.schedule))


def limit(job: Job, slot: datetime) -> datetime:
    """The instant at which silence alone decides about a slot."""
    return base(job, slot) + (job.on_time.start_within or job.on_time.complete_within or timedelta(0))


def _meant_of(version: Version, at: datetime) -> datetime | None:
    latest, coming = version.latest(at), version.coming(at)
    if latest is not None and latest == at:
        return at
    if coming is not None and coming - at <= version.job.early:
        return coming
    if latest is None:
        return None
    same_minute = latest >= at.replace(second=0, microsecond=0)
    return latest if same_minute or at <= limit(version.job, latest) else None
