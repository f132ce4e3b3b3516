"""A real HTTP receiver on a free port, and notices to send to it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from serving_thread import serving

from slo.notices import Budget, Notice

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LOOPBACK = ["127.0.0.0/8"]


@dataclass(frozen=True)
class Reply:
    """What the receiver answers; `hang` answers nothing until the receiver ends, `close` drops the connection."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    act: Literal["answer", "hang", "close"] = "answer"


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class Receiver:
    """Answers from a list, then with the last of it, and keeps what it was sent."""

    def __init__(self, replies: list[Reply]) -> None:
        self.replies = replies
        self.seen: list[Seen] = []
        self.arrived = threading.Condition()
        self.ended = threading.Event()
        self.url = ""
        self.port = 0

    def take(self, seen: Seen) -> Reply:
        with self.arrived:
            reply = self.replies[min(len(self.seen), len(self.replies) - 1)]
            self.seen.append(seen)
            self.arrived.notify_all()
            return reply

    def wait_for(self, count: int) -> bool:
        with self.arrived:
            return self.arrived.wait_for(lambda: len(self.seen) >= count, timeout=30)


@contextmanager
def receiver(*replies: Reply, wrap: Callable[[ThreadingHTTPServer], None] | None = None) -> Iterator[Receiver]:
    """A receiver for the length of the block."""
    box = Receiver(list(replies) or [Reply()])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = box.take(Seen(self.path, headers, content))
            if reply.act != "answer":
                if reply.act == "hang":
                    box.ended.wait(60)
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if wrap:
        wrap(server)
    box.port = server.server_address[1]
    box.url = f"http://127.0.0.1:{box.port}/services/T000/B000/secret-part-9f3a"
    with serving(server, box.ended):
        yield box


def notice(
    slo: str = "daily-on-time", status: Literal["firing", "resolved"] = "firing", *, minute: int = 0, **values: Any
) -> Notice:
    """A notice of an episode that began at `START` and `minute` minutes."""
    started = START + timedelta(minutes=minute)
    known: dict[str, Any] = {
        "id": f"{slo}/page@{started:%Y-%m-%dT%H:%M:%SZ}/{status}",
        "slo": slo,
        "severity": "page",
        "status": status,
        "at": started,
        "started_at": started,
        "resolved_at": started + timedelta(minutes=5) if status == "resolved" else None,
        "reason": "burn 20 over 1h and 30 over 5m, both above 14.4",
        "burn": {"5m": 30.0, "1h": 20.0, "3d": None},
        "budget": Budget(allowed=1.5, spent=1, remaining=1 / 3),
        "bad_slots": ("billing@2026-03-01T11:00:00Z",),
        "owner": "team-billing",
        "impact": "Customers get no statement",
        "description": "Daily jobs start on time",
        "link": "http://127.0.0.1:8501/slos?id=daily-on-time",
    }
    return Notice(**(known | values))


def many(count: int) -> list[Notice]:
    """Firing notices of as many objectives."""
    return [notice(f"slo-{number:03d}") for number in range(count)]
