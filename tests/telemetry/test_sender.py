import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from telemetry.receivers import wait_for

from collector.facts import Run
from collector.sender import (
    MAX_BATCH_BYTES,
    SpanCounts,
    TraceSender,
    TraceSettings,
    TraceSettingsError,
    open_sender,
    resource_of,
    trace_settings,
    weight,
)
from collector.traces import spans_of

AT = datetime(2026, 3, 29, tzinfo=UTC)
BASE = "OTEL_EXPORTER_OTLP_ENDPOINT"
OWN = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"


def spans(count: int, message: str = "") -> list[ReadableSpan]:
    found: list[ReadableSpan] = []
    for number in range(count):
        run = Run(
            id=f"a!{number}",
            job="a",
            source="t",
            slot=None,
            outcome="failed",
            first_at=AT,
            ended_at=AT,
            error={"message": message},
        )
        found += spans_of(run, None, Resource({}))
    return found


class Gate(SpanExporter):
    """An exporter that waits for `open` in every call, then answers what it was told to."""

    def __init__(self, answer: SpanExportResult | Exception = SpanExportResult.SUCCESS) -> None:
        self.answer = answer
        self.open = threading.Event()
        self.entered = threading.Event()
        self.batches: list[int] = []
        self.stopped = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.batches.append(len(spans))
        self.entered.set()
        assert self.open.wait(60)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def shutdown(self) -> None:
        self.stopped += 1


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({PROTOCOL: "grpc"}, None),
        ({BASE: " "}, None),
        ({BASE: "http://h:4318"}, TraceSettings("http://h:4318/v1/traces", "http/protobuf")),
        ({BASE: "http://h:4318/x/"}, TraceSettings("http://h:4318/x/v1/traces", "http/protobuf")),
        ({OWN: "http://h/own", BASE: "http://h:1"}, TraceSettings("http://h/own", "http/protobuf")),
        ({BASE: "http://h:4317", PROTOCOL: "grpc"}, TraceSettings("http://h:4317", "grpc")),
        ({BASE: "h:4317", PROTOCOL: "grpc"}, TraceSettings("h:4317", "grpc")),
        (
            {BASE: "http://h", PROTOCOL: "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"},
            TraceSettings("http://h/v1/traces", "http/protobuf"),
        ),
        ({BASE: "http://h", "OTEL_SDK_DISABLED": "TRUE"}, None),
        (
            {BASE: "http://h", "OTEL_SDK_DISABLED": "false"},
            TraceSettings("http://h/v1/traces", "http/protobuf"),
        ),
        ({BASE: "http://h", "OTEL_TRACES_EXPORTER": "none"}, None),
        (
            {BASE: "http://h", "OTEL_TRACES_EXPORTER": "otlp"},
            TraceSettings("http://h/v1/traces", "http/protobuf"),
        ),
    ],
)
def test_the_usual_variables_say_where_traces_go(environ: dict[str, str], expected: TraceSettings | None) -> None:
    assert trace_settings(environ) == expected


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({BASE: "http://h", PROTOCOL: "http/json"}, "OTEL_EXPORTER_OTLP_PROTOCOL='http/json'"),
        ({BASE: "http://h", "OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER='zipkin'"),
        ({BASE: "h:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT='h:4318"),
        ({OWN: "h:4318"}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT='h:4318"),
    ],
)
def test_a_variable_that_cannot_be_followed_is_named_with_its_value(environ: dict[str, str], named: str) -> None:
    with pytest.raises(TraceSettingsError, match=named):
        trace_settings(environ)


def test_without_an_endpoint_there_is_no_sender() -> None:
    assert open_sender({}) is None


def test_the_service_is_tepat_unless_the_environment_says_else(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resource_of("1.2").attributes["service.name"] == "tepat"
    assert resource_of("1.2").attributes["service.version"] == "1.2"
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=by-attributes,deployment.environment.name=test")
    assert resource_of("1.2").attributes["service.name"] == "by-attributes"
    assert resource_of("1.2").attributes["deployment.environment.name"] == "test"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "by-name")
    assert resource_of("1.2").attributes["service.name"] == "by-name"


def test_what_does_not_fit_the_queue_is_dropped_and_counted_and_nothing_else(gate: Gate) -> None:
    sender = TraceSender(gate, max_waiting=10)
    sender.give(spans(4))
    assert gate.entered.wait(60)
    sender.give(spans(6))
    assert sender.counts() == SpanCounts(given=10, waiting=10)
    sender.give(spans(3))
    assert sender.counts() == SpanCounts(given=13, waiting=10, overflow=3)
    gate.open.set()
    assert sender.close(60) == SpanCounts(given=13, exported=10, overflow=3)
    assert gate.batches == [4, 6]
    assert gate.stopped == 1


@pytest.mark.parametrize("answer", [SpanExportResult.FAILURE, RuntimeError("broken")])
def test_a_failed_export_is_counted_and_the_next_batch_is_tried(answer: SpanExportResult | Exception) -> None:
    gate = Gate(answer)
    gate.open.set()
    sender = TraceSender(gate)
    sender.give(spans(2))
    wait_for(lambda: sender.counts().waiting == 0)
    gate.answer = SpanExportResult.SUCCESS
    sender.give(spans(1))
    assert sender.close(60) == SpanCounts(given=3, failed=2, exported=1)


def test_spans_given_after_closing_are_dropped_and_counted(gate: Gate) -> None:
    gate.open.set()
    sender = TraceSender(gate)
    sender.close(60)
    sender.give(spans(2))
    assert sender.counts() == SpanCounts(given=2, overflow=2)


def test_a_receiver_that_answers_after_closing_ran_out_of_time_changes_no_count(gate: Gate) -> None:
    sender = TraceSender(gate)
    sender.give(spans(600))
    assert gate.entered.wait(60)
    closed = sender.close(0.1)
    assert closed == SpanCounts(given=600, abandoned=600)
    gate.open.set()
    wait_for(lambda: not sender._thread.is_alive())
    assert sender.counts() == closed == sender.close(60)
    assert len(gate.batches) == 1


def test_a_batch_stays_below_the_bytes_that_receivers_take(gate: Gate) -> None:
    sender = TraceSender(gate)
    sender.give(spans(1))
    assert gate.entered.wait(60)
    heavy = spans(500, "x" * 16_000)
    sender.give(heavy)
    gate.open.set()
    assert sender.close(60).exported == 501
    most = MAX_BATCH_BYTES // weight(heavy[0])
    assert gate.batches[1:-1] == [most] * (500 // most)


FORKED = """
import os, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = sys.argv[1:]
from telemetry.test_sender import Gate, spans
from collector.sender import SpanCounts, TraceSender
gate = Gate()
sender = TraceSender(gate)
sender._change.acquire()
child = os.fork()
if child == 0:
    sender.give(spans(3))
    os._exit(0 if sender.close() == SpanCounts() else 1)
sender._change.release()
gate.open.set()
sender.give(spans(2))
status = os.waitpid(child, 0)[1]
print(status, sender.close(60).exported)
"""


def test_a_forked_child_neither_sends_nor_waits_for_a_lock_that_nobody_holds() -> None:
    root = Path(__file__).parents[2]
    argv = [sys.executable, "-c", FORKED, str(root), str(root / "tests")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.split(), done.stderr) == (["0", "2"], "")
