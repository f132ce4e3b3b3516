"""What a notice says and what the API shows of an objective, from the board's own numbers. Pure: reads no store."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from scheduler.instants import format_duration, format_instant
from scheduler.jobs import Job
from slo.alerts import SEVERITIES, Episode, Owed, usable_pairs, windows
from slo.board import Standing
from slo.budget import burn_rate
from slo.facts import Count
from slo.notices import Budget, Notice
from slo.objectives import Objective

BAD_NAMED = 5


def notice_of(
    episode: Episode, owed: Owed, standing: Standing, report: Mapping[str, Any], jobs: Mapping[str, Job]
) -> Notice:
    """The notice that is owed about an episode; who to call is taken from the job that was bad last."""
    bad = newest_bad(standing)
    job = jobs.get(bad[0][0]) if bad else None
    objective = standing.objective
    return replace(
        plain_notice(episode, owed),
        burn=report["burn"],
        budget=Budget(**report["budget"]),
        bad_slots=tuple(name for _, name in bad),
        owner=job.owner if job is not None else "",
        impact=job.impact if job is not None else "",
        runbook=objective.runbook or (job.runbook if job is not None else ""),
        description=objective.description,
    )


def plain_notice(episode: Episode, owed: Owed) -> Notice:
    """The notice of an episode whose objective is gone: only the episode itself is known."""
    return Notice(
        id=owed.id,
        slo=episode.slo,
        severity=episode.severity,
        status=owed.status,
        at=owed.at,
        started_at=episode.started_at,
        resolved_at=episode.resolved_at,
        reason=episode.reason,
        repeat=owed.repeat,
    )


def newest_bad(standing: Standing) -> list[tuple[str, str]]:
    """The newest bad slots or runs of an objective, at most BAD_NAMED, newest first: (job, `job@slot` or run id)."""
    bad = [(at, *_named(key)) for key, (at, good) in standing.facts.items() if not good]
    return [(job, name) for _, job, name in sorted(bad, reverse=True)[:BAD_NAMED]]


def objective_item(standing: Standing, report: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    """An objective as the API lists it: the backtest's report, and what it is about."""
    objective = standing.objective
    about = {
        "id": objective.id,
        "indicator": objective.indicator,
        "description": objective.description,
        "window": format_duration(objective.window),
        "jobs": sorted(standing.jobs),
    }
    return {**about, **report, "effective": effective(objective, standing, at)}


def effective(objective: Objective, standing: Standing, at: datetime) -> dict[str, float | None]:
    """The burn rates that the alert itself looks at, by window: reaching back where too little has settled."""
    floor = at - objective.window
    found: dict[str, float | None] = {}
    for severity in SEVERITIES if objective.policy is not None else ():
        for pair, _ in usable_pairs(objective.window, objective.objective, severity):
            long, short = windows(standing.line, pair, floor, at)
            found[format_duration(pair.long)] = _rate(long, objective)
            found[format_duration(pair.short)] = _rate(short, objective)
    return found


def _rate(count: Count, objective: Objective) -> float | None:
    rate = burn_rate(count, objective.objective)
    return None if rate is None else float(rate)


def _named(key: Any) -> tuple[str, str]:
    """A fact's key is (job, slot) for slots and the run's id for runs."""
    if isinstance(key, tuple):
        return key[0], f"{key[0]}@{format_instant(key[1])}"
    name = str(key)
    job = next((name.partition(mark)[0] for mark in "@!~" if mark in name), name)
    return job, name
