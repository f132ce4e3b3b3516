"""Rollups: whole numbers by the minute that add up exactly, and come out again as exactly as they went in."""

from collections import Counter
from datetime import timedelta

from chain.making import at, ev
from hypothesis import given
from hypothesis import strategies as st

from collector.facts import Run, Verdict
from collector.rollups import STEPS, Rollup, changed, coarser, item, minute_of, of_run, of_verdict
from collector.runs import fold
from collector.summary import job_summary
from scheduler.instants import to_micros


def run(number: int, end: float, seconds: float, *, ok: bool) -> Run:
    kind = "succeeded" if ok else "failed"
    return fold(f"r{number}", [ev("started", end - seconds, f"r{number}"), ev(kind, end, f"r{number}")])


RUNS = st.lists(st.tuples(st.integers(0, 20_000), st.floats(0, 9_000), st.booleans()), max_size=30).map(
    lambda drawn: [run(n, end, seconds, ok=ok) for n, (end, seconds, ok) in enumerate(drawn)]
)


def minutes(runs: list[Run]) -> dict[int, Rollup]:
    buckets: dict[int, Rollup] = {}
    for each in runs:
        found = of_run(each)
        assert found is not None
        (_, minute), adds = found
        buckets[minute] = changed(buckets.get(minute, Rollup()), [], [adds])
    return buckets


@given(RUNS)
def test_the_sum_of_all_minutes_is_the_jobs_own_summary(runs: list[Run]) -> None:
    days = coarser(minutes(runs).items(), STEPS["1d"])
    found = item("job", 0, sum(days.values(), Rollup()))
    summary = job_summary([], runs, None, at(30_000))
    assert sum(found["runs"].values()) == summary["runs"]["total"]
    assert found["runs"].get("failed", 0) == summary["runs"]["failed"]
    assert found["attempts"] == summary["attempts"]
    assert found["duration_seconds"]["count"] == summary["duration_seconds"]["count"]


@given(RUNS, st.data())
def test_what_is_taken_out_again_leaves_no_trace(runs: list[Run], data: st.DataObject) -> None:
    contributions = [found[1] for each in runs if (found := of_run(each)) is not None]
    some = data.draw(st.lists(st.sampled_from(contributions), unique_by=id)) if contributions else []
    whole = changed(Rollup(), [], contributions)
    rest = Counter(map(id, contributions)) - Counter(map(id, some))
    kept = [each for each in contributions if rest[id(each)]]
    assert changed(whole, some, []) == changed(Rollup(), [], kept)


@given(RUNS)
def test_coarser_buckets_are_exact_sums_of_finer_ones(runs: list[Run]) -> None:
    finest = minutes(runs)
    hours = coarser(finest.items(), STEPS["1h"])
    assert coarser(hours.items(), STEPS["1d"]) == coarser(finest.items(), STEPS["1d"])


def test_a_slot_counts_in_the_minute_it_was_due_whenever_it_was_settled() -> None:
    verdict = Verdict(job="job", slot=at(60), kind="late", reason="", limit=at(120), settled_at=at(120), lateness=90)
    assert of_verdict(verdict)[0] == ("job", minute_of(at(60)))
    missed = Verdict(job="job", slot=at(60), kind="skipped", reason="overlap", limit=at(120))
    assert of_verdict(missed)[1] == {"slots/skipped/overlap": 1}


def test_a_minute_begins_with_its_first_microsecond() -> None:
    edge = at(60)
    tick = timedelta(microseconds=1)
    assert [minute_of(edge - tick), minute_of(edge), minute_of(edge + tick)] == [
        to_micros(at(0)),
        to_micros(at(60)),
        to_micros(at(60)),
    ]


def test_a_run_that_is_still_open_counts_nowhere() -> None:
    assert of_run(fold("r", [ev("started", 0)])) is None
    assert of_run(None) is None


def test_a_bucket_of_nothing_has_null_percentiles() -> None:
    found = item("job", 0, Rollup())
    assert found["duration_seconds"] == {"count": 0, "p50": None, "p95": None, "p99": None, "max": None}
