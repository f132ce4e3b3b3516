"""Where ids of events are made: time-ordered, so that an index grows at its end and a folder sorts by age.

Imports next to nothing: `tepat exec` pays for it at each run of a job.
"""

import os
from datetime import datetime

from scheduler.instants import to_micros


def event_id(now: datetime) -> str:
    """A UUIDv7: sorts by time (to the microsecond), unique by 62 random bits."""
    millis, micros = divmod(to_micros(now), 1000)
    noise = int.from_bytes(os.urandom(8), "big") >> 2
    digits = f"{(millis & (2**48 - 1)) << 80 | 0x7 << 76 | micros << 64 | 0b10 << 62 | noise:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
