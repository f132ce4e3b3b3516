from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.jobs import Retry
from scheduler.policy import after_failure, back_off, classify_exit

SECONDS = timedelta(seconds=1)
retries = st.builds(
    Retry,
    attempts=st.integers(1, 50),
    initial=st.timedeltas(min_value=timedelta(0), max_value=timedelta(hours=1)),
    factor=st.floats(1, 100),
    max=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=1)),
    jitter=st.sampled_from(["full", "none"]),
)
fractions = st.floats(0, 1)


@given(retries, st.integers(1, 5000), fractions)
def test_a_back_off_is_never_negative_and_never_over_its_bound(retry: Retry, number: int, fraction: float) -> None:
    assert timedelta(0) <= back_off(retry, number, fraction) <= retry.max


@given(retries, st.integers(1, 100))
def test_without_jitter_a_later_back_off_is_never_shorter(retry: Retry, number: int) -> None:
    assert back_off(retry, number, 1.0) <= back_off(retry, number + 1, 1.0)


@given(retries, st.sampled_from(["temporary", "timeout", "lost"]), fractions)
def test_a_run_that_always_fails_has_exactly_its_attempts(retry: Retry, kind: str, fraction: float) -> None:
    tries, used = 1, 0
    while (then := after_failure(retry, kind, used, fraction)).again:  # type: ignore[arg-type]
        tries, used = tries + 1, used + then.uses_retry
    assert (tries, then.reason) == (retry.attempts, "attempts_used")


def test_back_off_doubles_up_to_its_bound() -> None:
    retry = Retry(attempts=9, initial=5 * SECONDS, factor=2, max=30 * SECONDS, jitter="none")
    assert [back_off(retry, number, 0.0) / SECONDS for number in (1, 2, 3, 4, 5)] == [5, 10, 20, 30, 30]


@pytest.mark.parametrize(("fraction", "seconds"), [(0.0, 0), (0.5, 10), (1.0, 20)])
def test_full_jitter_takes_any_share_of_the_back_off(fraction: float, seconds: int) -> None:
    assert back_off(Retry(initial=5 * SECONDS, factor=2), 3, fraction) == seconds * SECONDS


def test_an_interruption_uses_no_retry_even_when_none_is_left() -> None:
    then = after_failure(Retry(attempts=1), "interrupted", 0, 1.0)
    assert (then.again, then.uses_retry, then.delay) == (True, False, timedelta(0))


def test_a_permanent_failure_is_not_tried_again() -> None:
    assert after_failure(Retry(attempts=9), "permanent", 0, 1.0).reason == "permanent"


@pytest.mark.parametrize(
    ("on_exit", "code", "kind"),
    [((), 1, "temporary"), ((75,), 75, "temporary"), ((75,), 1, "permanent"), ((75,), -9, "temporary")],
)
def test_exit_codes_are_temporary_unless_others_are_named(on_exit: tuple[int, ...], code: int, kind: str) -> None:
    assert classify_exit(Retry(on_exit=on_exit), code) == kind
