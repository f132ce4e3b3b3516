"""What is wrong, in one line, and who should care: from a snapshot, purely. Must not fetch or draw."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

import words
from answers import Alert, Gap, Job, Objective, Snapshot

Level = Literal["bad", "warn", "quiet", "good"]
ALERTS_AT_MOST = 8  # lines on top; the metric beside them says how many there are
NAMES_AT_MOST = 3
RECENT = timedelta(hours=2)  # a blind time that ended before is history: the timeline shows none of it
SEVERITIES = ("page", "ticket")


class Standing(NamedTuple):
    """`title` is the one line in our own words; `lines` are Markdown with foreign text in code spans."""

    level: Level
    title: str
    lines: tuple[str, ...]


def standing(now: Snapshot, zone: ZoneInfo) -> Standing:
    """The state of everything, the worst first."""
    lines = tuple(_alert_line(alert, now, zone) for alert in _worst_first(now.alerts)[:ALERTS_AT_MOST])
    if len(now.alerts) > ALERTS_AT_MOST:
        lines += (f"and {words.plural(len(now.alerts) - ALERTS_AT_MOST, 'more alert', 'more alerts')}",)
    level, title = _verdict(now)
    return Standing(level, title, (*lines, *_spent(now), *_blindness(now, zone)))


def open_by_severity(alerts: Iterable[Alert]) -> str:
    """The open alerts in words, as in "1 page and 2 tickets"."""
    tally = Counter(alert.severity for alert in alerts)
    order = sorted(tally, key=_rank)
    return " and ".join(words.plural(tally[name], _severity(name), _severity(name) + "s") for name in order)


def _verdict(now: Snapshot) -> tuple[Level, str]:
    if now.alerts:
        verb = "is" if len(now.alerts) == 1 else "are"
        paging = any(alert.severity != "ticket" for alert in now.alerts)
        return ("bad" if paging else "warn"), f"{open_by_severity(now.alerts)} {verb} open"
    if _blind_now(now.status.gaps):
        return "bad", "The collector is blind: silence proves nothing now"
    return _without_alerts(now.objectives)


def _without_alerts(objectives: list[Objective]) -> tuple[Level, str]:
    tally = Counter(objective.state for objective in objectives)
    if not objectives:
        return "quiet", "No objective is defined: nothing is judged"
    if spent := tally["exhausted"]:
        spenders = words.plural(spent, "objective has", "objectives have")
        return "warn", f"No alert is open, but {spenders} spent the budget"
    if burning := tally["burning"]:
        return "warn", f"{words.plural(burning, 'objective burns', 'objectives burn')} budget too fast"
    if empty := tally["no_data"]:
        held = words.plural(tally["ok"], "objective holds", "objectives hold")
        return "quiet", f"{held}, {words.count(empty)} without data yet"
    whole = len(objectives)
    return "good", f"All {words.count(whole)} objectives hold" if whole > 1 else "The one objective holds"


def _spent(now: Snapshot) -> Iterable[str]:
    """Budgets that are gone although no alert of theirs is open any more: easily overlooked."""
    told = {alert.slo for alert in now.alerts}
    spent = [words.verbatim(one.id) for one in now.objectives if one.state == "exhausted" and one.id not in told]
    if spent:
        rest = f" and {words.count(len(spent) - NAMES_AT_MOST)} more" if len(spent) > NAMES_AT_MOST else ""
        yield f"✕ budget spent: {', '.join(spent[:NAMES_AT_MOST])}{rest}"


def _blind_now(gaps: list[Gap]) -> bool:
    return any(gap.until is None for gap in gaps)


def _blindness(now: Snapshot, zone: ZoneInfo) -> Iterable[str]:
    if now.status.store != "ok":
        yield f"◆ the ledger's store says {words.verbatim(now.status.store)}"
    fresh = [gap for gap in now.status.gaps if (gap.until or now.as_of) > now.as_of - RECENT]
    for gap in sorted(fresh, key=lambda gap: gap.since)[-1:]:
        end = "now" if gap.until is None else words.clock(gap.until, zone, now.as_of)
        yield f"◆ the collector was blind from {words.clock(gap.since, zone, now.as_of)} until {end}"


def _worst_first(alerts: list[Alert]) -> list[Alert]:
    return sorted(alerts, key=lambda alert: (_rank(alert.severity), alert.started_at, alert.id))


def _rank(severity: str) -> tuple[int, str]:
    return (SEVERITIES.index(severity) if severity in SEVERITIES else -1, severity)


def _severity(name: str) -> str:
    return name if name in SEVERITIES else "other alert"


def _alert_line(alert: Alert, now: Snapshot, zone: ZoneInfo) -> str:
    jobs = _jobs_behind(alert, now)
    age = words.seconds((now.as_of - alert.started_at).total_seconds())
    parts = [
        f"{'▲' if alert.severity == 'ticket' else '✕'} **{_severity(alert.severity)}** {words.verbatim(alert.slo)}",
        f"since {words.clock(alert.started_at, zone, now.as_of)} ({age})",
        f"owner {_names(job.owner for job in jobs)}",
        f"impact {_names(job.impact for job in jobs)}",
    ]
    if alert.reason:
        parts.append(f"why {words.verbatim(words.error(alert.reason))}")
    return " · ".join(parts)


def _jobs_behind(alert: Alert, now: Snapshot) -> list[Job]:
    """The objective's jobs that have something bad to show, or all of them when none has."""
    named = {job for objective in now.objectives if objective.id == alert.slo for job in objective.jobs}
    jobs = [job for job in now.jobs if job.id in named]
    return [job for job in jobs if troubles(job)] or jobs


def troubles(job: Job) -> int:
    """How many bad ends a job has in its window; for sorting, not for judging."""
    return job.slots.missed + job.slots.late + job.runs.failed + job.runs.dead_lettered


def _names(found: Iterable[str | None]) -> str:
    names = list(dict.fromkeys(name for name in found if name))
    if not names:
        return "not named"
    shown = ", ".join(words.verbatim(name) for name in names[:NAMES_AT_MOST])
    rest = len(names) - NAMES_AT_MOST
    return shown if rest <= 0 else f"{shown} and {words.count(rest)} more"
