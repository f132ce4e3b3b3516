from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext
from opentelemetry.trace.status import StatusCode

from collector.facts import Attempt, Run, Stage
from collector.telemetry import ATTRIBUTES, SPANS
from collector.traces import MAX_SPANS_PER_RUN, cut_text, spans_of
from scheduler.jobs import Job

SLOT = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
RESOURCE = Resource({"service.name": "tepat"})
JOB = Job(id="report", type="billing", owner="team-billing")


def after(seconds: float) -> datetime:
    return SLOT + timedelta(seconds=seconds)


def nanos(seconds: float) -> int:
    return int(SLOT.timestamp()) * 10**9 + int(seconds * 1000) * 10**6


def digest(text: str, size: int) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:size], "big")


def context_of(span: ReadableSpan) -> SpanContext:
    context = span.get_span_context()
    assert context is not None
    return context


def attributes_of(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


RETRIED = Run(
    id="report@2026-03-29T00:30:00Z",
    job="report",
    source="tepat",
    slot=SLOT,
    outcome="succeeded",
    first_at=after(1),
    started_at=after(1),
    ended_at=after(9),
    attempts=(
        Attempt(
            number=1,
            started_at=after(1),
            ended_at=after(3),
            outcome="retrying",
            error={"kind": "temporary", "message": "the disk was busy"},
            stages=(Stage(name="read", at=after(2), seconds=0.5), Stage(name="write", at=after(3), ok=False)),
        ),
        Attempt(number=2, started_at=after(5), ended_at=after(9), outcome="succeeded"),
    ),
)


def named(spans: list[ReadableSpan], name: str) -> list[ReadableSpan]:
    return [span for span in spans if span.name == name]


def test_a_run_that_was_tried_twice_has_a_span_for_itself_each_attempt_and_each_stage() -> None:
    spans = spans_of(RETRIED, JOB, RESOURCE)
    assert [span.name for span in spans] == [
        "run report",
        "attempt report",
        "stage read",
        "stage write",
        "attempt report",
    ]
    assert [(span.start_time, span.end_time) for span in spans] == [
        (nanos(0), nanos(9)),
        (nanos(1), nanos(3)),
        (nanos(1.5), nanos(2)),
        (nanos(3), nanos(3)),
        (nanos(5), nanos(9)),
    ]
    assert {span.resource for span in spans} == {RESOURCE}


def test_every_id_is_a_hash_of_the_run_id_so_the_job_finds_its_own_attempt() -> None:
    run, first, read, _, second = spans_of(RETRIED, JOB, RESOURCE)
    assert {context_of(span).trace_id for span in (run, first, read, second)} == {digest(RETRIED.id, 16)}
    assert context_of(run).span_id == digest(RETRIED.id, 8)
    assert context_of(first).span_id == digest(f"{RETRIED.id}#1", 8)
    assert context_of(second).span_id == digest(f"{RETRIED.id}#2", 8)
    assert context_of(read).span_id == digest(f"{RETRIED.id}#1#0", 8)


def test_attempts_hang_below_the_run_and_stages_below_their_attempt() -> None:
    run, first, read, write, second = spans_of(RETRIED, JOB, RESOURCE)
    assert run.parent is None
    assert first.parent == second.parent == context_of(run)
    assert read.parent == write.parent == context_of(first)


def test_a_second_attempt_links_to_the_first_as_its_retry() -> None:
    run, first, _, _, second = spans_of(RETRIED, JOB, RESOURCE)
    assert not run.links
    assert not first.links
    (link,) = second.links
    assert link.context == context_of(first)
    assert dict(link.attributes or {}) == {"link.kind": "retry_of"}


def test_a_run_that_succeeded_at_last_is_no_error_but_its_failed_attempt_is() -> None:
    run, first, read, write, second = spans_of(RETRIED, JOB, RESOURCE)
    codes = [span.status.status_code for span in (run, first, read, write, second)]
    assert codes == [StatusCode.UNSET, StatusCode.ERROR, StatusCode.UNSET, StatusCode.ERROR, StatusCode.UNSET]
    assert first.status.description == "the disk was busy"
    assert attributes_of(first)["error.type"] == "temporary"
    assert attributes_of(write)["error.type"] == "stage_failed"
    assert "error.type" not in attributes_of(run)


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ("succeeded", StatusCode.UNSET),
        ("cancelled", StatusCode.UNSET),
        ("failed", StatusCode.ERROR),
        ("dead_lettered", StatusCode.ERROR),
    ],
)
def test_only_a_bad_end_of_the_run_makes_its_span_an_error(outcome: str, code: StatusCode) -> None:
    ended = replace(RETRIED, outcome=outcome, error={"kind": "timeout", "message": "too long"})  # type: ignore[arg-type]
    run = spans_of(ended, JOB, RESOURCE)[0]
    assert run.status.status_code is code
    assert attributes_of(run).get("error.type") == ("timeout" if code is StatusCode.ERROR else None)


def test_a_span_says_which_job_run_and_attempt_it_is_of() -> None:
    run, first, read, *_ = spans_of(RETRIED, JOB, RESOURCE)
    shared = {
        "job.id": "report",
        "job.type": "billing",
        "job.owner": "team-billing",
        "job.run.id": RETRIED.id,
        "job.scheduled_time": "2026-03-29T00:30:00Z",
        "job.trigger": "schedule",
    }
    assert attributes_of(run) == shared | {"job.outcome": "succeeded", "attempt": 2}
    assert attributes_of(first) == shared | {"job.outcome": "retrying", "attempt": 1, "error.type": "temporary"}
    assert attributes_of(read) == {
        "job.id": "report",
        "job.type": "billing",
        "job.run.id": RETRIED.id,
        "attempt": 1,
        "stage.name": "read",
    }


def test_a_run_of_an_unknown_job_without_a_slot_leaves_out_what_nobody_told() -> None:
    run = spans_of(replace(RETRIED, slot=None), None, RESOURCE)[0]
    assert attributes_of(run) == {
        "job.id": "report",
        "job.run.id": RETRIED.id,
        "job.trigger": "event",
        "job.outcome": "succeeded",
        "attempt": 2,
    }


def test_every_span_and_attribute_stands_in_the_tables() -> None:
    bad = replace(RETRIED, outcome="failed", error={"message": "x" * 20_000})
    words = {entry.name: set(entry.attributes) for entry in SPANS}
    seen: set[str] = set()
    for span in spans_of(bad, JOB, RESOURCE):
        word = span.name.split()[0]
        assert set(attributes_of(span)) <= words[word]
        seen |= {word}
    assert seen == set(words)
    assert set().union(*words.values()) | {"link.kind"} == {name for name, _ in ATTRIBUTES}


@pytest.mark.parametrize(
    ("queued", "started", "start"),
    [(-5, 1, -5), (0, 1, 0), (0.5, 1, 0), (None, 1, 0), (None, -2, -2), (None, None, 0)],
)
def test_a_run_starts_at_its_slot_queueing_or_first_start_whichever_is_first(
    queued: float | None, started: float | None, start: float
) -> None:
    run = replace(
        RETRIED,
        queued_at=None if queued is None else after(queued),
        started_at=None if started is None else after(started),
    )
    assert spans_of(run, JOB, RESOURCE)[0].start_time == nanos(start)


def test_a_run_that_goes_on_or_was_skipped_has_no_spans_yet() -> None:
    assert spans_of(replace(RETRIED, outcome="running", ended_at=None), JOB, RESOURCE) == []
    assert spans_of(replace(RETRIED, outcome=None, skip_reason="holiday"), JOB, RESOURCE) == []


def test_an_end_before_its_start_by_another_clock_becomes_the_start() -> None:
    run = replace(RETRIED, ended_at=after(-1), attempts=(Attempt(number=1, started_at=after(1), ended_at=after(0)),))
    assert [(s.start_time, s.end_time) for s in spans_of(run, JOB, RESOURCE)] == [
        (nanos(0), nanos(0)),
        (nanos(1), nanos(1)),
    ]


def test_an_attempt_whose_end_nobody_told_ends_where_the_next_begins_and_the_last_with_the_run() -> None:
    run = replace(RETRIED, attempts=tuple(replace(each, ended_at=None) for each in RETRIED.attempts))
    attempts = named(spans_of(run, JOB, RESOURCE), "attempt report")
    assert [span.end_time for span in attempts] == [nanos(5), nanos(9)]


@pytest.mark.parametrize(("seconds", "start"), [(2.0, 7), (None, 9), (-1.0, 9), (float("nan"), 9), (1e300, 9)])
def test_an_attempt_whose_start_nobody_told_began_its_length_before_its_end(seconds: float | None, start: int) -> None:
    run = replace(RETRIED, attempts=(Attempt(number=1, ended_at=after(9), seconds=seconds),))
    (attempt,) = named(spans_of(run, JOB, RESOURCE), "attempt report")
    assert attempt.start_time == nanos(start)


def test_an_attempt_of_which_no_time_is_known_has_no_span_and_is_not_linked_to() -> None:
    run = replace(RETRIED, attempts=(Attempt(number=1), RETRIED.attempts[1]))
    (attempt,) = named(spans_of(run, JOB, RESOURCE), "attempt report")
    assert not attempt.links


@pytest.mark.parametrize(("size", "cut"), [(16_383, False), (16_384, False), (16_385, True)])
def test_a_text_is_cut_at_16384_bytes_and_the_span_says_so(size: int, cut: bool) -> None:
    run = replace(RETRIED, outcome="failed", error={"message": "x" * size})
    span = spans_of(run, JOB, RESOURCE)[0]
    assert len(span.status.description or "") == min(size, 16_384)
    assert attributes_of(span).get("tepat.truncated", False) is cut


def test_a_cut_never_leaves_half_a_character_and_a_lone_surrogate_can_be_sent() -> None:
    assert cut_text("é" * 8_192) == ("é" * 8_192, False)
    assert cut_text("x" + "é" * 8_192) == ("x" + "é" * 8_191, True)
    assert cut_text("a\ud800b") == ("a?b", False)


@pytest.mark.parametrize(("spans", "cut"), [(1_023, False), (1_024, False), (1_025, True)])
def test_a_run_has_at_most_1024_spans_and_says_when_some_are_left_out(spans: int, cut: bool) -> None:
    stages = tuple(Stage(name=str(number), at=after(2)) for number in range(spans - 2))
    run = replace(RETRIED, attempts=(replace(RETRIED.attempts[0], stages=stages),))
    found = spans_of(run, JOB, RESOURCE)
    assert len(found) == min(spans, MAX_SPANS_PER_RUN)
    assert attributes_of(found[0]).get("tepat.truncated", False) is cut
