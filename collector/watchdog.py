"""Is the observer itself awake? Heartbeat rows, and the `gap` event that a hole between two of them becomes.

Slots in such a hole with no evidence are `unknown`: silence proves nothing about a time in which nobody listened.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from scheduler.events import RunEvent
from scheduler.instants import format_instant, from_micros, to_micros

EVERY = timedelta(seconds=5)
GAP = timedelta(seconds=30)
# Rows older than this say nothing any more: a gap they bound has become an event.
_KEPT = timedelta(hours=1)
SOURCE = "collector"


class Pulse:
    """The collector's heartbeat. It knows the last beat from the store, so a restart finds out how long it was away."""

    def __init__(self) -> None:
        self._last: datetime | None = None

    def beat(self, connection: Connection, at: datetime) -> RunEvent | None:
        """Writes a heartbeat where one is due; answers the `gap` to journal when the last one is too long ago.

        A clock that was set back beats anew from where it is: the time between is no gap, it was seen.
        """
        last = self._last or last_beat(connection)
        if last is not None and abs(at - last) < EVERY:
            self._last = last
            return None
        connection.exec_driver_sql("INSERT OR IGNORE INTO heartbeats (at) VALUES (?)", (to_micros(at),))
        # Those ahead of the clock go too: after a step back they would hide the next gap.
        outside = (to_micros(at - _KEPT), to_micros(at))
        connection.exec_driver_sql("DELETE FROM heartbeats WHERE at < ? OR at > ?", outside)
        self._last = at
        return gap_event(last, at) if last is not None and at - last > GAP else None


def last_beat(connection: Connection) -> datetime | None:
    """The newest heartbeat in the store, or None before the first."""
    value = connection.exec_driver_sql("SELECT max(at) FROM heartbeats").scalar()
    return None if value is None else from_micros(value)


def gap_event(since: datetime, until: datetime) -> RunEvent:
    """The observer was blind in [since, until)."""
    data = {"from": format_instant(since), "until": format_instant(until)}
    return RunEvent(id=f"gap-{to_micros(since)}", source=SOURCE, type="gap", at=until, data=data)
