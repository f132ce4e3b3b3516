"""Is an instant inside a batch window, and when does the window close on it? Pure.

What counts is what the clock on the wall reads: on a day that comes out longer or shorter, so does the window.
"""

from datetime import datetime, timedelta

from scheduler.jobs import Window
from scheduler.offsets import transitions, wall

_DAY = 86400


def inside(window: Window, instant: datetime) -> bool:
    """Whether the clock reads in `[start, end)`; a window that ends before it starts goes over midnight."""
    return _left(window, wall(window.timezone, instant)) is not None


def closes_at(window: Window, instant: datetime) -> datetime | None:
    """The first instant past `instant` at which the window is shut; None when it is shut at `instant` already."""
    left = _left(window, wall(window.timezone, instant))
    if left is None:
        return None
    end = instant + left
    change = next(iter(transitions(window.timezone, instant + timedelta.resolution, end)), None)
    if change is None:
        return end
    # The clock jumps on the way: what it reads then decides whether, and how long, the window is still open.
    return closes_at(window, change.at) or change.at


def _left(window: Window, reading: datetime) -> timedelta | None:
    midnight = reading.replace(hour=0, minute=0, second=0, microsecond=0)
    since = timedelta(seconds=_DAY)
    passed = (reading - midnight - timedelta(seconds=window.start)) % since
    length = timedelta(seconds=(window.end - window.start) % _DAY)
    return length - passed if passed < length else None
