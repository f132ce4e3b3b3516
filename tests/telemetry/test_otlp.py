"""Against real OTLP receivers, with the settings a user would make."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import ReadableSpan
from telemetry.receivers import Receiver, grpc_receiver, http_receiver, silent_receiver
from telemetry.test_traces import JOB, RETRIED, context_of

from collector.sender import TraceSender, open_sender, resource_of
from collector.traces import spans_of
from scheduler.clock import monotonic

ROOT = Path(__file__).parents[2]
RECEIVERS: dict[str, Callable[[], AbstractContextManager[Receiver]]] = {
    "grpc": grpc_receiver,
    "http/protobuf": http_receiver,
}
both = pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])


def configured(monkeypatch: pytest.MonkeyPatch, endpoint: str, protocol: str) -> TraceSender:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    sender = open_sender(os.environ)
    assert sender is not None
    return sender


def many(count: int) -> list[ReadableSpan]:
    runs = [replace(RETRIED, id=f"report!{number}", attempts=()) for number in range(count)]
    return [span for run in runs for span in spans_of(run, JOB, resource_of("test"))]


def attributes(span: Span) -> dict[str, object]:
    texts = {item.key: item.value.string_value or item.value.bool_value for item in span.attributes}
    return texts | {item.key: item.value.int_value for item in span.attributes if item.key == "attempt"}


@both
def test_a_real_receiver_gets_exactly_the_spans_of_a_run(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "tepat-test")
    given = spans_of(RETRIED, JOB, resource_of("test"))
    with RECEIVERS[protocol]() as receiver:
        sender = configured(monkeypatch, receiver.endpoint, protocol)
        sender.give(given)
        counts = sender.close(60)
    assert (counts.given, counts.exported) == (5, 5)
    got = receiver.spans()
    assert [(s.name, s.start_time_unix_nano, s.end_time_unix_nano) for s in got] == [
        (s.name, s.start_time, s.end_time) for s in given
    ]
    assert [int.from_bytes(s.span_id, "big") for s in got] == [context_of(s).span_id for s in given]
    assert {int.from_bytes(s.trace_id, "big") for s in got} == {context_of(given[0]).trace_id}
    assert [attributes(s) for s in got] == [dict(s.attributes or {}) for s in given]
    assert [s.status.code for s in got] == [s.status.status_code.value for s in given]
    assert [int.from_bytes(link.span_id, "big") for s in got for link in s.links] == [context_of(given[1]).span_id]
    assert receiver.resource()["service.name"] == "tepat-test"


@both
def test_one_huge_text_does_not_take_its_511_neighbours_with_it(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    huge = replace(RETRIED, attempts=(), outcome="failed", error={"message": "x" * 6 * 1024 * 1024})
    given = [*many(511), *spans_of(huge, JOB, resource_of("test"))]
    with RECEIVERS[protocol]() as receiver:
        sender = configured(monkeypatch, receiver.endpoint, protocol)
        sender.give(given)
        assert sender.close(60).exported == 512
    assert len(receiver.spans()) == 512
    assert len(receiver.requests) <= 3
    cut = [span for span in receiver.spans() if attributes(span).get("tepat.truncated")]
    assert [len(span.status.message) for span in cut] == [16_384]


@both
def test_closing_ends_although_the_receiver_never_answers_and_every_span_is_accounted_for(
    monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    with silent_receiver() as endpoint:
        sender = configured(monkeypatch, endpoint, protocol)
        sender.give(many(2_100))
        began = monotonic()
        counts = sender.close()
        assert monotonic() - began < 20
    assert (counts.given, counts.exported, counts.overflow, counts.waiting) == (2_100, 0, 52, 0)
    assert counts.failed + counts.abandoned == 2_048


@both
def test_a_receiver_that_is_not_there_costs_counted_spans_alone(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    with silent_receiver() as endpoint:
        pass
    sender = configured(monkeypatch, endpoint, protocol)
    sender.give(many(100))
    counts = sender.close(2)
    assert counts.failed + counts.abandoned == counts.given == 100


EXITING = """
import sys
sys.path[:0] = sys.argv[1:]
from telemetry.test_otlp import many
from collector.sender import open_sender
sender = open_sender()
sender.give(many(100))
print(sender.close().exported)
sys.exit(7)
"""


def run_exiting(environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", EXITING, str(ROOT), str(ROOT / "tests")]
    return subprocess.run(argv, env=os.environ | environ, capture_output=True, text=True, timeout=120, check=False)


@both
def test_a_process_that_exits_after_its_last_span_has_sent_them_all(protocol: str) -> None:
    with RECEIVERS[protocol]() as receiver:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
        done = run_exiting(environ)
    assert (done.stdout.strip(), done.returncode) == ("100", 7), done.stderr
    assert len(receiver.spans()) == 100


@both
def test_a_process_whose_receiver_never_answers_keeps_its_exit_code(protocol: str) -> None:
    with silent_receiver() as endpoint:
        done = run_exiting({"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol})
    assert (done.stdout.strip(), done.returncode) == ("0", 7), done.stderr


def test_the_same_run_told_twice_is_the_same_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    with http_receiver() as receiver:
        sender = configured(monkeypatch, receiver.endpoint, "http/protobuf")
        sender.give(spans_of(RETRIED, JOB, resource_of("test")))
        longer = replace(RETRIED, ended_at=(RETRIED.ended_at or RETRIED.first_at) + timedelta(seconds=1))
        sender.give(spans_of(longer, JOB, resource_of("test")))
        sender.close(60)
    assert len({(span.trace_id, span.span_id) for span in receiver.spans()}) == 5
    assert len(receiver.spans()) == 10
