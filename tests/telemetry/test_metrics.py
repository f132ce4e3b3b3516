import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse_plain
from prometheus_client.samples import Sample
from servers import Prometheus, require
from telemetry.receivers import serving, wait_for

from collector.metrics import MetricsCollector, Snapshot
from collector.telemetry import BURN_WINDOWS, METRICS, RUN_OUTCOMES, SLOT_VERDICTS, series_bound

OPEN_METRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
JOB: dict[str, Any] = {
    "id": "report",
    "type": "billing",
    "owner": 'the "night"\nshift \\ team',
    "queue": "default",
    "tenant": "default",
    "priority": "critical",
    "schedule": {"text": "0 2 * * *", "timezone": "Asia/Jakarta"},
    "next_slots": ["2026-03-29T00:30:00Z", "2026-03-30T00:30:00Z"],
    "running": 1,
    "on_time_rate": 0.75,
    "success_rate": 0.5,
    "duration_seconds": {"count": 4, "p50": 1.5, "p95": 9.5, "p99": 9.9, "max": 10.0},
    "lateness_seconds": {"count": 3, "p50": 0.1, "p95": 0.2, "p99": 0.3, "max": 0.4},
    "totals": {
        "runs": {"succeeded": 5, "failed": 2, "cancelled": 1, "dead_lettered": 3, "running": 1},
        "slots": {"on_time": 7, "late": 1, "missed": 2, "skipped": 4, "unknown": 6, "pending": 9},
        "attempts": 15,
        "retries": 4,
        "duplicate_starts": 1,
    },
}
BARE: dict[str, Any] = {
    "id": "bare",
    "schedule": None,
    "next_slots": [],
    "running": 0,
    "on_time_rate": None,
    "success_rate": None,
    "duration_seconds": {"count": 0, "p50": None, "p95": None, "p99": None, "max": None},
    "lateness_seconds": {"count": 0, "p50": None, "p95": None, "p99": None, "max": None},
}
QUEUE = {
    "queue": "default",
    "depth": 3,
    "oldest_seconds": 12.5,
    "dead_depth": 2,
    "dead_arrivals": 8,
    "dead_oldest_seconds": 60.0,
}
SCALING = {
    "queue": "default",
    "oldest_age_seconds": 12.5,
    "ingress_rate": 0.25,
    "due_soon": 6,
    "desired_replicas": 7,
}
SLO = {
    "id": "daily",
    "objective": 0.995,
    "sli": 0.98,
    "budget": {"allowed": 0.5, "spent": 2, "remaining": -3.0},
    "burn": {window: index + 0.5 for index, window in enumerate(BURN_WINDOWS)},
}
OPEN_ALERT = {"id": "1", "slo": "daily", "severity": "page", "resolved_at": None}
FULL = Snapshot(
    version="1.2.3",
    jobs=[JOB],
    queues=[QUEUE],
    scaling=[SCALING],
    slos=[SLO],
    alerts=[OPEN_ALERT],
    events={"accepted": 10, "duplicate": 2, "rejected": 1},
    spans={"exported": 20, "overflow": 3, "failed": 2, "abandoned": 1, "waiting": 4},
)


def collector_of(snapshot: Callable[[], Snapshot]) -> MetricsCollector:
    return MetricsCollector(snapshot, CollectorRegistry())


def samples(snapshot: Snapshot) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text = collector_of(lambda: snapshot).render(None)[0].decode()
    found: list[Sample] = [sample for family in parse_plain(text) for sample in family.samples]
    return {(sample.name, frozenset(sample.labels.items())): sample.value for sample in found}


def value(snapshot: Snapshot, name: str, **labels: str) -> float | None:
    return samples(snapshot).get((name, frozenset(labels.items())))


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("tepat_job_runs_total", {"job_id": "report", "outcome": "dead_lettered"}, 3),
        ("tepat_job_slots_total", {"job_id": "report", "verdict": "missed"}, 2),
        ("tepat_job_attempts_total", {"job_id": "report"}, 15),
        ("tepat_job_retries_total", {"job_id": "report"}, 4),
        ("tepat_job_duplicate_starts_total", {"job_id": "report"}, 1),
        ("tepat_job_on_time_ratio", {"job_id": "report"}, 0.75),
        ("tepat_job_success_ratio", {"job_id": "report"}, 0.5),
        ("tepat_job_run_duration_quantile_seconds", {"job_id": "report", "quantile": "0.5"}, 1.5),
        ("tepat_job_run_duration_quantile_seconds", {"job_id": "report", "quantile": "0.95"}, 9.5),
        ("tepat_job_run_duration_quantile_seconds", {"job_id": "report", "quantile": "0.99"}, 9.9),
        ("tepat_job_run_duration_samples", {"job_id": "report"}, 4),
        ("tepat_job_lateness_quantile_seconds", {"job_id": "report", "quantile": "0.99"}, 0.3),
        ("tepat_job_lateness_samples", {"job_id": "report"}, 3),
        ("tepat_job_running", {"job_id": "report"}, 1),
        ("tepat_job_next_slot_timestamp_seconds", {"job_id": "report"}, 1774744200),
        ("tepat_queue_depth", {"queue": "default"}, 3),
        ("tepat_queue_oldest_seconds", {"queue": "default"}, 12.5),
        ("tepat_queue_dead_depth", {"queue": "default"}, 2),
        ("tepat_queue_dead_arrivals_total", {"queue": "default"}, 8),
        ("tepat_queue_dead_oldest_seconds", {"queue": "default"}, 60),
        ("tepat_queue_oldest_age_seconds", {"queue": "default"}, 12.5),
        ("tepat_queue_ingress_rate", {"queue": "default"}, 0.25),
        ("tepat_queue_due_soon", {"queue": "default"}, 6),
        ("tepat_scale_desired_replicas", {"queue": "default"}, 7),
        ("tepat_slo_objective_ratio", {"slo": "daily"}, 0.995),
        ("tepat_slo_sli_ratio", {"slo": "daily"}, 0.98),
        ("tepat_slo_burn_rate", {"slo": "daily", "window": "1h"}, 2.5),
        ("tepat_slo_error_budget_remaining_ratio", {"slo": "daily"}, -3.0),
        ("tepat_alert_firing", {"slo": "daily", "severity": "page"}, 1),
        ("tepat_alert_firing", {"slo": "daily", "severity": "ticket"}, 0),
        ("tepat_events_total", {"result": "duplicate"}, 2),
        ("tepat_trace_spans_total", {"result": "overflow"}, 3),
        ("tepat_trace_spans_waiting", {}, 4),
        ("tepat_build_info", {"version": "1.2.3"}, 1),
        (
            "tepat_job_info",
            {"job_id": "report", "job_type": "billing", "owner": JOB["owner"], "queue": "default"}
            | {"tenant": "default", "priority": "critical", "schedule": "0 2 * * *", "timezone": "Asia/Jakarta"},
            1,
        ),
    ],
)
def test_each_number_of_the_api_is_scraped_under_its_name(name: str, labels: dict[str, str], expected: float) -> None:
    assert value(FULL, name, **labels) == expected


def test_outcomes_and_verdicts_that_can_still_change_are_not_counted() -> None:
    labels = {dict(key[1]).get("outcome") or dict(key[1]).get("verdict") for key in samples(FULL)} - {None}
    assert labels == {*RUN_OUTCOMES, *SLOT_VERDICTS}


@pytest.mark.parametrize("accept", [None, OPEN_METRICS])
def test_a_value_that_is_not_known_is_left_out_and_never_nan(accept: str | None) -> None:
    queue = QUEUE | {"oldest_seconds": None, "dead_oldest_seconds": None}
    slo = SLO | {
        "sli": None,
        "budget": {"allowed": 0.0, "spent": 0, "remaining": None},
        "burn": {"5m": None, "1h": float("nan")},
    }
    text = collector_of(lambda: Snapshot(version="1", jobs=[BARE], queues=[queue], slos=[slo])).render(accept)[0]
    named = {line.split(b"{")[0] for line in text.splitlines() if not line.startswith(b"#")}
    assert not [line for line in text.lower().splitlines() if line.endswith(b" nan")]
    for absent in (
        b"tepat_job_on_time_ratio",
        b"tepat_job_success_ratio",
        b"tepat_job_run_duration_quantile_seconds",
        b"tepat_job_lateness_quantile_seconds",
        b"tepat_job_next_slot_timestamp_seconds",
        b"tepat_queue_oldest_seconds",
        b"tepat_queue_dead_oldest_seconds",
        b"tepat_slo_sli_ratio",
        b"tepat_slo_burn_rate",
        b"tepat_slo_error_budget_remaining_ratio",
    ):
        assert absent not in named
    assert {b"tepat_job_run_duration_samples", b"tepat_queue_depth", b"tepat_alert_firing"} <= named


@pytest.mark.parametrize(("before", "later", "scraped"), [(5, 4, 5), (5, 5, 5), (5, 6, 6)])
def test_a_counter_never_falls_when_a_late_event_corrects_the_past(before: int, later: int, scraped: int) -> None:
    now = [before]
    collector = collector_of(lambda: Snapshot(version="1", jobs=[BARE | {"totals": {"runs": {"failed": now[0]}}}]))
    collector.render(None)
    now[0] = later
    line = f'tepat_job_runs_total{{job_id="bare",outcome="failed"}} {float(scraped)}\n'
    assert line in collector.render(None)[0].decode()


def test_a_job_that_was_removed_is_not_scraped_any_longer() -> None:
    now = [FULL]
    collector = collector_of(lambda: now[0])
    assert b'job_id="report"' in collector.render(None)[0]
    now[0] = replace(FULL, jobs=[])
    assert b'job_id="report"' not in collector.render(None)[0]


def test_a_resolved_alert_leaves_a_zero_so_that_a_rule_can_see_it_end() -> None:
    over = replace(FULL, alerts=[OPEN_ALERT | {"resolved_at": "2026-03-29T00:30:00Z"}])
    assert value(over, "tepat_alert_firing", slo="daily", severity="page") == 0


def test_a_text_that_utf8_cannot_hold_does_not_fail_the_scrape() -> None:
    odd = replace(FULL, jobs=[JOB | {"owner": "a\ud800" + "b" * 500}])
    assert f'owner="a?{"b" * 198}"'.encode() in collector_of(lambda: odd).render(None)[0]


def test_registering_takes_no_snapshot_and_each_scrape_takes_one() -> None:
    taken: list[int] = []

    def snapshot() -> Snapshot:
        taken.append(1)
        return FULL

    collector = collector_of(snapshot)
    assert not taken
    collector.render(None)
    collector.render(OPEN_METRICS)
    assert len(taken) == 2


def test_both_text_formats_hold_the_same_samples() -> None:
    collector = collector_of(lambda: FULL)
    plain, plain_type = collector.render(None)
    opened, open_type = collector.render(OPEN_METRICS)
    assert plain_type.startswith("text/plain; version=0.0.4")
    assert open_type.startswith("application/openmetrics-text; version=1.0.0")
    left = {str(sample) for family in parse_plain(plain.decode()) for sample in family.samples}
    families = parse_open(opened.decode())  # type: ignore[no-untyped-call]
    right = {str(sample) for family in families for sample in family.samples}
    assert left == right


def test_every_metric_of_the_table_is_scraped_with_just_its_labels_and_no_label_is_called_job() -> None:
    labels: dict[str, set[str]] = {}
    for name, found in samples(FULL):
        labels.setdefault(name, set()).update(key for key, _ in found)
    assert labels == {metric.name: set(metric.labels) for metric in METRICS}
    assert "job" not in set().union(*labels.values())


@pytest.mark.parametrize(("jobs", "queues", "objectives"), [(0, 0, 0), (1, 1, 1), (40, 3, 5)])
def test_a_scrape_holds_no_more_series_than_the_bound(jobs: int, queues: int, objectives: int) -> None:
    crowd = replace(
        FULL,
        jobs=[JOB | {"id": f"job-{number}"} for number in range(jobs)],
        queues=[QUEUE | {"queue": f"queue-{number}"} for number in range(queues)],
        scaling=[SCALING | {"queue": f"queue-{number}"} for number in range(queues)],
        slos=[SLO | {"id": f"slo-{number}"} for number in range(objectives)],
    )
    assert len(samples(crowd)) == series_bound(jobs, queues, objectives)


@pytest.mark.parametrize("snapshot", [FULL, Snapshot(version="1"), Snapshot(version="1", jobs=[BARE])])
def test_promtool_finds_nothing_to_complain_about(snapshot: Snapshot) -> None:
    text = collector_of(lambda: snapshot).render(None)[0]
    promtool = require("promtool", "prometheus")
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_promtool_is_able_to_find_something() -> None:
    promtool = require("promtool", "prometheus")
    text = b"# HELP tepat_bad_count x\n# TYPE tepat_bad_count gauge\ntepat_bad_count 1\n"
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, timeout=120, check=False)
    assert done.returncode != 0


SCRAPING = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - {{job_name: tepat, static_configs: [{{targets: ["{target}"]}}]}}
"""


def test_a_real_prometheus_scrapes_every_series(start_prometheus: Callable[[str], Prometheus]) -> None:
    collector = collector_of(lambda: FULL)
    asked: list[str] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with lock:
                asked.append(self.headers.get("Accept", ""))
            body, content_type = collector.render(self.headers.get("Accept"))
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
            pass

    with serving(Handler) as url:
        prometheus = start_prometheus(SCRAPING.format(target=url.removeprefix("http://")))
        wait_for(lambda: bool(prometheus.query("up == 1")))
        wait_for(lambda: bool(prometheus.query('{__name__=~"tepat_.+"}')))
        stored = prometheus.query('{__name__=~"tepat_.+"}')
        runs: Any = prometheus.query('tepat_job_runs_total{job_id="report", outcome="succeeded", job="tepat"}')
    assert len(stored) == series_bound(1, 1, 1)
    assert [each["value"][1] for each in runs] == ["5"]
    assert "openmetrics" in asked[0]
