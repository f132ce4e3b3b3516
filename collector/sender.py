"""Sends spans to an OTLP receiver, and never lets the receiver cost anything but spans.

Spans wait in a bounded queue for one thread of their own. What can't wait or can't be sent is dropped and counted:
at every moment given = exported + overflow + failed + abandoned + waiting.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from scheduler.clock import monotonic

MAX_WAITING = 2_048
MAX_BATCH = 512
MAX_BATCH_BYTES = 2 * 1024 * 1024
CLOSE_WITHIN = 5.0
_EXPORTER_CLOSE = 0.5
_SPAN_BYTES = 256

Protocol = Literal["grpc", "http/protobuf"]


class TraceSettingsError(ValueError):
    """An OTEL_* variable that can't be followed: names the variable, its value, and what may stand there."""


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Where traces go. For `http/protobuf` the endpoint is the whole URL, `/v1/traces` included."""

    endpoint: str
    protocol: Protocol


@dataclass(frozen=True, slots=True)
class SpanCounts:
    """Since the sender began. `abandoned` were still on their way when closing ran out of time."""

    given: int = 0
    exported: int = 0
    overflow: int = 0
    failed: int = 0
    abandoned: int = 0
    waiting: int = 0


def trace_settings(environ: Mapping[str, str]) -> TraceSettings | None:
    """From the usual OTEL_* variables; None when no endpoint is set or traces are off. Raises TraceSettingsError."""
    if _value(environ, "OTEL_SDK_DISABLED").lower() == "true" or not _wanted(environ):
        return None
    own, shared = (_value(environ, f"OTEL_EXPORTER_OTLP_{name}ENDPOINT") for name in ("TRACES_", ""))
    if not own and not shared:
        return None
    protocol = _protocol(environ)
    endpoint = own or (shared if protocol == "grpc" else shared.rstrip("/") + "/v1/traces")
    _check_endpoint(endpoint, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" if own else "OTEL_EXPORTER_OTLP_ENDPOINT", protocol)
    return TraceSettings(endpoint, protocol)


def _value(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip()


def _wanted(environ: Mapping[str, str]) -> bool:
    chosen = _value(environ, "OTEL_TRACES_EXPORTER") or "otlp"
    if chosen not in ("otlp", "none"):
        raise TraceSettingsError(f"OTEL_TRACES_EXPORTER={chosen!r} is not known; use otlp or none")
    return chosen == "otlp"


def _protocol(environ: Mapping[str, str]) -> Protocol:
    name = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
    if not _value(environ, name):
        name = "OTEL_EXPORTER_OTLP_PROTOCOL"
    match _value(environ, name) or "http/protobuf":
        case "grpc":
            return "grpc"
        case "http/protobuf":
            return "http/protobuf"
        case other:
            raise TraceSettingsError(f"{name}={other!r} is not known; use grpc or http/protobuf")


def _check_endpoint(endpoint: str, name: str, protocol: Protocol) -> None:
    """gRPC also takes a bare `host:port`; an HTTP URL needs its scheme, or every export would fail without a word."""
    if protocol == "http/protobuf" and urlsplit(endpoint).scheme not in ("http", "https"):
        raise TraceSettingsError(f"{name}={endpoint!r} is not a URL; write it like http://127.0.0.1:4318")


def resource_of(version: str) -> Resource:
    """Who sends: `tepat`, unless the process's OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say something else."""
    defaults = {"service.name": "tepat", "service.version": version}
    return Resource.create(defaults | dict(OTELResourceDetector().detect().attributes))


def open_sender(environ: Mapping[str, str] = os.environ) -> "TraceSender | None":
    """A running sender to the configured receiver, or None when there is none. Raises TraceSettingsError.

    Headers, certificates, compression and time limits (OTEL_EXPORTER_OTLP_*) are read by the exporter itself.
    """
    settings = trace_settings(environ)
    return None if settings is None else TraceSender(exporter_of(settings))


def exporter_of(settings: TraceSettings) -> SpanExporter:
    """The exporter for the protocol; imported here because gRPC takes long to load and most never use it."""
    if settings.protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc

        return Grpc(endpoint=settings.endpoint)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http

    return Http(endpoint=settings.endpoint)


class TraceSender:
    """A bounded queue and the one thread that empties it. Safe to call from any thread.

    In a child made by fork it does nothing: the thread isn't there, and its lock may be held by nobody.
    """

    def __init__(self, exporter: SpanExporter, *, max_waiting: int = MAX_WAITING) -> None:
        self._exporter = exporter
        self._max_waiting = max_waiting
        self._pid = os.getpid()
        self._change = threading.Condition()
        self._queue: deque[ReadableSpan] = deque()
        self._flying = 0
        self._closing = self._closed = False
        self._given = self._exported = self._overflow = self._failed = self._abandoned = 0
        self._thread = threading.Thread(target=self._work, name="tepat-traces", daemon=True)
        self._thread.start()

    def give(self, spans: Sequence[ReadableSpan]) -> None:
        """Take spans to be sent; returns at once. What doesn't fit is dropped and counted as overflow."""
        if os.getpid() != self._pid:
            return
        with self._change:
            room = 0 if self._closing else max(0, self._max_waiting - len(self._queue) - self._flying)
            self._given += len(spans)
            self._overflow += max(0, len(spans) - room)
            self._queue.extend(spans[:room])
            self._change.notify_all()

    def counts(self) -> SpanCounts:
        """What became of the spans so far, all read at one moment."""
        with self._change:
            waiting = len(self._queue) + self._flying
            return SpanCounts(self._given, self._exported, self._overflow, self._failed, self._abandoned, waiting)

    def close(self, within: float = CLOSE_WITHIN) -> SpanCounts:
        """Send what waits, for at most `within` seconds; the rest is abandoned. Later calls change nothing."""
        if os.getpid() != self._pid:
            return SpanCounts()
        spare = min(_EXPORTER_CLOSE, within / 2)
        with self._change:
            self._closing = True
            self._change.notify_all()
            self._wait_until(lambda: self._closed, monotonic() + within - spare)
            first = not self._closed
            self._abandon()
        if first:
            self._stop_exporter(spare)
        return self.counts()

    def _wait_until(self, done: Callable[[], bool], deadline: float) -> None:
        while not done() and (left := deadline - monotonic()) > 0:
            self._change.wait(left)

    def _abandon(self) -> None:
        """From here on a batch that is still on its way counts as abandoned, whatever the receiver says later."""
        self._abandoned += len(self._queue) + self._flying
        self._queue.clear()
        self._flying = 0
        self._closed = True

    def _stop_exporter(self, within: float) -> None:
        """Break off the call on its way, from a thread: an exporter's own shutdown may block as well."""
        stopper = threading.Thread(target=self._exporter.shutdown, name="tepat-traces-stop", daemon=True)
        stopper.start()
        stopper.join(within)

    def _work(self) -> None:
        while batch := self._take():
            sent = self._send(batch)
            with self._change:
                if self._closed:
                    return
                self._flying = 0
                self._exported += len(batch) if sent else 0
                self._failed += 0 if sent else len(batch)
        self._exporter.shutdown()
        with self._change:
            self._closed = True
            self._change.notify_all()

    def _take(self) -> list[ReadableSpan]:
        """The next batch, waiting for one; empty when closing and all is sent, or closed."""
        with self._change:
            self._change.wait_for(lambda: self._queue or self._closing)
            batch: list[ReadableSpan] = []
            size = 0
            while self._queue and len(batch) < MAX_BATCH:
                size += weight(self._queue[0])
                if batch and size > MAX_BATCH_BYTES:
                    break
                batch.append(self._queue.popleft())
            self._flying = len(batch)
            return batch

    def _send(self, batch: Sequence[ReadableSpan]) -> bool:
        try:
            return self._exporter.export(batch) is SpanExportResult.SUCCESS
        except Exception:  # noqa: BLE001 - see below
            # Whatever an exporter throws: without this the thread would end and every later span be lost.
            return False


def weight(span: ReadableSpan) -> int:
    """About how many bytes the span is on the wire; receivers refuse a request above 4 MiB as a whole."""
    texts = [span.name, span.status.description or "", *(span.attributes or {}), *_values(span)]
    return _SPAN_BYTES + sum(len(text.encode()) + 8 for text in texts)


def _values(span: ReadableSpan) -> list[str]:
    return [value for value in (span.attributes or {}).values() if isinstance(value, str)]
