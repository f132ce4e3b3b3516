"""Every name that Tepat gives to the outside: Prometheus metrics, OTLP spans and their attributes, in one table each.

Names only. Where a value comes from is for `metrics.py` and `traces.py`; neither may use a name that isn't here, and
`docs/metrics.md` says the same to users (a test holds all three equal).
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["info", "counter", "gauge", "summary"]
Scope = Literal["job", "queue", "objective", "process"]

RUN_OUTCOMES = ("succeeded", "failed", "cancelled", "dead_lettered")
SLOT_VERDICTS = ("on_time", "late", "missed", "skipped", "unknown")
QUANTILES = (("0.5", "p50"), ("0.95", "p95"), ("0.99", "p99"))
BURN_WINDOWS = ("5m", "30m", "1h", "2h", "6h", "1d", "3d")
SEVERITIES = ("page", "ticket")
EVENT_RESULTS = ("accepted", "duplicate", "rejected")
SPAN_RESULTS = ("exported", "overflow", "failed", "abandoned")


@dataclass(frozen=True, slots=True)
class Metric:
    """One family: the name as it is scraped, its labels, and how many series each job, queue or objective adds."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    scope: Scope
    series: int
    help: str


@dataclass(frozen=True, slots=True)
class SpanName:
    """One sort of span: its name's first word, what it spans, and the attributes it may carry."""

    name: str
    spans: str
    attributes: tuple[str, ...]


_JOB = ("job_id",)
_DAY = "of the last day"

METRICS: tuple[Metric, ...] = (
    Metric(
        "tepat_job_info",
        "info",
        ("job_id", "job_type", "owner", "queue", "tenant", "priority", "schedule", "timezone"),
        "job",
        1,
        "What a job is, as labels; always 1.",
    ),
    Metric(
        "tepat_job_runs_total",
        "counter",
        ("job_id", "outcome"),
        "job",
        len(RUN_OUTCOMES),
        "Runs that ended, by how.",
    ),
    Metric(
        "tepat_job_slots_total",
        "counter",
        ("job_id", "verdict"),
        "job",
        len(SLOT_VERDICTS),
        "Slots that were judged, by verdict.",
    ),
    Metric("tepat_job_attempts_total", "counter", _JOB, "job", 1, "Attempts that began."),
    Metric("tepat_job_retries_total", "counter", _JOB, "job", 1, "Attempts after the first of their run."),
    Metric(
        "tepat_job_duplicate_starts_total",
        "counter",
        _JOB,
        "job",
        1,
        "Starts of an attempt that had started already.",
    ),
    Metric("tepat_job_on_time_ratio", "gauge", _JOB, "job", 1, f"Part of the slots {_DAY} that were on time."),
    Metric("tepat_job_success_ratio", "gauge", _JOB, "job", 1, f"Part of the runs {_DAY} that succeeded."),
    Metric(
        "tepat_job_run_duration_quantile_seconds",
        "summary",
        ("job_id", "quantile"),
        "job",
        len(QUANTILES),
        f"How long the runs {_DAY} took, within 1 %.",
    ),
    Metric(
        "tepat_job_run_duration_samples",
        "gauge",
        _JOB,
        "job",
        1,
        f"Runs {_DAY} that the duration quantiles stand on.",
    ),
    Metric(
        "tepat_job_lateness_quantile_seconds",
        "summary",
        ("job_id", "quantile"),
        "job",
        len(QUANTILES),
        f"How long after their slot the runs {_DAY} started, within 1 %.",
    ),
    Metric(
        "tepat_job_lateness_samples",
        "gauge",
        _JOB,
        "job",
        1,
        f"Slots {_DAY} that the lateness quantiles stand on.",
    ),
    Metric("tepat_job_running", "gauge", _JOB, "job", 1, "Runs under way."),
    Metric(
        "tepat_job_next_slot_timestamp_seconds",
        "gauge",
        _JOB,
        "job",
        1,
        "When the job is due next, in seconds since 1970 UTC.",
    ),
    Metric("tepat_queue_depth", "gauge", ("queue",), "queue", 1, "Runs that are due and wait."),
    Metric(
        "tepat_queue_oldest_seconds",
        "gauge",
        ("queue",),
        "queue",
        1,
        "How long the oldest due run has waited.",
    ),
    Metric("tepat_queue_dead_depth", "gauge", ("queue",), "queue", 1, "Dead letters that lie in the queue."),
    Metric(
        "tepat_queue_dead_arrivals_total",
        "counter",
        ("queue",),
        "queue",
        1,
        "Dead letters that ever came to the queue.",
    ),
    Metric(
        "tepat_queue_dead_oldest_seconds",
        "gauge",
        ("queue",),
        "queue",
        1,
        "How long the oldest dead letter has lain.",
    ),
    Metric(
        "tepat_queue_oldest_age_seconds",
        "gauge",
        ("queue",),
        "queue",
        1,
        "How long the oldest due run has waited; 0 when none waits.",
    ),
    Metric(
        "tepat_queue_ingress_rate",
        "gauge",
        ("queue",),
        "queue",
        1,
        "Runs that fell due per second, over the last 5 minutes.",
    ),
    Metric(
        "tepat_queue_due_soon",
        "gauge",
        ("queue",),
        "queue",
        1,
        "Runs that may begin within the next minute, but not yet.",
    ),
    Metric(
        "tepat_scale_desired_replicas",
        "gauge",
        ("queue",),
        "queue",
        1,
        "Workers of 4 slots that the queue wants; absent while that is not known.",
    ),
    Metric("tepat_slo_objective_ratio", "gauge", ("slo",), "objective", 1, "The part that is promised to be good."),
    Metric("tepat_slo_sli_ratio", "gauge", ("slo",), "objective", 1, "The part that was good, in the SLO's window."),
    Metric(
        "tepat_slo_burn_rate",
        "gauge",
        ("slo", "window"),
        "objective",
        len(BURN_WINDOWS),
        "How many times faster than allowed the error budget burns.",
    ),
    Metric(
        "tepat_slo_error_budget_remaining_ratio",
        "gauge",
        ("slo",),
        "objective",
        1,
        "The part of the error budget that is left; negative when overspent.",
    ),
    Metric(
        "tepat_alert_firing",
        "gauge",
        ("slo", "severity"),
        "objective",
        len(SEVERITIES),
        "1 while an alert of this severity is open, else 0.",
    ),
    Metric(
        "tepat_events_total",
        "counter",
        ("result",),
        "process",
        len(EVENT_RESULTS),
        "Run events received since the process began.",
    ),
    Metric(
        "tepat_trace_spans_total",
        "counter",
        ("result",),
        "process",
        len(SPAN_RESULTS),
        "Spans by what became of them since the process began.",
    ),
    Metric("tepat_trace_spans_waiting", "gauge", (), "process", 1, "Spans that wait for the receiver."),
    Metric("tepat_build_info", "info", ("version",), "process", 1, "Which Tepat this is; always 1."),
)

_RUN_ATTRIBUTES = ("job.id", "job.type", "job.owner", "job.run.id", "job.scheduled_time", "job.trigger", "job.outcome")

SPANS: tuple[SpanName, ...] = (
    SpanName(
        "run",
        "From the run's slot, queueing or first start, whichever is first, to its end.",
        (*_RUN_ATTRIBUTES, "attempt", "error.type", "tepat.truncated"),
    ),
    SpanName(
        "attempt",
        "One attempt; linked to the attempt before it.",
        (*_RUN_ATTRIBUTES, "attempt", "error.type", "tepat.truncated"),
    ),
    SpanName(
        "stage",
        "One stage of an attempt, which ended when it was reported.",
        ("job.id", "job.type", "job.run.id", "attempt", "stage.name", "error.type", "tepat.truncated"),
    ),
)

ATTRIBUTES: tuple[tuple[str, str], ...] = (
    ("job.id", "The job's id."),
    ("job.type", "The job's `type`, where it has one."),
    ("job.owner", "The job's `owner`, where it has one."),
    ("job.run.id", "The run's id."),
    ("job.scheduled_time", "The slot, RFC 3339 UTC, where the run has one."),
    ("job.trigger", "`schedule` for a run with a slot, else `event`."),
    ("job.outcome", "How the run (or, on its span, the attempt) ended."),
    ("attempt", "Integer from 1; on a run, the last attempt's number."),
    ("stage.name", "The stage's name, as reported."),
    ("error.type", "The error's kind, such as `timeout`; `stage_failed` on a bad stage. Absent when all went well."),
    ("tepat.truncated", "True when a text was cut at 16,384 bytes, or spans of the run were left out."),
    ("link.kind", "On a link, what it means: `retry_of`."),
)


def series_bound(jobs: int, queues: int, objectives: int) -> int:
    """The most series one scrape can hold: what `docs/metrics.md` promises."""
    count = {"job": jobs, "queue": queues, "objective": objectives, "process": 1}
    return sum(metric.series * count[metric.scope] for metric in METRICS)
