"""When does a lease end, and what time is it for one? Leases live on the boot clock, which no clock step moves. Pure
but for `read_moment`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler import clock
from scheduler.instants import to_micros

LEASE = timedelta(seconds=60)
HEARTBEAT = timedelta(seconds=20)
_MICRO = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Moment:
    """One reading of the clocks: the wall (aware, UTC) for what happened, the boot clock (microseconds) for leases."""

    now: datetime
    boot: int
    boot_id: str

    @property
    def micros(self) -> int:
        """The wall clock as it is stored."""
        return to_micros(self.now)

    def lease_end(self, lease: timedelta) -> int:
        """Boot microseconds at which a lease taken now ends."""
        return self.boot + lease // _MICRO

    def expired(self, lease_until: int | None, boot_id: str | None) -> bool:
        """A lease has ended strictly after its last microsecond, or with the boot it was taken under."""
        return boot_id != self.boot_id or lease_until is None or self.boot > lease_until


STEP = timedelta(seconds=2)
"""A wall clock that has moved so much against the boot clock was set; what time services correct at a time is less."""


def clock_step(before: Moment, after: Moment) -> float | None:
    """Seconds by which the wall clock was set between two readings, backwards below zero; None when it was not."""
    if before.boot_id != after.boot_id:
        return None
    step = after.now - before.now - (after.boot - before.boot) * _MICRO
    return step.total_seconds() if abs(step) >= STEP else None


def read_moment() -> Moment:
    """All clocks, read once, for one decision."""
    return Moment(clock.now(), clock.boot_micros(), clock.boot_id())


def check_heartbeat(lease: timedelta, heartbeat: timedelta) -> None:
    """Raises ValueError for a heartbeat over a third of the lease: one late beat would then lose a healthy run."""
    if heartbeat * 3 > lease:
        raise ValueError(f"a heartbeat of {heartbeat} is over a third of the lease of {lease}; use {lease / 3} or less")
