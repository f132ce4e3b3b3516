"""What `/metrics` answers: the API's own numbers as Prometheus families, read at each scrape.

It counts nothing itself, so the scrape, the API and the dashboard can't disagree. A value that isn't known is left
out, never zero or NaN. Names and labels come from `telemetry.py`.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from collector.telemetry import (
    BURN_WINDOWS,
    EVENT_RESULTS,
    METRICS,
    QUANTILES,
    RUN_OUTCOMES,
    SEVERITIES,
    SLOT_VERDICTS,
    SPAN_RESULTS,
    Metric,
)
from scheduler.instants import parse_instant, to_micros

MAX_LABEL = 200
Item = Mapping[str, Any]
Labels = tuple[str, ...]
Sample = tuple[Labels, float | None]
Samples = dict[str, list[Sample]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The items of the API's lists at one moment, and what this process has counted since it began.

    A job item also has `totals`, since ever: {runs: {outcome: n}, slots: {verdict: n}, attempts, retries,
    duplicate_starts}. `events` is by result; `spans` by result, and `waiting`.
    """

    version: str
    jobs: Sequence[Item] = ()
    queues: Sequence[Item] = ()
    scaling: Sequence[Item] = ()
    slos: Sequence[Item] = ()
    alerts: Sequence[Item] = ()
    events: Mapping[str, int] = field(default_factory=dict)
    spans: Mapping[str, int] = field(default_factory=dict)


class MetricsCollector(Collector):
    """A snapshot as metric families. Registers itself in the registry it is given."""

    def __init__(self, snapshot: Callable[[], Snapshot], registry: CollectorRegistry) -> None:
        self._snapshot = snapshot
        self._registry = registry
        self._floor = Floor()
        registry.register(self)

    def describe(self) -> Iterable[Family]:
        """Nothing: the registry would otherwise take a snapshot only to learn the names."""
        return []

    def collect(self) -> Iterator[Family]:
        """The families of one snapshot, in the order of the table."""
        samples = samples_of(self._snapshot())
        for metric in METRICS:
            found = [
                (labels, value) for labels, value in samples[metric.name] if value is not None and not isnan(value)
            ]
            yield _family(metric, self._floor.raise_to(metric.name, found) if metric.kind == "counter" else found)

    def render(self, accept: str | None) -> tuple[bytes, str]:
        """The scrape's body and content type, in the format that the Accept header asks for."""
        encode, content_type = choose_encoder(accept or "")
        return encode(self._registry), content_type


class Floor:
    """Keeps counters from falling while the process lives.

    A late event may turn a dead letter into a success; Prometheus would take the lower number for a restart and count
    all runs since ever once more. Remembers the series of the last scrape only, so it is bounded by them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, dict[Labels, float]] = {}

    def raise_to(self, name: str, samples: Sequence[tuple[Labels, float]]) -> list[tuple[Labels, float]]:
        """The samples, none lower than at the last scrape."""
        with self._lock:
            seen = self._seen.get(name, {})
            now = {labels: max(value, seen.get(labels, 0.0)) for labels, value in samples}
            self._seen[name] = now
        return list(now.items())


def samples_of(snapshot: Snapshot) -> Samples:
    """Every metric of the table by name, with its labels' values and its value; None where that isn't known. Pure."""
    found: Samples = {metric.name: [] for metric in METRICS}
    parts = [_process(snapshot), *map(_job, snapshot.jobs), *map(_queue, snapshot.queues)]
    parts += [*map(_scaling, snapshot.scaling), *(_slo(item, snapshot.alerts) for item in snapshot.slos)]
    for part in parts:
        for name, samples in part.items():
            found[name] += samples
    return found


def _process(snapshot: Snapshot) -> Samples:
    return {
        "tepat_build_info": [((snapshot.version,), 1.0)],
        "tepat_events_total": [((result,), snapshot.events.get(result, 0)) for result in EVENT_RESULTS],
        "tepat_trace_spans_total": [((result,), snapshot.spans.get(result, 0)) for result in SPAN_RESULTS],
        "tepat_trace_spans_waiting": [((), snapshot.spans.get("waiting", 0))],
    }


def _job(item: Item) -> Samples:
    name = str(item["id"])
    info: Samples = {"tepat_job_info": [(_info(item), 1.0)]}
    return info | _totals(name, item.get("totals") or {}) | _recent(name, item)


def _info(item: Item) -> Labels:
    schedule = item.get("schedule") or {}
    own = [item.get(key) for key in ("id", "type", "owner", "queue", "tenant", "priority")]
    return tuple(str(value or "") for value in [*own, schedule.get("text"), schedule.get("timezone")])


def _totals(name: str, totals: Item) -> Samples:
    runs, slots = totals.get("runs") or {}, totals.get("slots") or {}
    return {
        "tepat_job_runs_total": [((name, outcome), runs.get(outcome, 0)) for outcome in RUN_OUTCOMES],
        "tepat_job_slots_total": [((name, verdict), slots.get(verdict, 0)) for verdict in SLOT_VERDICTS],
        "tepat_job_attempts_total": [((name,), totals.get("attempts", 0))],
        "tepat_job_retries_total": [((name,), totals.get("retries", 0))],
        "tepat_job_duplicate_starts_total": [((name,), totals.get("duplicate_starts", 0))],
    }


def _recent(name: str, item: Item) -> Samples:
    duration, lateness = item.get("duration_seconds") or {}, item.get("lateness_seconds") or {}
    return {
        "tepat_job_on_time_ratio": [((name,), item.get("on_time_rate"))],
        "tepat_job_success_ratio": [((name,), item.get("success_rate"))],
        "tepat_job_run_duration_quantile_seconds": [((name, label), duration.get(key)) for label, key in QUANTILES],
        "tepat_job_run_duration_samples": [((name,), duration.get("count"))],
        "tepat_job_lateness_quantile_seconds": [((name, label), lateness.get(key)) for label, key in QUANTILES],
        "tepat_job_lateness_samples": [((name,), lateness.get("count"))],
        "tepat_job_running": [((name,), item.get("running"))],
        "tepat_job_next_slot_timestamp_seconds": [((name,), _next_slot(item))],
    }


def _next_slot(item: Item) -> float | None:
    slots = item.get("next_slots") or ()
    return to_micros(parse_instant(slots[0])) / 1_000_000 if slots else None


def _queue(item: Item) -> Samples:
    labels = (str(item["queue"]),)
    return {
        "tepat_queue_depth": [(labels, item.get("depth"))],
        "tepat_queue_oldest_seconds": [(labels, item.get("oldest_seconds"))],
        "tepat_queue_dead_depth": [(labels, item.get("dead_depth"))],
        "tepat_queue_dead_arrivals_total": [(labels, item.get("dead_arrivals"))],
        "tepat_queue_dead_oldest_seconds": [(labels, item.get("dead_oldest_seconds"))],
    }


def _scaling(item: Item) -> Samples:
    labels = (str(item["queue"]),)
    return {
        "tepat_queue_oldest_age_seconds": [(labels, item.get("oldest_age_seconds"))],
        "tepat_queue_ingress_rate": [(labels, item.get("ingress_rate"))],
        "tepat_queue_due_soon": [(labels, item.get("due_soon"))],
        "tepat_scale_desired_replicas": [(labels, item.get("desired_replicas"))],
    }


def _slo(item: Item, alerts: Sequence[Item]) -> Samples:
    name = str(item["id"])
    burn, budget = item.get("burn") or {}, item.get("budget") or {}
    open_now = {alert["severity"] for alert in alerts if alert["slo"] == name and alert.get("resolved_at") is None}
    return {
        "tepat_slo_objective_ratio": [((name,), item.get("objective"))],
        "tepat_slo_sli_ratio": [((name,), item.get("sli"))],
        "tepat_slo_burn_rate": [((name, window), burn.get(window)) for window in BURN_WINDOWS],
        "tepat_slo_error_budget_remaining_ratio": [((name,), budget.get("remaining"))],
        "tepat_alert_firing": [((name, severity), float(severity in open_now)) for severity in SEVERITIES],
    }


def _family(metric: Metric, samples: Sequence[tuple[Labels, float]]) -> Family:
    """prometheus-client names a counter's or an info's family without the suffix its samples carry."""
    suffix = {"counter": "_total", "info": "_info"}.get(metric.kind, "")
    family = Family(metric.name.removesuffix(suffix), metric.help, metric.kind)
    for labels, value in samples:
        texts = dict(zip(metric.labels, map(_label, labels), strict=True))
        family.add_sample(metric.name, texts, value)
    return family


def _label(text: str) -> str:
    """At most MAX_LABEL characters, and nothing that UTF-8 can't hold: one such text would fail the whole scrape."""
    return text[:MAX_LABEL].encode("utf-8", "replace").decode()
