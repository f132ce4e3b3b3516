"""Episodes: what fires, what clears, and what is owed to people. Pure; every answer names its reason."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from scheduler.instants import format_duration, format_instant
from slo.budget import burn_rate
from slo.facts import Count, FactLine, window_start
from slo.promises import Objective, Policy
from slo.windows import Pair, Severity, reachable, scaled

# A long window needs two settled facts to mean anything, a short one needs one: the cadence rule.
NEEDED_LONG, NEEDED_SHORT = 2, 1
SEVERITIES: tuple[Severity, ...] = ("page", "ticket")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Whether a severity's rule holds now. `frozen` means nobody can tell, so nothing may change."""

    firing: bool
    reason: str
    frozen: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One uninterrupted time that an alert fires. `told` counts the firing notices that were owed and recorded."""

    slo: str
    severity: Severity
    started_at: datetime
    reason: str
    resolved_at: datetime | None = None
    told: int = 0
    told_at: datetime | None = None
    quiet_since: datetime | None = None

    @property
    def key(self) -> str:
        """`<slo>/<severity>@<started_at>`."""
        return f"{self.slo}/{self.severity}@{format_instant(self.started_at)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """A notice that is owed to people from `at` on. A retry of its delivery keeps the id."""

    id: str
    at: datetime
    status: Literal["firing", "resolved"]
    repeat: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The answer of one look at one severity: the episode as it stands (None: none), what is owed, and why."""

    episode: Episode | None
    owed: tuple[Owed, ...] = ()
    reason: str = ""


def condition(objective: Objective, severity: Severity, line: FactLine, now: datetime) -> Condition:
    """Whether the severity's rule holds at `now`, by the standard policy and the objective's least bad events."""
    assert objective.policy is not None
    floor = now - objective.window
    min_bad = _min_bad(objective.policy, severity)
    usable = usable_pairs(objective.window, objective.objective, severity)
    if not usable:
        firing = line.last_are_bad(min_bad, floor, now)
        return Condition(firing=firing, reason=f"the last {min_bad} settled are {'' if firing else 'not '}all bad")
    for pair, share in usable:
        long, short = windows(line, pair, floor, now)
        if long.bad >= min_bad and _above(long, share) and _above(short, share):
            return Condition(firing=True, reason=_because(pair, long, short, objective.objective))
    return Condition(firing=False, reason="no window pair is over its factor")


@lru_cache(maxsize=4096)
def usable_pairs(window: timedelta, objective: Fraction, severity: Severity) -> tuple[tuple[Pair, Fraction], ...]:
    """The severity's pairs that can ever fire, each with the share of bad facts that its factor comes to."""
    pairs = [pair for pair in scaled(window) if pair.severity == severity and reachable(pair, objective)]
    return tuple((pair, pair.factor * (1 - objective)) for pair in pairs)


def windows(line: FactLine, pair: Pair, floor: datetime, now: datetime) -> tuple[Count, Count]:
    """What the pair's long and short windows hold, reaching back where too little has settled."""
    long = line.count(window_start(line, NEEDED_LONG, pair.long, floor, now), now)
    short = line.count(window_start(line, NEEDED_SHORT, pair.short, floor, now), now)
    return long, short


def step(episode: Episode | None, now_is: Condition, held: str | None, objective: Objective, now: datetime) -> Step:
    """One look: from the open episode (or None) and the condition to the next episode and the notices owed.

    `held` names what holds a firing notice back (a page of the same objective); it never holds a `resolved`.
    """
    assert objective.policy is not None
    if now_is.frozen:
        return Step(episode=episode, reason="frozen: the newest due slot is unknown")
    if not now_is.firing:
        return _not_firing(episode, now_is, objective.policy, now)
    return _firing(episode, held, objective.policy, now)


def opened(objective: Objective, severity: Severity, reason: str, now: datetime) -> Episode:
    """A new episode of the objective."""
    return Episode(slo=objective.id, severity=severity, started_at=now, reason=reason)


def _firing(episode: Episode | None, held: str | None, policy: Policy, now: datetime) -> Step:
    assert episode is not None, "the caller opens the episode: it knows the objective and the severity"
    current = replace(episode, quiet_since=None)
    if held is not None:
        return Step(episode=current, reason=held)
    if current.told and current.told_at is not None and now < current.told_at + policy.repeat:
        return Step(episode=current, reason="told already")
    repeat = current.told + 1
    name = f"{current.key}/firing" if repeat == 1 else f"{current.key}/firing/{repeat}"
    owed = Owed(id=name, at=now, status="firing", repeat=repeat)
    reason = "first notice" if repeat == 1 else "repeat"
    return Step(episode=replace(current, told=repeat, told_at=now), owed=(owed,), reason=reason)


def _not_firing(episode: Episode | None, now_is: Condition, policy: Policy, now: datetime) -> Step:
    if episode is None:
        return Step(episode=None, reason=now_is.reason)
    quiet = episode.quiet_since or now
    if now < quiet + policy.keep_firing and not now_is.gone:
        return Step(episode=replace(episode, quiet_since=quiet), reason="kept firing")
    reason = now_is.reason if now_is.gone else episode.reason
    ended = replace(episode, resolved_at=now, reason=reason)
    if not episode.told:
        return Step(episode=ended, reason="resolved, nobody had been told")
    return Step(episode=ended, owed=(Owed(id=f"{episode.key}/resolved", at=now, status="resolved"),), reason="resolved")


def _min_bad(policy: Policy, severity: Severity) -> int:
    return policy.min_bad_page if severity == "page" else policy.min_bad_ticket


def _above(count: Count, share: Fraction) -> bool:
    # In whole numbers, because this is asked for every objective at every instant.
    return count.bad * share.denominator > share.numerator * count.total


def _because(pair: Pair, long: Count, short: Count, objective: Fraction) -> str:
    fast, slow = burn_rate(short, objective), burn_rate(long, objective)
    assert fast is not None
    assert slow is not None
    return (
        f"burn {float(slow):.4g} over {format_duration(pair.long)} and {float(fast):.4g} over "
        f"{format_duration(pair.short)}, both above {float(pair.factor):g}"
    )
