"""Every objective with its settled facts and open episodes, in memory: fed with changes, asked at `now`.

Live engine and backtest hold one of these, so that both decide by the same lines. Pure: no clock, no store.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from collector.facts import Run, Verdict
from collector.runs import BAD_SKIPS
from collector.summary import overdue_at
from scheduler.jobs import Job
from slo.alerts import SEVERITIES, Condition, Episode, Owed, condition, opened, step
from slo.budget import report
from slo.facts import FactLine
from slo.promises import Objective, selects
from slo.windows import Severity

Fact = tuple[datetime, bool]
HELD_BY_PAGE = "a page of the same objective fires"
NewestDue = Callable[[str, datetime], datetime | None]


@dataclass(slots=True)
class Standing:
    """One objective as it stands: which jobs it covers, its facts by key, and its open episodes."""

    objective: Objective
    jobs: frozenset[str]
    enabled: bool = True
    line: FactLine = field(default_factory=FactLine)
    facts: dict[Any, Fact] = field(default_factory=dict)
    episodes: dict[Severity, Episode] = field(default_factory=dict)

    def put(self, key: Any, fact: Fact | None) -> bool:
        """Replaces the fact of a slot or run; says whether anything changed."""
        before = self.facts.get(key)
        if before == fact:
            return False
        if before is not None:
            self.line.remove(*before)
            del self.facts[key]
        if fact is not None:
            self.line.add(*fact)
            self.facts[key] = fact
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What one look at one severity changed: the episode as it now stands, notices owed, and the reason."""

    episode: Episode
    owed: tuple[Owed, ...]
    reason: str


class Board:
    """All objectives. `since` is the earliest instant whose facts count (a backtest's start; None when live)."""

    def __init__(
        self, objectives: Iterable[Objective], jobs: Mapping[str, Job], newest_due: NewestDue, since: datetime | None
    ) -> None:
        self._jobs = jobs
        self._newest_due = newest_due
        self._since = since
        self._unknown: dict[str, set[datetime]] = defaultdict(set)
        self.standings = {objective.id: _standing(objective, jobs) for objective in objectives}
        self._by_job: dict[tuple[str, str], list[Standing]] = defaultdict(list)
        for standing in self.standings.values():
            for job in standing.jobs:
                self._by_job[job, standing.objective.indicator].append(standing)

    def verdict_changed(self, verdict: Verdict) -> set[str]:
        """Takes a slot's verdict as it now is; answers the objectives it touched."""
        if verdict.kind == "unknown":
            self._unknown[verdict.job].add(verdict.slot)
        else:
            self._unknown[verdict.job].discard(verdict.slot)
        return self._put(verdict.job, "on_time", (verdict.job, verdict.slot), slot_fact(verdict))

    def run_changed(self, key: str, run: Run | None, job: str, now: datetime) -> set[str]:
        """Takes a run as it now is (None: it is no run any more); answers the objectives it touched."""
        fact = None if run is None else run_fact(run, self._jobs.get(job), now)
        return self._put(job, "success", key, fact)

    def judge(self, now: datetime, only: Iterable[str] | None = None) -> list[Ruling]:
        """Looks at the objectives named (None: all), page before ticket, and answers what changed or is owed."""
        names = self.standings if only is None else only
        return [ruling for name in names for ruling in self._judge_one(self.standings[name], now)]

    def report(self, name: str, now: datetime) -> dict[str, Any]:
        """Counts, budget, burn and state of one objective at `now`, as in the API and the backtest."""
        standing = self.standings[name]
        since = self._since or now - standing.objective.window
        return report(standing.objective, standing.line, since, now, bool(standing.episodes))

    def _put(self, job: str, indicator: str, key: Any, fact: Fact | None) -> set[str]:
        if fact is not None and self._since is not None and fact[0] <= self._since:
            fact = None
        standings = self._by_job.get((job, indicator), ())
        return {standing.objective.id for standing in standings if standing.put(key, fact)}

    def _judge_one(self, standing: Standing, now: datetime) -> Iterable[Ruling]:
        objective = standing.objective
        calm = not standing.episodes and not standing.line.bad_since(now - objective.window)
        if objective.policy is None or calm:
            return
        for severity in SEVERITIES:
            found = self._condition(standing, severity, now)
            before = standing.episodes.get(severity)
            episode = before
            if episode is None and found.firing and not found.frozen:
                episode = opened(objective, severity, found.reason, now)
            held = HELD_BY_PAGE if severity == "ticket" and "page" in standing.episodes else None
            result = step(episode, found, held, objective, now)
            if result.episode is None:
                continue
            _keep(standing, result.episode)
            if result.episode != before or result.owed:
                yield Ruling(episode=result.episode, owed=result.owed, reason=result.reason)

    def _condition(self, standing: Standing, severity: Severity, now: datetime) -> Condition:
        if not standing.jobs:
            return Condition(firing=False, reason="job_removed", gone=True)
        if not standing.enabled:
            return Condition(firing=False, reason="disabled", gone=True)
        if self._frozen(standing, now):
            return Condition(firing=False, reason="unknown", frozen=True)
        return condition(standing.objective, severity, standing.line, now)

    def _frozen(self, standing: Standing, now: datetime) -> bool:
        """Whether the newest due slot of the selection is unknown; then the state may not change."""
        if not any(self._unknown.get(job) for job in standing.jobs):
            return False
        due = {job: self._newest_due(job, now) for job in standing.jobs}
        newest = max((slot for slot in due.values() if slot is not None), default=None)
        return any(slot == newest and slot in self._unknown.get(job, ()) for job, slot in due.items())


def slot_fact(verdict: Verdict) -> Fact | None:
    """A settled slot as (instant, good), or None where it says nothing: pending, unknown, or excused."""
    if verdict.settled_at is None:
        return None
    if verdict.kind == "skipped" and verdict.reason not in BAD_SKIPS:
        return None
    return (verdict.settled_at, verdict.kind == "on_time")


def run_fact(run: Run, job: Job | None, now: datetime) -> Fact | None:
    """A run that ended as (instant, good); one that is open past its deadline is bad from then; else None."""
    if run.ended_at is not None and run.outcome in ("succeeded", "failed", "dead_lettered"):
        return (run.ended_at, run.outcome == "succeeded")
    deadline = overdue_at(run, job)
    if run.outcome == "running" and deadline is not None and now > deadline:
        return (deadline, False)
    return None


def _standing(objective: Objective, jobs: Mapping[str, Job]) -> Standing:
    chosen = [job for job in jobs.values() if selects(objective, job)]
    return Standing(objective, frozenset(job.id for job in chosen), any(job.enabled for job in chosen))


def _keep(standing: Standing, episode: Episode) -> None:
    if episode.resolved_at is None:
        standing.episodes[episode.severity] = episode
    else:
        standing.episodes.pop(episode.severity, None)
