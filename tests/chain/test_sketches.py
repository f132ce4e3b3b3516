"""Percentiles: nearest rank, within 1 %, whatever the range."""

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.sketch import Sketch, summary
from collector.summary import lengths

lengths_of_time = st.floats(min_value=1e-5, max_value=1e7)


def _exact(values: list[float], share: float) -> float:
    return sorted(values)[max(1, math.ceil(share * len(values))) - 1]


DRAWS: dict[str, Callable[[], float]] = {
    "exponential": lambda: random.expovariate(0.01),
    "log-normal": lambda: random.lognormvariate(0, 3),
    "uniform": lambda: random.uniform(0.1, 9e4),
    "two humps": lambda: random.choice((random.gauss(5, 0.1), random.gauss(7200, 60))),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_quantiles_lie_within_one_percent_of_the_exact_ones(draw: Callable[[], float]) -> None:
    random.seed(7)
    values = [draw() for _ in range(5_000)]
    found = lengths(values)
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        assert found[name] == pytest.approx(_exact(values, share), rel=0.01)


def test_two_hour_jobs_are_not_reported_as_sixty_seconds() -> None:
    assert lengths(float(n) for n in range(7150, 7251))["p99"] == pytest.approx(7249, rel=0.01)


def test_percentiles_of_merged_parts_are_those_of_the_whole() -> None:
    a, b = Sketch([10.0] * 95 + [20.0] * 5), Sketch([300.0] * 100)
    a.merge(b)
    found = summary(a, 300.0)
    assert found["p50"] == pytest.approx(20, rel=0.01)
    assert found["p95"] == pytest.approx(300, rel=0.01)


def test_one_run_is_every_percentile_exactly() -> None:
    assert lengths([7.0]) == {"count": 1, "p50": 7.0, "p95": 7.0, "p99": 7.0, "max": 7.0}


def test_nothing_counted_is_null_and_never_zero() -> None:
    assert lengths([None]) == {"count": 0, "p50": None, "p95": None, "p99": None, "max": None}


@given(st.lists(lengths_of_time), lengths_of_time)
def test_what_is_added_and_removed_again_leaves_no_trace(values: list[float], extra: float) -> None:
    sketch = Sketch(values)
    sketch.add(extra)
    sketch.add(extra, -1)
    assert (sketch.zero, sketch.buckets) == (0, Sketch(values).buckets)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_what_is_no_length_of_time_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not a length of time"):
        Sketch().add(bad)
