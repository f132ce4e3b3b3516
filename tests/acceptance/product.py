"""The real product for tests: its own processes on free ports, its own store, and a receiver for its webhooks."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
from servers import unused_port

from scheduler import clock

PATIENCE = 60.0
"""Seconds a test waits for what must come: generous, because no test judges speed."""


def wait_for(what: str, holds: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """The first true answer of `holds`; an AssertionError that says what did not come, when it takes too long."""
    deadline = clock.monotonic() + patience
    while clock.monotonic() < deadline:
        answer = holds()
        if answer:
            return answer
        clock.pause(0.05)
    raise AssertionError(f"waited {patience:g} s in vain for {what}")


@dataclass
class Product:
    """One installation: a folder of files, a store, and the processes started over them."""

    folder: Path
    var: Path
    port: int = field(default_factory=unused_port)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def up(self, workers: int = 2, dashboard_port: int | None = None) -> subprocess.Popen[bytes]:
        """`tepat up`, with the dashboard where a port is given, once the API is ready."""
        screen = ["--no-dashboard"] if dashboard_port is None else ["--dashboard-port", str(dashboard_port)]
        options = ["--var", str(self.var), "--port", str(self.port), "--workers", str(workers), *screen]
        process = self._start(["up", str(self.folder), *options])
        self.wait_until_ready()
        return process

    def serve(self, part: str, *more: str) -> subprocess.Popen[bytes]:
        """One part as a process of its own."""
        ledger = ["--dir", str(self.folder), "--port", str(self.port)] if part == "ledger" else []
        return self._start(["serve", part, "--var", str(self.var), *ledger, *more])

    def wait_until_ready(self) -> None:
        wait_for("the API to be ready", self._is_ready)

    def get(self, path: str, **params: str) -> Any:
        token = (self.var / "tokens" / "admin").read_text().strip()
        answer = httpx.get(
            self.url + path, params=params, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE
        )
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()

    def job(self, name: str) -> dict[str, Any]:
        (found,) = [item for item in self.get("/api/v1/jobs")["items"] if item["id"] == name]
        return dict(found)

    def journal(self, kind: str) -> list[dict[str, Any]]:
        """The journaled events of one type, as they lie in the ledger's file."""
        with closing(sqlite3.connect(f"file:{self.var}/ledger.db?mode=ro", uri=True)) as connection:
            bodies = [json.loads(body) for (body,) in connection.execute("SELECT body FROM journal")]
        return [body for body in bodies if body["type"] == kind]

    def pids(self, part: str = "") -> list[int]:
        """The processes of this installation, or of one part of it."""
        return [pid for pid, line in _command_lines() if str(self.var) in line and f"serve {part}".strip() in line]

    def children(self) -> list[int]:
        """Processes that jobs of this installation started and that still run."""
        mark = f"TEPAT_STORE={self.var}".encode()
        return [pid for pid in _all_pids() if mark in _read(f"/proc/{pid}/environ")]

    def stop(self) -> None:
        """SIGTERM to all that the test started, then SIGKILL to what is left."""
        for process in reversed(self.started):
            if process.poll() is None:
                process.terminate()
        for process in self.started:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in self.pids() + self.children():
            kill(pid)

    def _start(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        environ = {**os.environ, "TEPAT_URL": self.url, "TEPAT_TOKEN_FILE": str(self.var / "tokens" / "ingest")}
        with (self.var.parent / "product.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "control.cli", *arguments], env=environ, stdout=log, stderr=log
            )
        self.started.append(process)
        return process

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False


def kill(pid: int) -> None:
    """SIGKILL, to a process that may have ended meanwhile."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@dataclass(frozen=True)
class Received:
    """One webhook call: when it came and what it said."""

    at: datetime
    id: str
    body: dict[str, Any]


@contextmanager
def webhook_receiver() -> Iterator[tuple[str, list[Received]]]:
    """A real HTTP server that answers 200 and remembers; gives its URL and what has come so far."""
    received: list[Received] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.append(Received(clock.now(), str(self.headers["webhook-id"]), body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", received
    finally:
        server.shutdown()
        server.server_close()


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _command_lines() -> list[tuple[int, str]]:
    lines = [(pid, _read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace")) for pid in _all_pids()]
    return [(pid, line) for pid, line in lines if line and pid != os.getpid()]


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
