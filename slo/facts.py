"""Settled facts of one objective, good or bad, by instant: exact counts in any window. Pure, in memory.

Bound: two instants a settled fact; who holds a line bounds what it is fed with.
"""

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler.instants import from_micros, to_micros


@dataclass(frozen=True, slots=True)
class Count:
    """How many settled facts lie in a window, and how many of them are bad."""

    total: int
    bad: int

    @property
    def good(self) -> int:
        """The rest."""
        return self.total - self.bad


class FactLine:
    """Facts on a line of time. Every window is half-open: `(since, until]`."""

    def __init__(self) -> None:
        self._all: list[int] = []
        self._bad: list[int] = []

    def add(self, at: datetime, good: bool) -> None:
        """Takes a settled fact in, wherever in time it belongs."""
        insort(self._all, to_micros(at))
        if not good:
            insort(self._bad, to_micros(at))

    def remove(self, at: datetime, good: bool) -> None:
        """Takes a fact out again that was added: a late word has changed it."""
        _pull(self._all, to_micros(at))
        if not good:
            _pull(self._bad, to_micros(at))

    def count(self, since: datetime, until: datetime) -> Count:
        """What lies in `(since, until]`."""
        low, high = to_micros(since), to_micros(until)
        return Count(_between(self._all, low, high), _between(self._bad, low, high))

    def bad_since(self, at: datetime) -> bool:
        """Whether any bad fact lies after `at`; without one nothing can fire."""
        return bool(self._bad) and self._bad[-1] > to_micros(at)

    def reach_back(self, needed: int, floor: datetime, until: datetime) -> datetime | None:
        """The start of the shortest window up to `until` that holds `needed` facts, but not before `floor`.

        None when there are fewer after `floor`. Facts of the same instant come in together.
        """
        index = bisect_right(self._all, to_micros(until)) - needed
        if index < 0 or self._all[index] <= to_micros(floor):
            return None
        return from_micros(self._all[index] - 1)

    def last_are_bad(self, needed: int, floor: datetime, until: datetime) -> bool:
        """Whether the last `needed` settled facts in `(floor, until]` exist and are all bad."""
        since = self.reach_back(needed, floor, until)
        if since is None:
            return False
        found = self.count(since, until)
        return found.bad == found.total


def window_start(
    line: FactLine, needed: int, length: timedelta, objective_start: datetime, until: datetime
) -> datetime:
    """The cadence rule: where a window of `length` begins when it must hold `needed` facts.

    A window with fewer reaches back to the last that many, but never before the start of the objective's own window.
    """
    since = max(until - length, objective_start)
    if line.count(since, until).total >= needed:
        return since
    reached = line.reach_back(needed, objective_start, until)
    return objective_start if reached is None else reached


def _between(instants: list[int], low: int, high: int) -> int:
    return bisect_right(instants, high) - bisect_right(instants, low)


def _pull(instants: list[int], at: int) -> None:
    index = bisect_left(instants, at)
    assert instants[index : index + 1] == [at], f"no fact at {from_micros(at)} to remove"
    del instants[index]
