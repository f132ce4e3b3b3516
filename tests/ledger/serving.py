"""A real ledger process for tests: its own store, its own port, and words to speak with it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from scheduler import clock

PATIENCE = 60.0
JOBS = """
defaults: {timezone: UTC}
jobs:
  - id: watched
    schedule: {every: 1h}
  - id: own
    run: {command: ["true"]}
slos:
  - id: watched-on-time
    indicator: on_time
    select: {job: watched}
    objective: 99%
"""
_SERVE = (
    "import sys; from pathlib import Path; from control.service import run_ledger;"
    "sys.exit(run_ledger(Path(sys.argv[1]), Path(sys.argv[2]), '127.0.0.1', 0))"
)


@dataclass
class Service:
    """One running ledger process."""

    process: "subprocess.Popen[str]"
    url: str
    var: Path

    def token(self, name: str = "admin") -> str:
        return (self.var / "tokens" / name).read_text().strip()

    def headers(self, name: str = "admin") -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token(name)}"}

    def get(self, path: str, **params: str) -> Any:
        answer = httpx.get(self.url + path, params=params, headers=self.headers("dashboard"), timeout=PATIENCE)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()

    def post(self, body: Any, **headers: str) -> httpx.Response:
        """Events, as the forwarder sends them; bytes go as they are."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **self.headers("ingest"), **headers}
        return httpx.post(f"{self.url}/api/v1/events", content=content, headers=sent, timeout=PATIENCE)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Signals the process; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(root: Path, files: str = JOBS, environ: Mapping[str, str] | None = None) -> Iterator[Service]:
    """A ledger over `root/conf` and `root/var`, ready to take events; killed at the end if it still runs."""
    conf = root / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    (conf / "jobs.yaml").write_text(files)
    log = (root / "ledger.log").open("a+")
    start = log.tell()
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(conf), str(root / "var")],
        stdout=log,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(environ or {})},
    )
    try:
        yield Service(process, _url(process, root / "ledger.log", start), root / "var")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        log.close()


def event(number: int | str, kind: str = "started", **more: Any) -> dict[str, Any]:
    """A run event of the job `watched` in a run of its own."""
    plain = {"id": f"e-{number}", "source": "test", "type": kind, "job": "watched", "run": f"r-{number}"}
    return {**plain, "at": "2026-03-29T00:30:00Z", **more}


def _url(process: "subprocess.Popen[str]", log: Path, start: int) -> str:
    deadline = clock.monotonic() + PATIENCE
    while clock.monotonic() < deadline and process.poll() is None:
        for line in log.read_text()[start:].splitlines():
            if '"listening"' in line and line.startswith("{"):
                url = f"http://127.0.0.1:{json.loads(line)['port']}"
                if _ready(url):
                    return url
        clock.pause(0.05)
    raise AssertionError(f"the ledger did not become ready:\n{log.read_text()[start:]}")


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
