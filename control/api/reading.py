"""What the API, `/metrics` and so the dashboard read: one place that puts the parts' numbers together, and makes none.

Each answer is of one moment. Asked by many at once, a costly one is worked out once a second.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from sqlalchemy import Engine

from collector import rollups
from collector.journal import event_count
from collector.listing import Page, runs_page, slots_page, upcoming
from collector.metrics import Snapshot
from collector.reports import dead_runs, job_items, run_item, slot_item
from collector.rollup_rows import rollups_between
from control.sampling import Sample, Sampler, StaleError, scaling_item, take_sample
from scheduler.clock import monotonic
from scheduler.database import read
from scheduler.depths import depths
from scheduler.instants import format_instant, from_micros
from scheduler.jobs import Job
from scheduler.registry import current_jobs
from scheduler.scaling import Limits
from slo.engine import SloEngine
from slo.episode_rows import episode_id, newest_episodes, notices_of
from slo.outbox_receipts import Receipt, receipts
from slo.replay import queue_report

Item = dict[str, Any]
FRESH_SECONDS = 1.0
ALERTS_LISTED = 200
GAPS_LISTED = 50


@dataclass(slots=True)
class _Kept:
    """One answer, kept for a moment."""

    lock: Lock = field(default_factory=Lock)
    until: float = 0.0
    items: list[Item] = field(default_factory=list)

    def get(self, make: Callable[[], list[Item]]) -> list[Item]:
        """The answer, made anew when it is too old; whoever asks meanwhile waits for it instead of making another."""
        with self.lock:
            if monotonic() >= self.until:
                self.items = make()
                self.until = monotonic() + FRESH_SECONDS
            return self.items


@dataclass(frozen=True, slots=True)
class Reading:
    """The ledger's and the queue's databases, and the judge, as seen by those who only read."""

    ledger: Engine
    queue: Engine
    judge: SloEngine
    version: str
    spans: Callable[[], Mapping[str, int]]
    events: Callable[[], Mapping[str, int]]
    _jobs: _Kept = field(default_factory=_Kept)
    _loads: Sampler = field(default_factory=Sampler)

    def jobs(self, now: datetime) -> list[Item]:
        """Every job with its numbers of the last day."""
        return self._jobs.get(lambda: self._job_items(now))

    def slots(
        self, now: datetime, since: datetime, until: datetime, job: str | None, cursor: str | None, limit: int
    ) -> Page[Item]:
        """Slots in `(since, until]`: those that came with their verdicts, then those to come."""
        with read(self.ledger) as connection:
            page = slots_page(connection, since, min(until, now), job, cursor, limit)
        found = [slot_item(verdict) for verdict in page.values]
        if page.next is None and until > now and len(found) < limit:
            jobs = {name: each for name, each in self._current(now).items() if job in (None, name)}
            found += [slot_item(each) for each in upcoming(jobs, max(now, since), until, limit - len(found))]
        return Page(found, page.next)

    def rollups(self, job: str, since: datetime, until: datetime, step: timedelta) -> list[Item]:
        """A job's buckets that begin in `[since, until)`: what its slots and runs add up to, step by step."""
        with read(self.ledger) as connection:
            found = rollups_between(connection, job, since, until, step)
        return [rollups.item(job, at, rollup) for at, rollup in found.items()]

    def runs(self, now: datetime, outcome: str | None, job: str | None, cursor: str | None, limit: int) -> Page[Item]:
        """Runs, the newest first."""
        with read(self.ledger) as connection:
            page = runs_page(connection, outcome, job, cursor, limit)
        jobs = self._current(now)
        return Page([run_item(run, jobs.get(run.job), now) for run in page.values], page.next)

    def queues(self, now: datetime) -> list[Item]:
        """Every queue: what waits and runs by the queue itself, dead letters by the ledger."""
        with read(self.ledger) as connection:
            dead = queue_report(dead_runs(connection), self._current(now), now)
        live = {row["queue"]: row for row in depths(self.queue, now)}
        nothing = {"depth": 0, "oldest_seconds": None, "running": 0}
        no_dead = {"dead_depth": 0, "dead_arrivals": 0, "dead_oldest_seconds": None}
        return [
            {"queue": name, **nothing, **_part(live.get(name, {}), nothing), **(dead.get(name) or no_dead)}
            for name in sorted(dead.keys() | live.keys())
        ]

    def load(self, now: datetime) -> Sample:
        """What lies before each queue's workers; StaleError when that is not known."""
        return self._loads.get(lambda: take_sample(self.ledger, self.queue, self._current(now), now))

    def slos(self, now: datetime) -> list[Item]:
        """Every objective as it stands."""
        return self.judge.reports(now)

    def alerts(self) -> list[Item]:
        """The episodes, those that fire first, with what was told about them and what became of it."""
        with read(self.ledger) as connection:
            episodes = newest_episodes(connection, ALERTS_LISTED)
            keys = [episode.key for episode in episodes]
            owed = notices_of(connection, keys)
            by_notice: dict[str, list[Receipt]] = {}
            for receipt in receipts(connection, keys):
                by_notice.setdefault(receipt.notice_id, []).append(receipt)
        return [
            {
                "id": episode_id(episode),
                "slo": episode.slo,
                "severity": episode.severity,
                "started_at": format_instant(episode.started_at),
                "resolved_at": None if episode.resolved_at is None else format_instant(episode.resolved_at),
                "reason": episode.reason,
                "notices": [
                    item
                    for name, key, at, status in owed
                    if key == episode.key
                    for item in _notice_items(name, at, status, by_notice.get(name, []))
                ],
            }
            for episode in episodes
        ]

    def status(self, now: datetime) -> Item:
        """How the service itself is: its version, the times it was blind, and how much it has taken in."""
        with read(self.ledger) as connection:
            query = "SELECT body ->> '$.data.from', body ->> '$.data.until' FROM journal WHERE type = 'gap'"
            found = connection.exec_driver_sql(f"{query} ORDER BY seq DESC LIMIT ?", (GAPS_LISTED,)).all()
            count = event_count(connection)
        gaps = [{"from": since, "until": until} for since, until in found]
        return {
            "as_of": format_instant(now),
            "version": self.version,
            "gaps": gaps,
            "store": "ok",
            "event_count": count,
        }

    def snapshot(self, now: datetime) -> Snapshot:
        """All of it, for one scrape."""
        return Snapshot(
            version=self.version,
            jobs=self.jobs(now),
            queues=self.queues(now),
            scaling=self._scaling(now),
            slos=self.slos(now),
            alerts=self.alerts(),
            events=self.events(),
            spans=self.spans(),
        )

    def check(self) -> None:
        """Raises when a store can't be read."""
        for engine in (self.ledger, self.queue):
            with read(engine) as connection:
                connection.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1").all()

    def _scaling(self, now: datetime) -> list[Item]:
        """The scaling signal of every queue of which it is known, by the default limits."""
        try:
            sample = self.load(now)
        except StaleError:
            return []
        return [scaling_item(load, Limits(), sample) for load in sample.queues.values() if not load.blind]

    def _job_items(self, now: datetime) -> list[Item]:
        with read(self.ledger) as connection:
            return job_items(connection, self._current(now), now)

    def _current(self, now: datetime) -> dict[str, Job]:
        return {version.job.id: version.job for version in current_jobs(self.queue, now)}


def _part(row: Mapping[str, Any], keys: Mapping[str, Any]) -> Item:
    return {key: value for key, value in row.items() if key in keys}


def _notice_items(name: str, at: int, status: str, found: list[Receipt]) -> list[Item]:
    """A notice once for each channel it is owed to; once without a channel when the objective names none."""
    told: list[tuple[str | None, str]] = [(receipt.channel, receipt.state) for receipt in found]
    when = format_instant(from_micros(at))
    return [
        {"id": name, "at": when, "status": status, "channel": to, "state": state}
        for to, state in told or [(None, "recorded")]
    ]
