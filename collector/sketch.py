"""Duration sketches: logarithmic buckets 1.1 % wide, so each quantile is within 1 %. Pure; merge and removal exact.

Bucket i holds seconds in `(2**(i/64), 2**((i+1)/64)]`: OpenTelemetry's exponential histogram of scale 6 as it stands.
"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

SCALE = 6
_PER_OCTAVE = 1 << SCALE
_ZERO = 1e-6  # seconds; the wire carries microseconds, so below one lies nothing


class Sketch:
    """Counts of values in seconds, by bucket."""

    def __init__(self, values: Iterable[float] = ()) -> None:
        self.zero = 0
        self.buckets: Counter[int] = Counter()
        for value in values:
            self.add(value)

    @property
    def count(self) -> int:
        """How many values it holds."""
        return self.zero + sum(self.buckets.values())

    def add(self, value: float, times: int = 1) -> None:
        """Takes a value in, or with `times=-1` exactly out again. Raises ValueError for what is no length of time."""
        if not 0 <= value < math.inf:
            raise ValueError(f"{value!r} is not a length of time in seconds; leave it out of the sketch")
        if value < _ZERO:
            self.zero += times
            return
        index = bucket_of(value)
        self.buckets[index] += times
        if not self.buckets[index]:
            del self.buckets[index]

    def merge(self, other: "Sketch") -> None:
        """Adds all of another's counts: the same as having seen its values."""
        self.zero += other.zero
        self.buckets.update(other.buckets)

    def quantile(self, share: float) -> float | None:
        """The nearest-rank quantile within 1 %, or None when nothing was counted."""
        total = self.count
        if not total:
            return None
        rank = max(1, math.ceil(share * total))
        seen = self.zero
        if rank <= seen:
            return 0.0
        for index in sorted(self.buckets):
            seen += self.buckets[index]
            if rank <= seen:
                return midpoint(index)
        raise AssertionError("counts below zero: a value was removed that had never been added")


def bucket_of(value: float) -> int:
    """The bucket of a positive number of seconds."""
    return math.ceil(math.log2(value) * _PER_OCTAVE) - 1


def midpoint(index: int) -> float:
    """The value that is off by the same small share from both ends of the bucket."""
    low, high = math.exp2(index / _PER_OCTAVE), math.exp2((index + 1) / _PER_OCTAVE)
    return 2 * low * high / (low + high)


def summary(sketch: Sketch, maximum: float | None) -> dict[str, Any]:
    """Count, p50, p95, p99 and the exact `maximum`, which no quantile may pass; null where there is nothing."""
    found = {name: sketch.quantile(share) for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}
    count = sketch.count
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        value = found[name]
        if value is not None and maximum is not None:
            found[name] = maximum if math.ceil(share * count) >= count else min(value, maximum)
    return {"count": count, **found, "max": maximum if count else None}
