"""The burn-rate table, as data. Source: the SRE workbook's multiwindow, multi-burn-rate alerts, for a 30-day window."""

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Literal

Severity = Literal["page", "ticket"]
NOMINAL = timedelta(days=30)
SHORTEST = timedelta(minutes=1)

REPORTED = {
    "5m": timedelta(minutes=5),
    "30m": timedelta(minutes=30),
    "1h": timedelta(hours=1),
    "2h": timedelta(hours=2),
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
    "3d": timedelta(days=3),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Fires when both windows burn strictly faster than `factor` (budgets per objective window)."""

    severity: Severity
    long: timedelta
    short: timedelta
    factor: Fraction


STANDARD = (
    Pair("page", timedelta(hours=1), timedelta(minutes=5), Fraction("14.4")),  # 2 % of the budget
    Pair("page", timedelta(hours=6), timedelta(minutes=30), Fraction(6)),  # 5 %
    Pair("ticket", timedelta(days=1), timedelta(hours=2), Fraction(3)),  # 10 %
    Pair("ticket", timedelta(days=3), timedelta(hours=6), Fraction(1)),  # 10 %
)


def scaled(window: timedelta) -> tuple[Pair, ...]:
    """The standard pairs for another objective window: factors stay, alert windows scale, never under a minute."""
    share = Fraction(window // timedelta(microseconds=1), NOMINAL // timedelta(microseconds=1))
    return tuple(Pair(p.severity, _scale(p.long, share), _scale(p.short, share), p.factor) for p in STANDARD)


def reachable(pair: Pair, objective: Fraction) -> bool:
    """Whether the pair can ever fire: even with every run bad, the burn rate is only 1 / (1 - objective)."""
    return pair.factor < 1 / (1 - objective)


def _scale(length: timedelta, share: Fraction) -> timedelta:
    micros = (length // timedelta(microseconds=1)) * share
    return max(SHORTEST, timedelta(microseconds=int(micros)))
