"""Every slot gets exactly one verdict: three instants round each limit, and the rules of the fine print."""

import random
from datetime import timedelta

import pytest
from chain.making import at, ev, limits, minutely, play
from hypothesis import given
from hypothesis import strategies as st

from collector.facts import Gap, Run
from collector.runs import fold
from collector.verdicts import claimed_slot, judge, slot_of
from scheduler.events import RunEvent
from scheduler.jobs import Job, Schedule


def run_of(*events: RunEvent) -> Run:
    return fold("r", events)


def slots(report: dict[str, object]) -> dict[str, object]:
    jobs = report["jobs"]
    assert isinstance(jobs, dict)
    found = jobs["job"]["slots"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(("start", "kind"), [(119.999, "on_time"), (120, "on_time"), (120.001, "late")])
def test_a_start_exactly_at_the_limit_is_on_time(start: float, kind: str) -> None:
    slot = slot_of(minutely(), at(60))
    assert judge(slot, [run_of(ev("started", start))], [], at(500)).kind == kind


@pytest.mark.parametrize(("now", "kind"), [(119.999, "pending"), (120, "missed"), (120.001, "missed")])
def test_silence_becomes_missed_at_the_limit(now: float, kind: str) -> None:
    assert judge(slot_of(minutely(), at(60)), [], [], at(now)).kind == kind


def test_a_start_after_the_limit_turns_missed_into_late_settled_at_the_limit() -> None:
    verdict = judge(slot_of(minutely(), at(60)), [run_of(ev("started", 130))], [], at(130))
    assert (verdict.kind, verdict.settled_at, verdict.lateness) == ("late", at(120), 70)


@pytest.mark.parametrize(("end", "kind"), [(89.999, "on_time"), (90, "on_time"), (90.001, "late")])
def test_completion_counts_up_to_its_limit(end: float, kind: str) -> None:
    job = minutely(on_time=limits(10, 30))
    run = run_of(ev("started", 61), ev("succeeded", end))
    assert judge(slot_of(job, at(60)), [run], [], at(500)).kind == kind


def test_only_success_meets_a_completion_limit() -> None:
    job = minutely(on_time=limits(None, 30))
    run = run_of(ev("started", 61), ev("failed", 62))
    assert judge(slot_of(job, at(60)), [run], [], at(89)).kind == "pending"
    assert judge(slot_of(job, at(60)), [run], [], at(90)).kind == "late"


def test_a_late_start_is_late_at_once_though_the_completion_limit_lies_ahead() -> None:
    job = minutely(on_time=limits(10, 50))
    verdict = judge(slot_of(job, at(60)), [run_of(ev("started", 75))], [], at(75))
    assert (verdict.kind, verdict.settled_at) == ("late", at(70))


def test_the_earliest_start_wins_and_the_others_are_extra() -> None:
    runs = [fold("b", [ev("started", 200, "b")]), fold("a", [ev("started", 70, "a")])]
    verdict = judge(slot_of(minutely(), at(60)), runs, [], at(500))
    assert (verdict.kind, verdict.run) == ("on_time", "a")


def test_a_start_beats_a_skip_and_a_skip_beats_missed() -> None:
    slot, skip = slot_of(minutely(), at(60)), run_of(ev("skipped", 61, reason="overlap"))
    verdict = judge(slot, [skip], [], at(500))
    assert (verdict.kind, verdict.reason, verdict.settled_at) == ("skipped", "overlap", at(61))
    begun = fold("s", [ev("started", 62, "s")])
    assert judge(slot, [skip, begun], [], at(500)).kind == "on_time"


def test_a_skip_that_comes_late_settles_at_the_limit() -> None:
    skip = run_of(ev("skipped", 400, reason="deadline"))
    assert judge(slot_of(minutely(), at(60)), [skip], [], at(500)).settled_at == at(120)


@pytest.mark.parametrize("reason", ["holiday", "window", "disabled", "catch_up"])
def test_no_word_on_the_wire_excuses_an_owed_slot(reason: str) -> None:
    skip = run_of(ev("skipped", 61, reason=reason))
    assert judge(slot_of(minutely(), at(60)), [skip], [], at(500)).kind == "missed"


def test_a_disabled_jobs_slots_are_skipped_and_a_run_is_an_extra_one() -> None:
    slot = slot_of(minutely(enabled=False), at(60))
    verdict = judge(slot, [run_of(ev("started", 61))], [], at(500))
    assert (verdict.kind, verdict.reason, verdict.settled_at) == ("skipped", "disabled", None)


def test_silence_in_a_gap_is_unknown_and_evidence_still_counts() -> None:
    gap = Gap(since=at(70), until=at(200))
    slot = slot_of(minutely(), at(60))
    assert judge(slot, [], [gap], at(500)).kind == "unknown"
    assert judge(slot, [run_of(ev("started", 61))], [gap], at(500)).kind == "on_time"
    assert judge(slot, [run_of(ev("started", 500))], [gap], at(500)).kind == "late"


@pytest.mark.parametrize(
    ("since", "until", "kind"),
    [(0, 60, "missed"), (0, 60.001, "unknown"), (120, 130, "unknown"), (120.001, 130, "missed")],
)
def test_a_gap_counts_when_it_touches_the_slots_own_window(since: float, until: float, kind: str) -> None:
    gap = Gap(since=at(since), until=at(until))
    assert judge(slot_of(minutely(), at(60)), [], [gap], at(5000)).kind == kind


@pytest.mark.parametrize(("now", "kind"), [(499.999, "unknown"), (500, "missed"), (500.001, "missed")])
def test_a_gap_over_our_own_jobs_is_believed_to_be_silence_after_five_minutes(now: float, kind: str) -> None:
    gap = Gap(since=at(70), until=at(200))
    assert judge(slot_of(minutely(own=True), at(60)), [], [gap], at(now)).kind == kind


@pytest.mark.parametrize(("start", "slot"), [(59.999, 0), (60, 60), (60.001, 60), (119, 60)])
def test_a_run_without_a_slot_claims_the_latest_one_before_it(start: float, slot: float) -> None:
    assert claimed_slot(minutely(), run_of(ev("started", start))) == at(slot)


def test_a_run_far_from_its_slot_and_nearer_to_the_next_claims_none() -> None:
    hourly = Job(id="job", schedule=Schedule(every=timedelta(hours=1), timezone="UTC"))
    assert claimed_slot(hourly, run_of(ev("started", 1799))) == at(0)
    assert claimed_slot(hourly, run_of(ev("started", 1801))) is None
    wide = Job(id="job", schedule=hourly.schedule, early=timedelta(minutes=10))
    assert claimed_slot(wide, run_of(ev("started", 3000))) == at(3600)
    assert claimed_slot(wide, run_of(ev("started", 2999.9))) is None


def test_a_sender_whose_clock_is_behind_is_not_early() -> None:
    start = ev("started", 598, sent_at=at(598), received_at=at(721))
    hourly = Job(id="job", schedule=Schedule(every=timedelta(minutes=10), timezone="UTC"))
    assert claimed_slot(hourly, run_of(start)) == at(600)


def test_a_run_by_hand_satisfies_no_slot() -> None:
    assert claimed_slot(minutely(), fold("job!now", [ev("started", 60, "job!now")])) is None


def test_a_job_that_outgrows_its_interval_loses_slots_that_add_up() -> None:
    job = minutely(own=True)
    events = []
    for n in range(1, 11):
        name = f"job@{n}"
        if n % 3 == 1:
            events.append(ev("started", n * 60, name, slot=at(n * 60)))
        else:
            events.append(ev("skipped", n * 60, name, slot=at(n * 60), reason="overlap"))
    found = slots(play([job], events, until=659))
    assert (found["on_time"], found["skipped"], found["missed"]) == (4, {"overlap": 6}, 0)


_KINDS = st.sampled_from(["started", "succeeded", "failed", "skipped", "gap", "cancelled", "retrying"])


@st.composite
def _histories(draw: st.DrawFn) -> list[RunEvent]:
    events = []
    for kind, seconds, named, slot in draw(
        st.lists(st.tuples(_KINDS, st.integers(0, 900), st.integers(0, 3), st.booleans()), max_size=25)
    ):
        run = f"r{named}" if named else None
        if kind == "gap":
            span = {"from": at(seconds).isoformat(), "until": at(seconds + 60).isoformat()}
            events.append(ev("gap", seconds + 60, None, **span))
            continue
        fields = {"reason": "overlap"} if kind == "skipped" else {}
        late = {"received_at": at(seconds + 200)} if named == 3 else {}
        slot_at = at(seconds // 60 * 60) if slot else None
        events.append(ev(kind, seconds, run, slot=slot_at, **late, **fields))
    return events


@given(_histories(), st.randoms(use_true_random=False))
def test_any_order_gives_the_same_report_and_every_slot_adds_up(events: list[RunEvent], rng: random.Random) -> None:
    job = minutely(run_deadline=timedelta(seconds=90))
    report = play([job], events, until=1000)
    assert play([job], rng.sample(events, len(events)), until=1000) == report
    found = slots(report)
    skipped = found.pop("skipped")
    expected = found.pop("expected")
    assert isinstance(skipped, dict)
    assert expected == 16
    assert sum(found.values()) + sum(skipped.values()) == expected  # type: ignore[arg-type]  # counts, by the shape
