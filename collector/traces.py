"""What a trace of a run looks like: a folded run in, its spans out.

Pure: nothing is sent here and no clock is read. Ids are hashes of the run's id, so the same run gives the same trace
however often it is told, and a job that was handed `traceparent` finds its own spans under its attempt.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, TraceFlags
from opentelemetry.trace.status import Status, StatusCode

from collector.facts import Attempt, Run, Stage
from scheduler.instants import format_instant, to_micros
from scheduler.jobs import Job

MAX_TEXT_BYTES = 16_384
MAX_SPANS_PER_RUN = 1_024
BAD_ENDS = frozenset({"failed", "dead_lettered"})
BAD_ATTEMPTS = frozenset({"failed", "retrying"})
_STAGE_ATTRIBUTES = frozenset({"job.id", "job.type", "job.run.id"})
_SCOPE = InstrumentationScope("tepat")

Attributes = dict[str, str | int | bool]


def spans_of(run: Run, job: Job | None, resource: Resource) -> list[ReadableSpan]:
    """The spans of a run that has ended: the run first, then each attempt followed by its stages.

    Empty for a run that goes on or was skipped. At most MAX_SPANS_PER_RUN, the run then flagged `tepat.truncated`:
    an endless loop of stages in one job must not push every other job's spans out of the queue.
    """
    if run.ended_at is None or run.outcome is None:
        return []
    trace = _Trace(run, job, resource)
    below = list(islice(_below(trace, run.ended_at), MAX_SPANS_PER_RUN))
    cut = len(below) == MAX_SPANS_PER_RUN
    return [_run_span(trace, run.ended_at, cut=cut), *below[: MAX_SPANS_PER_RUN - 1]]


@dataclass(frozen=True, slots=True)
class _Trace:
    """What all spans of one run share."""

    run: Run
    job: Job | None
    resource: Resource

    def context(self, key: str) -> SpanContext:
        """The context of the span named by `key`: both ids are the first bytes of a SHA-256."""
        trace = int.from_bytes(sha256(self.run.id.encode()).digest()[:16], "big")
        span = int.from_bytes(sha256(key.encode()).digest()[:8], "big")
        return SpanContext(trace, span, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))

    def key(self, attempt: Attempt) -> str:
        """What an attempt's span id is made from; the job's `traceparent` is made from the same."""
        return f"{self.run.id}#{attempt.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """One span before its texts are cut. `error` is its type and message when it ended badly."""

    name: str
    key: str
    parent: str | None
    when: tuple[datetime, datetime]
    attributes: Attributes
    error: tuple[str, str] | None
    links: tuple[Link, ...] = ()


def _run_span(trace: _Trace, ended_at: datetime, *, cut: bool) -> ReadableSpan:
    run = trace.run
    known = [at for at in (run.slot, run.queued_at, run.started_at) if at is not None]
    attributes = _attributes(trace) | {
        "job.outcome": str(run.outcome),
        "attempt": max((attempt.number for attempt in run.attempts), default=1),
    }
    draft = _Draft(
        name=f"run {run.job}",
        key=run.id,
        parent=None,
        when=(min(known, default=run.first_at), ended_at),
        attributes=attributes | ({"tepat.truncated": True} if cut else {}),
        error=_error(run.error, str(run.outcome)) if run.outcome in BAD_ENDS else None,
    )
    return _finished(trace, draft)


def _below(trace: _Trace, ended_at: datetime) -> Iterator[ReadableSpan]:
    """Attempts in their order; one of which nothing says when it was has no span, and neither have its stages."""
    ordered = sorted(trace.run.attempts, key=lambda attempt: attempt.number)
    earlier: Attempt | None = None
    begins = [*(attempt.started_at or ended_at for attempt in ordered), ended_at]
    for attempt, until in zip(ordered, begins[1:], strict=True):
        when = _times(attempt, until)
        if when is None:
            continue
        yield _attempt_span(trace, attempt, earlier, when)
        for index, stage in enumerate(attempt.stages):
            yield _stage_span(trace, attempt, index, stage)
        earlier = attempt


def _times(attempt: Attempt, until: datetime) -> tuple[datetime, datetime] | None:
    """When the attempt began and ended. An end that nobody told is where the next attempt, or the run's end, is."""
    begin = attempt.started_at
    end = attempt.ended_at or (until if begin else None)
    if begin is None and end is not None:
        begin = _before(end, attempt.seconds)
    return None if begin is None or end is None else (begin, end)


def _attempt_span(
    trace: _Trace, attempt: Attempt, earlier: Attempt | None, when: tuple[datetime, datetime]
) -> ReadableSpan:
    linked = () if earlier is None else (Link(trace.context(trace.key(earlier)), {"link.kind": "retry_of"}),)
    draft = _Draft(
        name=f"attempt {trace.run.job}",
        key=trace.key(attempt),
        parent=trace.run.id,
        when=when,
        attributes=_attributes(trace) | {"job.outcome": attempt.outcome, "attempt": attempt.number},
        error=_error(attempt.error, attempt.outcome) if attempt.outcome in BAD_ATTEMPTS else None,
        links=linked,
    )
    return _finished(trace, draft)


def _stage_span(trace: _Trace, attempt: Attempt, index: int, stage: Stage) -> ReadableSpan:
    key = trace.key(attempt)
    shared = {name: value for name, value in _attributes(trace).items() if name in _STAGE_ATTRIBUTES}
    draft = _Draft(
        name=f"stage {stage.name}",
        key=f"{key}#{index}",
        parent=key,
        when=(_before(stage.at, stage.seconds), stage.at),
        attributes=shared | {"attempt": attempt.number, "stage.name": stage.name},
        error=None if stage.ok else ("stage_failed", ""),
    )
    return _finished(trace, draft)


def _finished(trace: _Trace, draft: _Draft) -> ReadableSpan:
    """The span with every text cut; an end before its start (clocks of two hosts) becomes the start."""
    kind, told = draft.error or ("", "")
    attributes, cut = _cut_all(draft.attributes | ({"error.type": kind} if draft.error else {}))
    name, long_name = cut_text(draft.name)
    message, long_message = cut_text(told)
    if cut or long_name or long_message:
        attributes["tepat.truncated"] = True
    return ReadableSpan(
        name=name,
        context=trace.context(draft.key),
        parent=trace.context(draft.parent) if draft.parent else None,
        resource=trace.resource,
        attributes=attributes,
        links=draft.links,
        status=Status(StatusCode.ERROR, message or None) if draft.error else Status(StatusCode.UNSET),
        start_time=_nanos(draft.when[0]),
        end_time=_nanos(max(draft.when)),
        instrumentation_scope=_SCOPE,
    )


def _attributes(trace: _Trace) -> Attributes:
    """What a run's spans share. A value nobody gave is left out: an empty text would be a value of its own."""
    run, job = trace.run, trace.job
    found = {
        "job.id": run.job,
        "job.type": job.type if job else "",
        "job.owner": job.owner if job else "",
        "job.run.id": run.id,
        "job.scheduled_time": format_instant(run.slot) if run.slot else "",
        "job.trigger": "schedule" if run.slot else "event",
    }
    return {name: value for name, value in found.items() if value}


def _error(error: Mapping[str, Any] | None, outcome: str) -> tuple[str, str]:
    """The error's kind and message as texts; the outcome stands in for a kind that wasn't told."""
    told = error or {}
    return str(told.get("kind") or outcome), str(told.get("message") or "")


def _cut_all(attributes: Attributes) -> tuple[Attributes, bool]:
    cuts = {name: cut_text(value) for name, value in attributes.items() if isinstance(value, str)}
    kept = attributes | {name: text for name, (text, _) in cuts.items()}
    return kept, any(longer for _, longer in cuts.values())


def cut_text(text: str) -> tuple[str, bool]:
    """The text within MAX_TEXT_BYTES of UTF-8, never half a character, and whether something was cut off.

    Receivers limit a request's bytes and refuse it whole, so one huge text would take its neighbours with it.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_TEXT_BYTES:
        return data.decode(), False
    return data[:MAX_TEXT_BYTES].decode("utf-8", "ignore"), True


def _before(end: datetime, seconds: float | None) -> datetime:
    """`seconds` before `end`; `end` itself when the length is unknown or can't be one."""
    try:
        return end - timedelta(seconds=max(0.0, seconds or 0.0))
    except (OverflowError, ValueError):
        return end


def _nanos(at: datetime) -> int:
    """Nanoseconds since 1970; OTLP has no earlier times."""
    return max(0, to_micros(at)) * 1000
