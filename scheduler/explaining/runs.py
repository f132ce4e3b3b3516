"""What became of a slot and of its run, in words: the verdict, the skip, the end, and the instants of each. Pure.

The values here are what the ledger knows, reduced to what a sentence needs; foreign text is cleaned where it is told.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from scheduler.explaining.words import length, moment, shown, window_words
from scheduler.instants import format_duration
from scheduler.jobs import Job

Found = Literal[
    "pending", "on_time", "late", "missed", "unknown", "overlap", "deadline", "upstream", "buffer_full", "catch_up",
    "queued", "running", "succeeded", "failed", "cancelled", "dead_lettered",
]  # fmt: skip
_SKIPS: dict[str, Found] = {
    "overlap": "overlap",
    "deadline": "deadline",
    "upstream": "upstream",
    "buffer_full": "buffer_full",
    "catch_up": "catch_up",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotFacts:
    """The verdict of a slot: its kind and reason, the limit of silence, and the run that stands for it."""

    kind: Literal["pending", "on_time", "late", "missed", "skipped", "unknown"]
    reason: str
    limit: datetime
    started_at: datetime | None = None
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """A run as far as it is known. `outcome` is None when all that was heard is that it was skipped.

    `error` is foreign text. `waits` is a sentence about what a queued run waits for, empty where nobody knows.
    """

    id: str
    outcome: Literal["queued", "running", "succeeded", "failed", "cancelled", "dead_lettered"] | None
    queued_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    attempts: int = 0
    skip_reason: str | None = None
    skipped_at: datetime | None = None
    error: str = ""
    waits: str = ""


def told(job: Job, slot: datetime, verdict: SlotFacts | None, run: RunFacts | None) -> tuple[Found, list[str]] | None:
    """The reason and the sentences of what became of an owed slot; None when nothing is known of it."""
    if verdict is None and run is None:
        return None
    if verdict is None:
        assert run is not None
        return run_told(job, run)
    code, sentences = _verdict(job, slot, verdict, run)
    if run is None:
        return code, sentences
    if verdict.run is not None and run.id != verdict.run:
        of_run, more = run_told(job, run)
        return of_run, [*sentences, f"The run {verdict.run} stands for this slot; {run.id} is an extra run.", *more]
    if run.outcome is not None or code in ("missed", "pending"):
        of_run, more = run_told(job, run)
        sentences += more
        if code in ("on_time", "pending") or of_run == "catch_up":
            code = of_run
    return code, sentences


def run_told(job: Job, run: RunFacts) -> tuple[Found, list[str]]:
    """The state of a run and the sentences about it, whether it belongs to a slot or not."""
    if run.outcome is None:
        code = _SKIPS.get(run.skip_reason or "", "unknown")
        return code, [_skipped(job, run.skip_reason or "", run.skipped_at)]
    sentences = [_state(run)]
    if run.error and run.outcome in ("failed", "cancelled", "dead_lettered"):
        sentences.append(f"Its last word was: {shown(run.error)}.")
    if run.outcome == "dead_lettered":
        sentences.append("It waits as a dead letter for a person to redrive or discard it.")
    if run.waits and run.outcome in ("queued", "running"):
        sentences.append(run.waits)
    return run.outcome, sentences


def _verdict(job: Job, slot: datetime, verdict: SlotFacts, run: RunFacts | None) -> tuple[Found, list[str]]:
    limit = moment(verdict.limit)
    began = "" if verdict.started_at is None else moment(verdict.started_at)
    if verdict.kind == "on_time":
        return "on_time", [f"It was on time: {_begun(slot, verdict)}, and the limit was {limit}."]
    if verdict.kind == "late":
        if verdict.reason == "started after the limit":
            return "late", [f"It was late: the limit was {limit}, and {_begun(slot, verdict)}."]
        return "late", [f"It was late: it began at {began} but had not succeeded by its limit."]
    if verdict.kind == "missed":
        return "missed", [f"It was missed: nothing had begun by the limit, {limit}."]
    if verdict.kind == "skipped":
        at = run.skipped_at if run is not None else None
        code = _SKIPS.get(verdict.reason, "unknown")
        return code, [_skipped(job, verdict.reason, at), "This counts as bad for punctuality."]
    if verdict.kind == "unknown":
        says = f"Whether it ran is unknown: {verdict.reason}, so silence until the limit ({limit}) proves nothing."
        return "unknown", [says]
    return "pending", [f"It is not decided yet: {verdict.reason} ({limit})."]


def _begun(slot: datetime, verdict: SlotFacts) -> str:
    if verdict.started_at is None:
        return "it ended in time"
    passed = verdict.started_at - slot
    return f"it began at {moment(verdict.started_at)}, {length(max(passed, timedelta(0)))} after the slot"


def _skipped(job: Job, reason: str, at: datetime | None) -> str:
    when = "" if at is None else f" This was recorded at {moment(at)}."
    return f"{_skip_rule(job, reason)}{when}"


def _skip_rule(job: Job, reason: str) -> str:
    if reason == "overlap" and job.overlap == "replace":
        return "A newer slot replaced it before it had begun (`overlap: replace`)."
    if reason == "overlap":
        return f"An earlier run of the job was still on when it fell due, and `overlap: {job.overlap}` skips it then."
    if reason == "deadline":
        return f"It was skipped, because it could not begin in time: {_deadlines(job)}."
    if reason == "buffer_full":
        return "It was skipped, because as many runs as may wait were waiting already (`overlap: queue`)."
    if reason == "upstream":
        return "It was skipped, because a job that it waits for had failed or came too late."
    if reason == "catch_up":
        return f"It was passed over while nothing could start it, and {_catch_up(job)}."
    return f"It was skipped: {shown(reason) or 'no reason was given'}."


def _deadlines(job: Job) -> str:
    told = [] if job.start_deadline is None else [f"`deadline.start` is {format_duration(job.start_deadline)}"]
    told += (
        [] if job.catch_up_deadline is None else [f"`catch_up.deadline` is {format_duration(job.catch_up_deadline)}"]
    )
    told += [] if job.window is None else [f"its window is {window_words(job.window)}"]
    return " and ".join(told) or "its deadline had passed"


def _catch_up(job: Job) -> str:
    if job.catch_up == "none":
        return "`catch_up: none` makes up for nothing"
    if job.catch_up == "latest":
        return "`catch_up: latest` runs only the newest such slot"
    return f"`catch_up: all` runs only the newest {job.catch_up_limit} such slots"


def _state(run: RunFacts) -> str:
    tries = f", attempt {run.attempts}" if run.attempts > 1 else ""
    if run.outcome == "queued":
        return f"The run {run.id} waits in the queue{_since(run.queued_at)}."
    if run.outcome == "running":
        return f"The run {run.id} is running{_since(run.started_at)}{tries}."
    ended = "" if run.ended_at is None else f" at {moment(run.ended_at)}"
    took = ""
    if run.started_at is not None and run.ended_at is not None and run.ended_at >= run.started_at:
        took = f", {length(run.ended_at - run.started_at)} after it began"
    tries = f", with {run.attempts} attempts" if run.attempts > 1 else ""
    verb = {"succeeded": "succeeded", "cancelled": "was cancelled"}.get(run.outcome or "", "failed for good")
    return f"The run {run.id} {verb}{ended}{took}{tries}."


def _since(at: datetime | None) -> str:
    return "" if at is None else f" since {moment(at)}"
