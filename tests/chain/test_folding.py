"""Events to runs: the rules of folding, one sentence each."""

import random

import pytest
from chain.making import at, ev
from hypothesis import given
from hypothesis import strategies as st

from collector.anonymous import pair
from collector.runs import fold
from collector.summary import job_summary
from scheduler.events import RunEvent


def test_one_run_delivered_to_three_workers_is_one_run_with_two_duplicate_starts() -> None:
    starts = [ev("started", s, worker=w) for s, w in ((21600, "a"), (21600, "b"), (21601, "c"))]
    ends = [ev("succeeded", s, worker=w) for s, w in ((21634, "a"), (21634, "b"), (21635, "c"))]
    run = fold("r", starts + ends)
    assert (run.outcome, run.starts, run.duplicate_starts, run.duration) == ("succeeded", 3, 2, 34)
    assert "duplicate_execution" in run.flags


def test_three_failed_attempts_and_a_success_are_one_good_run() -> None:
    events = []
    for number, (start, end) in enumerate(((0, 10), (20, 31), (51, 60)), start=1):
        events += [ev("started", start, attempt=number), ev("retrying", end, attempt=number)]
    events += [ev("started", 100, attempt=4), ev("succeeded", 140, attempt=4)]
    run = fold("r", events)
    assert (run.outcome, run.retries, run.starts, run.duration) == ("succeeded", 3, 4, 140)
    last = run.attempts[-1]
    assert last.ended_at is not None and last.started_at is not None
    assert (last.ended_at - last.started_at).total_seconds() == 40


def test_a_clock_that_runs_backward_gives_no_negative_duration() -> None:
    run = fold("r", [ev("started", 300), ev("succeeded", 0.003)])
    assert run.duration is None
    assert "clock_skew" in run.flags


def test_the_workers_own_stopwatch_outranks_two_clocks() -> None:
    run = fold("r", [ev("started", 300), ev("succeeded", 0.003, seconds=2.5)])
    assert run.duration == 2.5
    assert "clock_skew" in run.flags


def test_runs_of_unknown_length_leave_percentiles_but_not_the_success_rate() -> None:
    runs = [fold(f"r{n}", [ev("started", 0, f"r{n}"), ev("succeeded", n, f"r{n}")]) for n in (3, 4, 5)]
    runs.append(fold("x", [ev("started", 9, "x"), ev("succeeded", 1, "x")]))
    found = job_summary([], runs, None, at(100))
    assert found["duration_seconds"]["count"] == 3
    assert found["duration_seconds"]["p95"] == 5
    assert (found["runs"]["succeeded"], found["success_rate"]) == (4, 1.0)


def test_a_redriven_run_is_open_again_and_its_dead_letter_is_history() -> None:
    events = [ev("started", 0), ev("failed", 1), ev("dead_lettered", 1, queue="q")]
    assert fold("r", events).dead_since == at(1)
    events.append(ev("redriven", 4, attempt=2))
    reopened = fold("r", events)
    assert (reopened.outcome, reopened.dead_since) == ("queued", None)
    events += [ev("started", 5, attempt=2), ev("succeeded", 7, attempt=2)]
    ended = fold("r", events)
    assert (ended.outcome, ended.duration, ended.retries, ended.dead_arrivals) == ("succeeded", 2, 0, 1)


def test_the_same_dead_letter_delivered_twice_arrives_once() -> None:
    events = [ev("dead_lettered", 1), ev("dead_lettered", 3), ev("redriven", 4, attempt=2)]
    events.append(ev("dead_lettered", 5, attempt=2))
    run = fold("r", events)
    assert (run.dead_arrivals, run.dead_since) == (2, at(5))


def test_a_discarded_letter_leaves_the_outcome_and_ends_the_depth() -> None:
    run = fold("r", [ev("failed", 1), ev("dead_lettered", 1), ev("discarded", 2)])
    assert (run.outcome, run.dead_since) == ("dead_lettered", None)


def test_lost_is_provisional_and_any_word_of_the_worker_outranks_it() -> None:
    lost = ev("failed", 60, error={"kind": "lost", "message": "no sign of life"})
    assert fold("r", [ev("started", 0), lost]).outcome == "failed"
    assert fold("r", [ev("started", 0), lost, ev("succeeded", 50)]).outcome == "succeeded"
    assert fold("r", [ev("started", 0), lost, ev("cancelled", 70)]).outcome == "cancelled"


@pytest.mark.parametrize(
    ("types", "outcome"), [(("failed", "succeeded"), "succeeded"), (("cancelled", "failed"), "failed")]
)
def test_ends_of_one_attempt_outrank_each_other_whatever_their_times(types: tuple[str, str], outcome: str) -> None:
    for first, second in (types, types[::-1]):
        assert fold("r", [ev("started", 0), ev(first, 5), ev(second, 6)]).outcome == outcome


def test_a_skip_alone_is_no_run() -> None:
    run = fold("r", [ev("skipped", 0, reason="overlap")])
    assert (run.outcome, run.skip_reason) == (None, "overlap")


def test_an_end_alone_with_a_length_starts_that_much_earlier() -> None:
    run = fold("r", [ev("succeeded", 10, seconds=4)])
    assert run.started_at == at(6)
    assert "end_only" not in run.flags


def test_an_end_alone_without_a_length_says_so() -> None:
    run = fold("r", [ev("succeeded", 10)])
    assert (run.started_at, run.duration) == (None, None)
    assert "end_only" in run.flags


def test_an_end_without_a_run_id_closes_the_only_open_run() -> None:
    (group,) = pair([ev("started", 0, None), ev("succeeded", 35, None)], None)
    assert fold(group.key, group.events).duration == 35
    assert not group.ambiguous


def test_overlapping_runs_without_a_run_id_have_no_duration_until_none_is_open() -> None:
    times = (("started", 0), ("started", 30), ("succeeded", 35), ("succeeded", 60), ("started", 90), ("succeeded", 91))
    groups = pair([ev(kind, seconds, None) for kind, seconds in times], None)
    runs = [fold(g.key, g.events, frozenset({"ambiguous"} if g.ambiguous else ())) for g in groups]
    assert [run.duration for run in runs] == [None, None, 1]
    assert [g.ambiguous for g in groups] == [True, True, False]


_KINDS = ("queued", "started", "stage", "retrying", "succeeded", "failed", "cancelled", "dead_lettered", "redriven")


@st.composite
def _histories(draw: st.DrawFn) -> list[RunEvent]:
    drawn = draw(
        st.lists(st.tuples(st.sampled_from(_KINDS), st.integers(0, 30), st.integers(1, 3)), min_size=1, max_size=12)
    )
    return [ev(kind, seconds, attempt=attempt) for kind, seconds, attempt in drawn]


@given(_histories(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing_about_a_run(events: list[RunEvent], rng: random.Random) -> None:
    shuffled = rng.sample(events, len(events))
    assert fold("r", shuffled) == fold("r", events)


@given(_histories())
def test_no_history_gives_a_negative_duration(events: list[RunEvent]) -> None:
    duration = fold("r", events).duration
    assert duration is None or duration >= 0


def test_a_run_that_stands_for_what_a_clock_step_passed_over_is_flagged_so() -> None:
    queued = ev("queued", 0, clock_step=600.0)
    assert fold("r", [queued, ev("started", 1), ev("succeeded", 2)]).flags == {"clock_step"}
    assert fold("r", [ev("queued", 0), ev("started", 1), ev("succeeded", 2)]).flags == frozenset()
