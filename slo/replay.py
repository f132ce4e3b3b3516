"""The whole chain over recorded events in simulated time: fold, judge, alert. Pure: values in, a report out.

At an instant its events apply first, then slots whose limit it is, then every objective is judged once.
"""

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from collector.book import Book, SlotKey, Touched
from collector.facts import Run, Verdict
from collector.summary import job_summary, overdue_at, queue_of
from collector.verdicts import Slot, judge, moves_at, slot_of
from scheduler.events import RunEvent
from scheduler.instants import format_instant
from scheduler.jobs import Job
from scheduler.timelaw import slots_between
from slo.alerts import Episode, Owed
from slo.board import Board
from slo.promises import Objective

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What is played: `(since, until]`, judged at least every `step`."""

    since: datetime
    until: datetime
    step: timedelta


def played_at(event: RunEvent) -> datetime:
    """When the collector learned of the event: its receipt where that is known, else when it happened."""
    return event.received_at or event.at


class Replay:
    """One run of the chain over a span. Feed it all events with `run`, then read `report`."""

    def __init__(self, jobs: Sequence[Job], objectives: Iterable[Objective], span: Span) -> None:
        self._span = span
        self._jobs: Mapping[str, Job] = {job.id: job for job in jobs}
        self._book = Book(self._jobs)
        self._slots: dict[str, dict[datetime, Slot]] = {job.id: expected_slots(job, span) for job in jobs}
        self._due = {
            job: [slot.at for slot in slots.values() if slot.skipped is None] for job, slots in self._slots.items()
        }
        self._verdicts: dict[SlotKey, Verdict] = {}
        self._board = Board(objectives, self._jobs, self._newest_due, span.since)
        self._timers: list[tuple[datetime, str, datetime | None]] = []
        self._episodes: dict[str, Episode] = {}
        self._notices: list[Owed] = []
        for job, slots in self._slots.items():
            for slot in slots.values():
                self._judge_slot((job, slot.at), span.since)
                self._set_timers(slot)

    def run(self, events: Iterable[RunEvent]) -> None:
        """Plays the events (any order, no duplicates) and every instant at which time alone decides."""
        ordered = sorted(events, key=lambda event: (played_at(event), event.source, event.id))
        batches = ((at, list(batch)) for at, batch in groupby(ordered, key=played_at))
        pending = next(batches, None)
        tick = self._span.since
        while True:
            now = min(at for at in (pending and pending[0], tick, self._timers and self._timers[0][0]) if at)
            if now > self._span.until:
                return
            touched = Touched()
            if pending is not None and pending[0] == now:
                for event in pending[1]:
                    self._book.take(event, touched)
                pending = next(batches, None)
            if tick == now:
                tick = now + self._span.step
            self._settle(touched, now)
            if now > self._span.since:
                self._rule(now)

    def report(self, findings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The outcome at the end of the span, in the backtest's published shape."""
        names = sorted(set(self._jobs) | {run.job for run in self._counted_runs()})
        return {
            "jobs": {name: self._job_report(name) for name in names},
            "queues": queue_report(self._book.runs.values(), self._jobs, self._span.until),
            "slos": {name: self._board.report(name, self._span.until) for name in sorted(self._board.standings)},
            "alerts": [_alert(episode) for episode in self._sorted_episodes()],
            "notices": [{"at": format_instant(n.at), "id": n.id, "status": n.status} for n in self._notices],
            "findings": list(findings),
        }

    def _settle(self, touched: Touched, now: datetime) -> None:
        """Judges again every slot that the instant's events or the passing of a limit may have moved."""
        while self._timers and self._timers[0][0] <= now:
            _, name, slot = heapq.heappop(self._timers)
            if slot is None:
                touched.runs.add(name)
            else:
                touched.slots.add((name, slot))
        if touched.gap:
            for job, slots in self._slots.items():
                touched.slots.update((job, at) for at in slots)
                for due in slots.values():
                    self._set_timers(due, after=now)
        for key in sorted(touched.slots):
            self._judge_slot(key, now)
        for name in sorted(touched.runs):
            self._tell_run(name, now)

    def _judge_slot(self, key: SlotKey, now: datetime) -> None:
        slot = self._slots.get(key[0], {}).get(key[1])
        if slot is None:
            return  # before the span, or no slot of the schedule: the run is an extra one
        verdict = judge(slot, self._book.claimants(key), self._book.gaps, now)
        if verdict != self._verdicts.get(key):
            self._verdicts[key] = verdict
            self._board.verdict_changed(verdict)

    def _tell_run(self, name: str, now: datetime) -> None:
        run = self._book.runs.get(name)
        job = run.job if run is not None else name.split("~", maxsplit=1)[0]
        self._board.run_changed(name, run, job, now)
        deadline = overdue_at(run, self._jobs.get(job)) if run is not None and run.outcome == "running" else None
        if deadline is not None and now <= deadline:
            heapq.heappush(self._timers, (deadline + _TICK, name, None))

    def _set_timers(self, slot: Slot, after: datetime | None = None) -> None:
        for at in moves_at(slot, self._book.gaps):
            if after is None or at > after:
                heapq.heappush(self._timers, (at, slot.job, slot.at))

    def _rule(self, now: datetime) -> None:
        for ruling in self._board.judge(now):
            self._episodes[ruling.episode.key] = ruling.episode
            self._notices.extend(ruling.owed)

    def _newest_due(self, job: str, now: datetime) -> datetime | None:
        due = self._due[job]
        index = bisect_right(due, now)
        return due[index - 1] if index else None

    def _job_report(self, name: str) -> dict[str, Any]:
        verdicts = [self._verdicts[name, at] for at in self._slots.get(name, ())]
        runs = [run for run in self._counted_runs() if run.job == name]
        return job_summary(verdicts, runs, self._jobs.get(name), self._span.until)

    def _counted_runs(self) -> list[Run]:
        """Runs that ended in the span, and those still open."""
        since = self._span.since
        return [run for run in self._book.runs.values() if run.ended_at is None or run.ended_at > since]

    def _sorted_episodes(self) -> list[Episode]:
        return sorted(self._episodes.values(), key=lambda e: (e.started_at, e.slo, e.severity))


def expected_slots(job: Job, span: Span) -> dict[datetime, Slot]:
    """The slots that the job is expected to have in the span, ascending, those that its definition excuses too."""
    if job.schedule is None:
        return {}
    since = span.since if job.valid_from is None else max(span.since, job.valid_from - _TICK)
    return {at: slot_of(job, at) for at in slots_between(job.schedule, since, span.until)}


def queue_report(runs: Iterable[Run], jobs: Mapping[str, Job], now: datetime) -> dict[str, Any]:
    """Dead letters by queue: how many wait, how many ever came (run and attempt), the oldest's age in seconds."""
    queues = {job.queue: _no_dead() for job in jobs.values()}
    for run in runs:
        if not run.dead_arrivals:
            continue
        queue = queues.setdefault(queue_of(run, jobs), _no_dead())
        queue["dead_arrivals"] += run.dead_arrivals
        if run.dead_since is not None:
            age = (now - run.dead_since).total_seconds()
            queue["dead_depth"] += 1
            queue["dead_oldest_seconds"] = max(age, queue["dead_oldest_seconds"] or 0.0)
    return dict(sorted(queues.items()))


def _no_dead() -> dict[str, Any]:
    return {"dead_depth": 0, "dead_arrivals": 0, "dead_oldest_seconds": None}


def _alert(episode: Episode) -> dict[str, Any]:
    return {
        "slo": episode.slo,
        "severity": episode.severity,
        "started_at": format_instant(episode.started_at),
        "resolved_at": format_instant(episode.resolved_at) if episode.resolved_at is not None else None,
        "reason": episode.reason,
    }
