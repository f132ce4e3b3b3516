"""Error budgets and burn rates from exact counts. Pure; null where nothing can be divided, never NaN."""

from datetime import datetime
from fractions import Fraction
from typing import Any

from slo.facts import Count, FactLine
from slo.promises import Objective
from slo.windows import REPORTED


def burn_rate(count: Count, objective: Fraction) -> Fraction | None:
    """(bad / total) / (1 - objective): budgets spent per objective window at this pace; None when nothing settled."""
    return Fraction(count.bad, count.total) / (1 - objective) if count.total else None


def report(objective: Objective, line: FactLine, since: datetime, until: datetime, firing: bool) -> dict[str, Any]:
    """Counts, SLI, state, budget and raw burn rates at `until`, over the objective's window, not before `since`."""
    start = max(since, until - objective.window)
    count = line.count(start, until)
    allowed = (1 - objective.objective) * count.total
    return {
        "objective": float(objective.objective),
        "expected": count.total,
        "good": count.good,
        "bad": count.bad,
        "sli": count.good / count.total if count.total else None,
        "state": state(count, allowed, firing),
        "budget": {
            "allowed": float(allowed),
            "spent": count.bad,
            "remaining": float((allowed - count.bad) / allowed) if allowed else None,
        },
        "burn": {name: _burn(objective, line, max(since, until - length), until) for name, length in REPORTED.items()},
    }


def state(count: Count, allowed: Fraction, firing: bool) -> str:
    """The first that fits: no_data, exhausted, burning, ok."""
    if not count.total:
        return "no_data"
    if count.bad > allowed:
        return "exhausted"
    return "burning" if firing else "ok"


def _burn(objective: Objective, line: FactLine, since: datetime, until: datetime) -> float | None:
    rate = burn_rate(line.count(since, until), objective.objective)
    return None if rate is None else float(rate)
