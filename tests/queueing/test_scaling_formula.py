"""How many workers a queue wants, on both sides of each boundary, and what the answer says of itself."""

from typing import Any

import pytest

from scheduler.queue_load import QueueLoad
from scheduler.scaling import MAX_AGE, MOST_REPLICAS, PER_REPLICA, Limits, wanted


def load(**numbers: Any) -> QueueLoad:
    return QueueLoad(queue="night", **numbers)


def asked(limits: Limits | None = None, **numbers: Any) -> tuple[int, str]:
    found = wanted(load(**numbers), limits or Limits())
    return found.replicas, found.decided_by


@pytest.mark.parametrize(
    ("ready", "expected"),
    [
        (0, (0, "nothing")),
        (1, (1, "depth")),
        (3, (1, "depth")),
        (4, (1, "depth")),
        (5, (2, "depth")),
        (8, (2, "depth")),
        (9, (3, "depth")),
    ],
)
def test_each_begun_handful_of_ready_runs_wants_a_worker(ready: int, expected: tuple[int, str]) -> None:
    assert asked(ready=ready) == expected


@pytest.mark.parametrize(
    ("ready", "in_flight", "replicas"), [(0, 1, 1), (0, 4, 1), (0, 5, 2), (4, 4, 2), (3, 1, 1), (4, 1, 2)]
)
def test_what_is_on_keeps_its_worker_though_nothing_waits(ready: int, in_flight: int, replicas: int) -> None:
    assert asked(ready=ready, in_flight=in_flight) == (replicas, "depth")


@pytest.mark.parametrize(("per_replica", "replicas"), [(1, 12), (11, 2), (12, 1), (13, 1)])
def test_the_slots_of_a_worker_are_the_callers_to_say(per_replica: int, replicas: int) -> None:
    assert asked(Limits(per_replica=per_replica), ready=12) == (replicas, "depth")


@pytest.mark.parametrize(
    ("arrivals", "seconds", "expected"),
    [
        (0, 10.0, (0, "nothing")),
        (300, 0.0, (0, "nothing")),
        (300, 3.999999, (1, "rate")),
        (300, 4.0, (1, "rate")),
        (300, 4.000001, (2, "rate")),
        (299, 4.0, (1, "rate")),
        (301, 4.0, (2, "rate")),
    ],
)
def test_arrivals_want_the_workers_that_they_keep_busy(
    arrivals: int, seconds: float, expected: tuple[int, str]
) -> None:
    assert asked(arrivals=arrivals, mean_duration=seconds) == expected


def test_the_noise_of_floating_point_wants_no_worker() -> None:
    assert 21 / 300 * 100 > 7, "the noise that this test is about"
    assert asked(Limits(per_replica=7), arrivals=21, mean_duration=100.0) == (1, "rate")


def test_arrivals_of_unknown_length_want_nothing_and_say_so() -> None:
    found = wanted(load(arrivals=3000), Limits())
    assert (found.replicas, found.decided_by) == (0, "nothing")
    assert "rate: ceil(10/s * an unknown duration / 4) = 0" in found.formula


@pytest.mark.parametrize(
    ("age", "expected"), [(59.999999, (0, "nothing")), (60.0, (0, "nothing")), (60.000001, (1, "age"))]
)
def test_one_worker_is_wanted_once_the_oldest_has_waited_longer_than_it_may(
    age: float, expected: tuple[int, str]
) -> None:
    assert asked(oldest_age=age, depth=1) == expected


@pytest.mark.parametrize(("age", "replicas"), [(0.0, 0), (0.000001, 1), (1.0, 1)])
def test_with_no_patience_at_all_any_age_counts(age: float, replicas: int) -> None:
    assert asked(Limits(max_age=0), oldest_age=age)[0] == replicas


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({"ready": 9, "arrivals": 300, "mean_duration": 8.0, "oldest_age": 61.0}, (3, "depth")),
        ({"ready": 8, "arrivals": 300, "mean_duration": 8.0, "oldest_age": 61.0}, (2, "depth")),
        ({"ready": 4, "arrivals": 300, "mean_duration": 8.0, "oldest_age": 61.0}, (2, "rate")),
        ({"ready": 0, "arrivals": 300, "mean_duration": 4.0, "oldest_age": 61.0}, (1, "rate")),
        ({"ready": 0, "arrivals": 0, "mean_duration": 4.0, "oldest_age": 61.0}, (1, "age")),
    ],
)
def test_the_largest_term_decides_and_of_equal_ones_the_first(
    numbers: dict[str, Any], expected: tuple[int, str]
) -> None:
    assert asked(**numbers) == expected


@pytest.mark.parametrize(
    ("ready", "expected"),
    [
        (0, (2, "min")),
        (4, (2, "min")),
        (5, (2, "depth")),
        (12, (3, "depth")),
        (16, (4, "depth")),
        (17, (4, "max")),
    ],
)
def test_the_answer_stays_between_min_and_max(ready: int, expected: tuple[int, str]) -> None:
    assert asked(Limits(least=2, most=4), ready=ready) == expected


def test_whatever_is_waiting_the_answer_has_a_bound() -> None:
    assert asked(Limits(per_replica=1), ready=10 * MOST_REPLICAS) == (MOST_REPLICAS, "max")


def test_a_worker_is_taken_to_be_as_serve_starts_it() -> None:
    assert (PER_REPLICA, MAX_AGE) == (4, 60.0)


def test_the_formula_shows_every_number_and_who_decided() -> None:
    numbers = load(depth=50, ready=42, arrivals=420, mean_duration=12.5, oldest_age=17.25)
    assert wanted(numbers, Limits()).formula == (
        "max(depth: ceil((42 ready + 0 in flight) / 4) = 11, rate: ceil(1.4/s * 12.5 s / 4) = 5, "
        "age: 17.25 s is not over 60 s = 0) = 11, by depth"
    )


@pytest.mark.parametrize(
    ("limits", "numbers", "end"),
    [
        (Limits(most=10), {"ready": 42}, ") = 11, by depth; lowered to max 10"),
        (Limits(least=1), {}, ") = 0, by nothing; raised to min 1"),
        (Limits(least=1), {"oldest_age": 61.5}, "age: 61.5 s is over 60 s = 1) = 1, by age"),
    ],
)
def test_the_formula_says_when_min_or_max_had_the_last_word(limits: Limits, numbers: dict[str, Any], end: str) -> None:
    assert wanted(load(**numbers), limits).formula.endswith(end)
