"""The ledger as one process: stores, writer, judge, delivery, traces, API, wired together and taken down in order.

Going down: no new request is taken, what was taken is written, then everything is closed.
"""

import os
import signal
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import structlog
import uvicorn
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from collector.facts import Run
from collector.sender import TraceSender, open_sender, resource_of
from collector.store import KEEP, Ledger
from collector.tables import create_tables
from collector.traces import spans_of
from collector.versions import VersionFeed
from collector.writer import Writer
from control.access import make_tokens
from control.api.app import create_app, doors_for
from control.api.events import Intake
from control.api.reading import Reading
from control.logs import log_as_json
from control.settings import ledger_file, queue_file
from control.version import tepat_version
from scheduler.clock import now
from scheduler.database import open_sqlite
from scheduler.jobs import Job
from scheduler.registry import apply_definitions
from scheduler.tables import create_tables as create_queue_tables
from slo.engine import SloEngine
from slo.objectives import Objective, load_configuration
from slo.outbox import Deliverer
from slo.outbox import create_tables as create_outbox_tables

# A connection past this many is told to come back: each may hold a body of up to 4 MiB.
MAX_CONNECTIONS = 512
DRAIN_SECONDS = 10
log = structlog.get_logger("ledger")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a ledger process is made of, in the order in which it is taken down."""

    writer: Writer
    deliverer: Deliverer
    traces: TraceSender | None
    engines: tuple[Engine, ...]

    def start(self) -> None:
        """Begins to write and to deliver."""
        self.writer.start()
        self.deliverer.start()

    def stop(self) -> None:
        """Writes what was taken, delivers what is under way, closes the stores."""
        self.writer.stop()
        self.deliverer.stop()
        if self.traces is not None:
            self.traces.close()
        for engine in self.engines:
            engine.dispose()


def run_ledger(folder: Path, var: Path, host: str, port: int, names: Sequence[str] = ()) -> int:
    """Serves until SIGTERM or SIGINT; answers the exit code. `names`: further host names that requests may come to.

    Raises DefinitionError for the folder's files, TraceSettingsError for OTEL_* variables, OSError for a port taken.
    """
    log_as_json()
    version = tepat_version()
    listening = _listen(host, port)
    parts, reading, intake = _wire(folder, var, version)
    ours = frozenset({host.lower(), socket.gethostname().lower(), *(name.lower() for name in names)})
    app = create_app(reading, parts.writer, intake, doors_for(make_tokens(var), host, ours), now)
    _stay_for_the_drain()
    parts.start()
    log.info("listening", host=host, port=listening.getsockname()[1], version=version)
    try:
        uvicorn.Server(_server_settings(app)).run(sockets=[listening])
    finally:
        parts.stop()
        log.info("stopped")
    return 0


def _wire(folder: Path, var: Path, version: str) -> tuple[Parts, Reading, Intake]:
    definitions, files = load_configuration(folder)
    ledger, queue = _open_stores(var)
    apply_definitions(queue, definitions.jobs, now())
    deliverer = Deliverer(ledger, files.channels.values(), allow_networks=files.allow_networks)
    judge = SloEngine(files.objectives, deliverer.wake)
    sender = open_sender()
    resource = resource_of(version)

    def ended(run: Run, job: Job | None) -> None:
        if sender is not None:
            sender.give(spans_of(run, job, resource))

    writer = Writer(ledger, Ledger(ledger, VersionFeed(queue), judge, ended, kept_for(files.objectives)))
    intake = Intake()
    reading = Reading(ledger, queue, judge, version, lambda: _span_counts(sender), intake.counts)
    return Parts(writer, deliverer, sender, (ledger, queue)), reading, intake


def kept_for(objectives: Iterable[Objective]) -> timedelta:
    """How far back facts stay in memory: the longest objective's window and a day, and 31 days at least.

    With less, an objective over a quarter would be judged by its last month, and differ from its own backtest.
    """
    longest = max((objective.window for objective in objectives), default=timedelta(0))
    return max(KEEP, longest + timedelta(days=1))


def _open_stores(var: Path) -> tuple[Engine, Engine]:
    ledger, queue = open_sqlite(ledger_file(var)), open_sqlite(queue_file(var))
    create_tables(ledger)
    create_outbox_tables(ledger)
    try:
        create_queue_tables(queue)
    except OperationalError:
        # The scheduler made them between our look and our making; a second look finds all of them.
        create_queue_tables(queue)
    for path in (ledger_file(var), queue_file(var)):
        os.chmod(path, 0o600)
    return ledger, queue


def _span_counts(sender: TraceSender | None) -> Mapping[str, int]:
    if sender is None:
        return {}
    counts = sender.counts()
    names = ("exported", "overflow", "failed", "abandoned", "waiting")
    return {name: getattr(counts, name) for name in names}


def _stay_for_the_drain() -> None:
    # uvicorn takes these signals while it serves, and raises them again when it has ended: with the default handlers
    # the process would die there, before what was taken is written.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)


def _listen(host: str, port: int) -> socket.socket:
    """Bound here, so that a taken port is told before anything else begins."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError:
        listening.close()
        raise
    return listening


def _server_settings(app: object) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]  # uvicorn's own protocol types are narrower than Starlette's
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        lifespan="off",
    )
