"""Events of runs that carry no run id: which belong together. Pure; the answer depends on the set, not the arrival.

Within one job and source, a start opens a run and an end closes the only open one. While several are open, nobody can
know which of them an end closes: until none is open any more, ends close the earliest and are `ambiguous`.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta

from collector.runs import event_order
from scheduler.events import RunEvent, run_id

_CLOSING = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(slots=True)
class Group:
    """The events of one run without an id."""

    key: str
    opener: RunEvent
    events: list[RunEvent] = field(default_factory=list)
    ambiguous: bool = False


def pair(events: list[RunEvent], deadline: timedelta | None) -> list[Group]:
    """All events of one job and source to groups, a run each. `deadline` is how long a start waits for its end."""
    stream = Stream(deadline)
    for event in sorted(events, key=event_order):
        stream.feed(event)
    return stream.groups


def anonymous_key(event: RunEvent) -> str:
    """The key of the run that this event opens, or is alone in: job, source and event id, in a run id's characters."""
    if event.type == "skipped" and event.slot is not None:
        return run_id(str(event.job), event.slot)
    digest = hashlib.sha256(f"{event.source}\0{event.id}".encode()).hexdigest()[:20]
    return f"{event.job}~{digest}"


class Stream:
    """The pairing of one job's and source's events so far; `feed` takes them in the order of `event_order`."""

    def __init__(self, deadline: timedelta | None) -> None:
        self.groups: list[Group] = []
        self._deadline = deadline
        self._open: list[Group] = []
        self._tangled = False

    def feed(self, event: RunEvent) -> Group:
        """Puts one event where it belongs and answers the group that changed."""
        self._expire(event)
        group = self._place(event)
        group.events.append(event)
        self._tangled = bool(self._open) and (self._tangled or len(self._open) > 1)
        return group

    def _place(self, event: RunEvent) -> Group:
        if event.type == "started" and not (event.attempt > 1 and len(self._open) == 1):
            group = self._new(event)
            self._open.append(group)
            return group
        if event.type in _CLOSING:
            return self._close(event)
        continues = event.type in ("started", "stage", "heartbeat", "retrying") and len(self._open) == 1
        return self._open[0] if continues else self._new(event)

    def _close(self, event: RunEvent) -> Group:
        named = [group for group in self._open if event.slot is not None and group.opener.slot == event.slot]
        candidates = named or self._open
        if not candidates:
            return self._new(event)
        group = candidates[0]
        group.ambiguous = self._tangled and len(named) != 1
        self._open.remove(group)
        return group

    def _new(self, event: RunEvent) -> Group:
        group = Group(anonymous_key(event), event)
        self.groups.append(group)
        return group

    def _expire(self, event: RunEvent) -> None:
        if self._deadline is not None:
            self._open = [group for group in self._open if event.at <= group.opener.at + self._deadline]
        self._tangled = self._tangled and bool(self._open)
