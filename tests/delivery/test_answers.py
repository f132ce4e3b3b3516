"""What an answer means, and what goes out next: the pure half of delivery."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.retry_after import parse_retry_after
from slo.delivery_policy import (
    BACKOFF_CAP,
    FOLD_ABOVE,
    FOLD_SIZE,
    GIVE_UP_AFTER,
    RETRY_AFTER_CAP,
    Waiting,
    after_answer,
    back_off,
    pick,
)

NOW = datetime(2026, 10, 21, 7, 27, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def waits(header: str | None, attempts: int = 1) -> float:
    decision = after_answer(429, header, attempts, NOW, 0.0)
    assert decision.next_try_at is not None
    return (decision.next_try_at - NOW).total_seconds()


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_delivered(status: int) -> None:
    assert after_answer(status, None, 1, NOW, 0.5).state == "delivered"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("30", 30),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 60),
        ("-5", 0.5),
        ("abc", 0.5),
        ("1e9", 0.5),
        ("", 0.5),
        ("1.5", 0.5),
        ("٣٠", 0.5),
        (None, 0.5),
        ("999999999999", 3600),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 3600),
        ("Wed, 21 Oct 2020 07:28:00 GMT", 0.5),
        ("Wed, 99 Oct 2026 07:28:00 GMT", 0.5),
        ("0", 0.5),
    ],
)
def test_retry_after_is_honoured_and_a_bad_one_means_back_off(header: str | None, seconds: float) -> None:
    assert waits(header) == seconds


@pytest.mark.parametrize(("offset", "wait"), [(3599, 3599), (3600, 3600), (3601, 3600)])
def test_retry_after_is_capped_at_one_hour(offset: int, wait: int) -> None:
    assert waits(str(offset)) == wait


def test_a_channel_that_always_asks_for_one_second_is_soon_asked_twice_a_minute() -> None:
    assert waits("1", attempts=12) == 30


@pytest.mark.parametrize("status", [408, 421, 425, 429, 500, 502, 503, 504, 599, None])
def test_trouble_is_tried_again(status: int | None) -> None:
    assert after_answer(status, None, 1, NOW, 0.5).state == "pending"


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422, 301, 302, 307])
def test_a_refusal_or_redirect_is_final_and_leaves_the_channel_on(status: int) -> None:
    decision = after_answer(status, "30", 1, NOW, 0.5)
    assert (decision.state, decision.disable, decision.hold) == ("dead", False, False)


@pytest.mark.parametrize("status", [403, 410])
def test_a_channel_that_is_gone_is_disabled(status: int) -> None:
    decision = after_answer(status, "30", 1, NOW, 0.5)
    assert (decision.state, decision.disable) == ("dead", True)
    assert str(status) in decision.reason


@pytest.mark.parametrize(("status", "hold"), [(429, True), (503, True), (None, True), (500, False)])
def test_only_what_is_about_the_channel_makes_the_channel_wait(status: int | None, hold: bool) -> None:
    assert after_answer(status, None, 1, NOW, 0.5).hold is hold


@pytest.mark.parametrize(("offset", "state"), [(-1, "pending"), (0, "dead"), (1, "dead")])
def test_it_gives_up_three_days_after_it_was_owed(offset: int, state: str) -> None:
    since = NOW - GIVE_UP_AFTER - offset * SECOND
    decision = after_answer(500, None, 900, NOW, 0.5, since=since)
    assert decision.state == state
    assert decision.reason.startswith("gave_up") is (state == "dead")


@given(attempts=st.integers(0, 10**9), jitter=st.floats(0, 1, exclude_max=True))
def test_back_off_is_never_nothing_and_never_past_its_cap(attempts: int, jitter: float) -> None:
    assert SECOND / 2 <= back_off(attempts, jitter) <= BACKOFF_CAP


@given(st.text(max_size=40))
def test_no_header_breaks_the_parsing_or_the_cap(header: str) -> None:
    wait = parse_retry_after(header, NOW, RETRY_AFTER_CAP)
    assert wait is None or timedelta() <= wait <= RETRY_AFTER_CAP


def row(seq: int, episode: str = "", *, after: float = 0, fold: str | None = None, leased: bool = False) -> Waiting:
    return Waiting(seq=seq, episode=episode or f"e{seq}", next_try_at=NOW + after * SECOND, fold=fold, leased=leased)


def seqs(*waiting: Waiting) -> list[int]:
    return [notice.seq for notice in pick(waiting, NOW)]


@pytest.mark.parametrize(("after", "expected"), [(-1e-6, [1]), (0, [1]), (1e-6, [])])
def test_a_notice_goes_out_from_its_instant_on(after: float, expected: list[int]) -> None:
    assert seqs(row(1, after=after)) == expected


def test_a_clock_put_back_does_not_silence_a_notice() -> None:
    assert seqs(row(1, after=RETRY_AFTER_CAP.total_seconds() + 1)) == [1]


@pytest.mark.parametrize(
    ("count", "sent"), [(FOLD_ABOVE, 1), (FOLD_ABOVE + 1, FOLD_ABOVE + 1), (FOLD_SIZE + 1, FOLD_SIZE)]
)
def test_more_than_twenty_owed_become_one_message_of_at_most_a_hundred(count: int, sent: int) -> None:
    assert len(seqs(*(row(number) for number in range(count)))) == sent


def test_a_fold_is_tried_again_as_it_was() -> None:
    assert seqs(row(1, fold="s/1"), row(2, fold="s/1"), row(3)) == [1, 2]


def test_resolved_waits_for_the_firing_that_is_still_being_tried() -> None:
    assert seqs(row(1, "a", after=30), row(2, "a"), row(3, "b")) == [3]
    assert seqs(row(1, "a", leased=True), row(2, "a")) == []
    assert seqs(row(1, "a", fold="s/1", after=30), row(2, "a")) == []


def test_resolved_does_not_overtake_a_firing_that_was_tried_later() -> None:
    assert seqs(row(1, "a", after=-1), row(2, "a", after=-60)) == [1]


def test_a_notice_that_must_go_alone_is_never_folded() -> None:
    waiting = [row(0, fold="", after=-5), *(row(number) for number in range(1, FOLD_ABOVE + 5))]
    assert seqs(*waiting) == [0]
