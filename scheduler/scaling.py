"""How many workers does a queue want? One pure function; its answer says in words which number decided."""

from dataclasses import dataclass
from math import ceil
from typing import Literal

from scheduler.queue_load import QueueLoad

PER_REPLICA = 4
"""Runs that one worker has at a time, unless it is started with other `--slots`."""
MAX_AGE = 60.0
"""Seconds that the oldest run may wait before one worker is wanted for it at least."""
MOST_REPLICAS = 100_000
"""No answer is above this, whatever is asked for."""

Term = Literal["depth", "rate", "age", "nothing", "min", "max"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the caller says of its workers. `max_age` in seconds; the answer lies in `least` to `most`."""

    per_replica: int = PER_REPLICA
    max_age: float = MAX_AGE
    least: int = 0
    most: int = MOST_REPLICAS


@dataclass(frozen=True, slots=True)
class Wanted:
    """Workers wanted, the term that decided (`nothing`: no term asks for any), and the sum in words."""

    replicas: int
    decided_by: Term
    formula: str


def wanted(load: QueueLoad, limits: Limits) -> Wanted:
    """The largest of three: workers for what is on or ready, for what keeps arriving, and one for what waits too long.

    What is on counts: otherwise a long run alone, with nothing behind it, would have its own worker taken away.

    The first of equal terms decides. A rate without a known duration asks for nothing, and the words say so.
    """
    terms: dict[Term, int] = {
        "depth": ceil((load.ready + load.in_flight) / limits.per_replica),
        "rate": _busy(load, limits.per_replica),
        "age": int(load.oldest_age > limits.max_age),
    }
    raw = max(terms.values())
    by: Term = next(term for term, value in terms.items() if value == raw) if raw else "nothing"
    replicas, decided_by = _clamped(raw, by, limits)
    return Wanted(replicas, decided_by, _words(load, limits, terms, raw, by) + _clamp_words(raw, replicas, decided_by))


def _busy(load: QueueLoad, per_replica: int) -> int:
    """Workers that the arrivals keep busy: by Little's law, rate times duration is how many run at a time."""
    if load.mean_duration is None:
        return 0
    # Rounded first: 0.07/s of 100 s is 7 runs at a time, and not the 7.000000000000001 that floats make of it.
    return ceil(round(load.ingress_rate * load.mean_duration / per_replica, 9))


def _clamped(raw: int, by: Term, limits: Limits) -> tuple[int, Term]:
    if raw < limits.least:
        return limits.least, "min"
    return (limits.most, "max") if raw > limits.most else (raw, by)


def _words(load: QueueLoad, limits: Limits, terms: dict[Term, int], raw: int, by: Term) -> str:
    mean = "an unknown duration" if load.mean_duration is None else f"{load.mean_duration:.6g} s"
    depth = f"depth: ceil(({load.ready} ready + {load.in_flight} in flight) / {limits.per_replica}) = {terms['depth']}"
    rate = f"rate: ceil({load.ingress_rate:.6g}/s * {mean} / {limits.per_replica}) = {terms['rate']}"
    over = "is over" if terms["age"] else "is not over"
    age = f"age: {load.oldest_age:.6g} s {over} {limits.max_age:g} s = {terms['age']}"
    return f"max({depth}, {rate}, {age}) = {raw}, by {by}"


def _clamp_words(raw: int, replicas: int, by: Term) -> str:
    return "" if raw == replicas else f"; {'raised' if by == 'min' else 'lowered'} to {by} {replicas}"
