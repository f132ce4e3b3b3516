"""Real servers and the browser for tests: each test's own instance, on a free port, in a temporary folder.

It relies on nothing that happens to run, and pretends nothing: what is missing skips a test, and fails it in CI.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from scheduler.clock import monotonic, pause

READY_WITHIN = 60.0
"""Seconds that a server may take to answer first: generous, because nothing is asserted about its speed."""


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running Prometheus: where it answers, and the folder with its configuration, data and log."""

    url: str
    folder: Path

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The result vector of an instant query, as the HTTP API gives it."""
        answer = httpx.get(f"{self.url}/api/v1/query", params={"query": expression}).raise_for_status().json()
        vector: list[dict[str, Any]] = answer["data"]["result"]
        return vector


def require(binary: str, package: str) -> str:
    """The path of a binary. Without it the test is skipped, with the command that installs it; in CI it fails."""
    found = shutil.which(binary)
    if found is not None:
        return found
    reason = f"{binary} is missing; on Debian: apt-get install --no-install-recommends {package}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def unused_port() -> int:
    """A TCP port of 127.0.0.1 that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def free_port() -> int:
    return unused_port()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Debian's Chromium; as root it needs `--no-sandbox`."""
    return require("chromium", "chromium")


@pytest.fixture
def start_prometheus(tmp_path: Path) -> Iterator[Callable[[str], Prometheus]]:
    """Starts a Prometheus with the configuration it is handed (YAML); all are stopped after the test."""
    binary = require("prometheus", "prometheus")
    with ExitStack() as running:

        def start(config: str) -> Prometheus:
            folder = tmp_path / f"prometheus-{unused_port()}"
            return running.enter_context(_prometheus(binary, folder, config))

        yield start


@contextmanager
def _prometheus(binary: str, folder: Path, config: str) -> Iterator[Prometheus]:
    folder.mkdir()
    (folder / "prometheus.yml").write_text(config)
    port = unused_port()
    command = [
        binary,
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    server = Prometheus(f"http://127.0.0.1:{port}", folder)
    with (folder / "log").open("wb") as log, _process(command, log.fileno()) as process:
        _wait_until_ready(f"{server.url}/-/ready", process, folder / "log")
        yield server


@contextmanager
def _process(command: list[str], log: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=READY_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + READY_WITHIN
    while monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(url).is_success:
                return
        except httpx.TransportError:
            pass
        pause(0.05)
    pytest.fail(f"{process.args!r} did not become ready; it said:\n{log.read_text(errors='replace')[-4000:]}")
