"""A real HTTP service on a free port that answers from a list, and remembers what it was asked."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from serving_thread import serving


@dataclass(frozen=True)
class Reply:
    """`hang` answers nothing until the service ends, `stall` the head alone, `close` drops the connection."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    act: Literal["answer", "hang", "stall", "close"] = "answer"


@dataclass(frozen=True)
class Asked:
    """One request as it arrived; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Service:
    """Answers from a list, then with the last of it."""

    def __init__(self, replies: tuple[Reply, ...]) -> None:
        self._replies = replies or (Reply(),)
        self._lock = threading.Lock()
        self.asked: list[Asked] = []
        self.ended = threading.Event()
        self.url = ""

    def take(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            return self._replies[min(len(self.asked), len(self._replies)) - 1]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    box: Service

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.box.take(Asked(self.command, self.path, headers, body))
        if reply.act in ("answer", "stall"):
            self.tell(reply)
        if reply.act in ("hang", "stall"):
            self.box.ended.wait(60)
        self.close_connection |= reply.act != "answer"

    def tell(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body) + (reply.act == "stall")))
        self.end_headers()
        if self.command != "HEAD" and reply.status not in (204, 304):
            self.wfile.write(reply.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - names of the library

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def service(*replies: Reply) -> Iterator[Service]:
    """A service for the length of the block."""
    box = Service(replies)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"box": box}))
    box.url = f"http://127.0.0.1:{server.server_address[1]}/start"
    with serving(server, box.ended):
        yield box
