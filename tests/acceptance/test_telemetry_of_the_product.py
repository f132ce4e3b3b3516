"""What the real product tells other tools: spans to a real OTLP receiver, and a page for a real Prometheus."""

import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager

import httpx
import pytest
from acceptance.product import Product, wait_for
from servers import Prometheus, require
from telemetry.receivers import Receiver, grpc_receiver, http_receiver

FILES = """
jobs:
  - id: staged
    type: report
    schedule: {every: 1s, timezone: UTC}
    run:
      command: 'echo "{\\"stage\\": \\"collect\\", \\"seconds\\": 0.01, \\"ok\\": true}" > "$TEPAT_EVENTS"'
      shell: true
      timeout: 5s
slos:
  - {id: goal, indicator: success, select: {job: staged}, objective: 99%, window: 30d}
"""
SCRAPING = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - {{job_name: tepat, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}
"""
Receiving = Callable[[], AbstractContextManager[Receiver]]


@pytest.mark.parametrize(("protocol", "receiver"), [("grpc", grpc_receiver), ("http/protobuf", http_receiver)])
def test_a_run_an_attempt_and_a_stage_arrive_as_spans(
    make_product: Callable[[str], Product], monkeypatch: pytest.MonkeyPatch, protocol: str, receiver: Receiving
) -> None:
    with receiver() as receiving:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiving.endpoint)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
        product = make_product(FILES)
        product.up()
        wait_for("the spans of a run", lambda: len(receiving.spans()) >= 3)
        spans = receiving.spans()
    run = next(span for span in spans if span.name == "run staged")
    found = {span.name: span for span in spans if span.trace_id == run.trace_id}
    assert {"run staged", "attempt staged"} < found.keys()
    attempt = found["attempt staged"]
    assert attempt.parent_span_id == run.span_id
    assert [span.parent_span_id for name, span in found.items() if "collect" in name] == [attempt.span_id]
    attributes = {item.key: item.value for item in attempt.attributes}
    assert attributes["job.id"].string_value == "staged"
    assert attributes["job.type"].string_value == "report"
    assert attributes["attempt"].int_value == 1


def test_prometheus_scrapes_the_product_and_promtool_finds_nothing(
    make_product: Callable[[str], Product], start_prometheus: Callable[[str], Prometheus]
) -> None:
    product = make_product(FILES)
    product.up()
    wait_for("good runs", lambda: product.job("staged")["runs"]["succeeded"] >= 2)
    page = httpx.get(f"{product.url}/metrics").content
    promtool = require("promtool", "prometheus")
    checked = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
    prometheus = start_prometheus(SCRAPING.format(port=product.port))
    query = 'tepat_job_runs_total{job_id="staged", outcome="succeeded"} >= 2'
    assert wait_for("the scraped counter", lambda: prometheus.query(query))
    assert wait_for("the burn rate", lambda: prometheus.query('tepat_slo_burn_rate{slo="goal", window="1h"} == 0'))
