"""Real OTLP receivers, built from opentelemetry-proto, on free ports; and one that accepts and never answers."""

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from scheduler.clock import monotonic, pause

MAX_BYTES = 4 * 1024 * 1024


class Receiver:
    """What came in, request by request, and where to send it."""

    def __init__(self) -> None:
        self.endpoint = ""
        self.requests: list[ExportTraceServiceRequest] = []
        self.refused = 0

    def spans(self) -> list[Span]:
        scopes = [scope for request in self.requests for each in request.resource_spans for scope in each.scope_spans]
        return [span for scope in scopes for span in scope.spans]

    def resource(self) -> dict[str, str]:
        first = self.requests[0].resource_spans[0].resource
        return {item.key: item.value.string_value for item in first.attributes}


@contextmanager
def grpc_receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Servicer(TraceServiceServicer):
        def Export(  # noqa: N802 - the name is the protocol's
            self, request: ExportTraceServiceRequest, _: object
        ) -> ExportTraceServiceResponse:
            receiver.requests.append(request)
            return ExportTraceServiceResponse()

    with ThreadPoolExecutor(2) as pool:
        server = grpc.server(pool, options=[("grpc.max_receive_message_length", MAX_BYTES)])
        add_TraceServiceServicer_to_server(Servicer(), server)  # type: ignore[no-untyped-call]
        receiver.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        yield receiver
        server.stop(None).wait()


@contextmanager
def http_receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            self.answer(body)

        def answer(self, body: bytes) -> None:
            status = 404 if self.path != "/v1/traces" else 413 if len(body) > MAX_BYTES else 200
            if status == 200:
                receiver.requests.append(ExportTraceServiceRequest.FromString(body))
            receiver.refused += status != 200
            self.send_response(status)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
            pass

    with serving(Handler) as endpoint:
        receiver.endpoint = endpoint
        yield receiver


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """An HTTP server on a free loopback port; yields its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def silent_receiver() -> Iterator[str]:
    """Accepts every connection and says nothing, ever; yields its URL."""
    held: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                held.append(listener.accept()[0])
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for each in held:
            each.close()


def wait_for(done: Callable[[], bool], within: float = 60.0) -> None:
    """Until it is so; fails after a time that no working machine needs."""
    deadline = monotonic() + within
    while not done():
        assert monotonic() < deadline, "waited in vain"
        pause(0.02)
