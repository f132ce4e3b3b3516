"""Plays recorded answers of the API over real HTTP, so that the dashboard is tested against what it will meet."""

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

HERE = Path(__file__).parent
TOKEN = "viewer-token-of-the-tests"


@dataclass
class Backend:
    """What the server answers; a test may change it between two refreshes."""

    answers: dict[str, Any]
    status: int = 200
    body: bytes | None = None
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, target: str, authorization: str | None) -> tuple[int, bytes]:
        self.asked.append(target)
        if authorization != f"Bearer {TOKEN}":
            return 401, b'{"detail": "unauthorized"}'
        if self.status != 200 or self.body is not None:
            return self.status, self.body or b"{}"
        parts = urlsplit(target)
        name = parts.path.removeprefix("/api/v1/")
        asked = parse_qs(parts.query)
        name += "".join(f"?{key}={asked[key][0]}" for key in ("outcome", "cursor") if key in asked)
        found = self.answers.get(name)
        return (404, b"{}") if found is None else (200, json.dumps(found).encode())


class Player(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, backend: Backend) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.backend = backend
        backend.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Player

    def do_GET(self) -> None:
        status, body = self.server.backend.answer(self.path, self.headers.get("Authorization"))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that http.server gives it
        pass


def recorded(name: str) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((HERE / "answers" / f"{name}.json").read_text(encoding="utf-8"))
    return answers
