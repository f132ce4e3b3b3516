"""The runs and slots known so far, in memory: takes one event after another and says what each one touched. Pure."""

from bisect import insort
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from collector.anonymous import Stream
from collector.facts import Gap, Run
from collector.runs import event_order, fold
from collector.verdicts import claimed_slot
from scheduler.events import RunEvent
from scheduler.instants import parse_instant
from scheduler.jobs import Job

SlotKey = tuple[str, datetime]


@dataclass(slots=True)
class Touched:
    """What a change reached: keys of runs and of slots to judge again, and whether a gap came in."""

    runs: set[str] = field(default_factory=set)
    slots: set[SlotKey] = field(default_factory=set)
    gap: bool = False


class Book:
    """Runs by key, and which runs claim which slot. Holds every event it was given: its user bounds what that is."""

    def __init__(self, jobs: Mapping[str, Job]) -> None:
        self.jobs = jobs
        self.runs: dict[str, Run] = {}
        self.gaps: list[Gap] = []
        self._events: dict[str, list[RunEvent]] = defaultdict(list)
        self._streams: dict[tuple[str, str], Stream] = {}
        self._stream_events: dict[tuple[str, str], list[RunEvent]] = defaultdict(list)
        self._stream_runs: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._claims: dict[str, SlotKey] = {}
        self._claimants: dict[SlotKey, set[str]] = defaultdict(set)

    def take(self, event: RunEvent, touched: Touched) -> None:
        """Folds one new event in, and adds what it reached to `touched`. Duplicates must have been left out before."""
        if event.type == "gap":
            self.gaps.append(gap_of(event))
            touched.gap = True
        elif event.type != "depth" and event.run is not None:
            self._events[event.run].append(event)
            self._refold(event.run, self._events[event.run], frozenset(), touched)
        elif event.type != "depth":
            self._take_anonymous(event, touched)

    def claimants(self, key: SlotKey) -> list[Run]:
        """The runs that claim a slot."""
        return [self.runs[run] for run in self._claimants.get(key, ())]

    def _take_anonymous(self, event: RunEvent, touched: Touched) -> None:
        assert event.job is not None
        name = (event.job, event.source)
        events = self._stream_events[name]
        in_order = not events or event_order(events[-1]) < event_order(event)
        insort(events, event, key=event_order)
        if in_order and name in self._streams:
            group = self._streams[name].feed(event)
            self._stream_runs[name].add(group.key)
            flags = frozenset({"ambiguous"}) if group.ambiguous else frozenset()
            self._refold(group.key, group.events, flags, touched)
        else:
            self._pair_again(name, touched)

    def _pair_again(self, name: tuple[str, str], touched: Touched) -> None:
        """A late event can change every pairing after it, so the stream is paired anew."""
        job = self.jobs.get(name[0])
        stream = self._streams[name] = Stream(job.run_deadline if job is not None else None)
        for event in self._stream_events[name]:
            stream.feed(event)
        keys = {group.key for group in stream.groups}
        for gone in self._stream_runs[name] - keys:
            self._claim(gone, None, touched)
            del self.runs[gone]
            touched.runs.add(gone)
        self._stream_runs[name] = keys
        for group in stream.groups:
            flags = frozenset({"ambiguous"}) if group.ambiguous else frozenset()
            self._refold(group.key, group.events, flags, touched)

    def _refold(self, key: str, events: list[RunEvent], flags: frozenset[str], touched: Touched) -> None:
        run = fold(key, events, flags)
        if run == self.runs.get(key):
            return
        self.runs[key] = run
        touched.runs.add(key)
        job = self.jobs.get(run.job)
        slot = claimed_slot(job, run) if job is not None else None
        self._claim(key, (run.job, slot) if slot is not None else None, touched)

    def _claim(self, run: str, key: SlotKey | None, touched: Touched) -> None:
        before = self._claims.pop(run, None)
        if before is not None:
            self._claimants[before].discard(run)
            touched.slots.add(before)
        if key is not None:
            self._claims[run] = key
            self._claimants[key].add(run)
            touched.slots.add(key)


def gap_of(event: RunEvent) -> Gap:
    """A `gap` event's data; `parse_event` has already checked both instants."""
    return Gap(since=parse_instant(event.data["from"]), until=parse_instant(event.data["until"]), job=event.job)
