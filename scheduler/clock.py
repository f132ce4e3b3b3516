"""The only file that reads a clock. Everything else is handed `now`.

Wall time says when; the boot clock, which no clock step moves, measures leases and durations.
"""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """The wall clock, aware, in UTC."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Seconds on a clock that no step or suspension-free correction moves; for durations inside one process."""
    return time.monotonic()


def boot_micros() -> int:
    """Microseconds since the host booted, suspend included: comparable between processes of one boot."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def boot_id() -> str:
    """Names this boot: a lease written under another boot id has expired, whatever its number says."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def pause(seconds: float) -> None:
    """Sleep; never for a negative time."""
    time.sleep(max(0.0, seconds))
