"""`tepat serve`: some of the product's parts as one process, until SIGTERM or SIGINT. For services and many hosts."""

import os
import signal
import socket
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from datetime import UTC, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from control import inputs, settings
from control.commands import CommandError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Engine

# The ledger is one process whatever it is called: collector, SLO engine and API commit and judge together.
PARTS = {"scheduler": "scheduler", "worker": "worker", "ledger": "ledger"} | dict.fromkeys(
    ("collector", "slo", "api"), "ledger"
)
PASS_SECONDS = 1.0
SLOTS = 4
GRACE = timedelta(seconds=20)


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat serve`."""
    parser.add_argument("parts", nargs="+", metavar="PART", help="scheduler, worker, ledger (or collector, slo, api)")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="job and SLO files (needed by the ledger)")
    parser.add_argument("--var", type=Path, default=settings.DEFAULT_VAR, help="the store's folder (default: ./var)")
    parser.add_argument("--host", default="127.0.0.1", help="the API's address (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=settings.API_PORT, help="the API's port (default: 8080)")
    parser.add_argument("--slots", type=int, default=SLOTS, help="runs at a time of a worker (default: 4)")
    parser.add_argument("--worker-id", help="the worker's name, unique among workers (default: host and process id)")
    parser.add_argument("--json", action="store_true", help="accepted for uniformity: what it logs is always JSON")


def run(arguments: Namespace) -> int:
    """Run the parts until told to stop: 0. Reports go to TEPAT_URL with the token in TEPAT_TOKEN_FILE."""
    from control.logs import log_as_json

    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is not a part; use one or more of {', '.join(PARTS)}")
    if arguments.slots < 1:
        raise UsageError(f"--slots {arguments.slots} would run nothing; give 1 or more")
    parts = {PARTS[part] for part in arguments.parts}
    log_as_json()
    var = arguments.var.resolve()
    if "ledger" in parts:
        _check_ledger(arguments, var)
    stop, at_once = threading.Event(), threading.Event()
    _on_signals(stop, at_once)
    crew = _Crew(stop)
    if parts & {"scheduler", "worker"}:
        _start_work(crew, arguments, var, parts, at_once)
    if "ledger" in parts:
        _serve_ledger(arguments, var)
    else:
        stop.wait()
    return crew.finish()


class _Crew:
    """The threads of this process, those that produce reports and the one that forwards them, stopped in that order."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.forward_stop = threading.Event()
        self.failed = False
        self._workers: list[threading.Thread] = []
        self._forwarders: list[threading.Thread] = []

    def work(self, name: str, act: Callable[[], None]) -> None:
        self._workers.append(self._thread(name, act))

    def forward(self, act: Callable[[], None]) -> None:
        self._forwarders.append(self._thread("forwarder", act))

    def _thread(self, name: str, act: Callable[[], None]) -> threading.Thread:
        def guarded() -> None:
            try:
                act()
            except BaseException:
                # A dead thread in a living process would be an outage that nobody restarts.
                self.failed = True
                if not self.stop.is_set():
                    os.kill(os.getpid(), signal.SIGTERM)
                raise

        thread = threading.Thread(target=guarded, name=name)
        thread.start()
        return thread

    def finish(self) -> int:
        """Wait for the drain, then for the last reports; 1 when a part ended by an error of its own."""
        self.stop.set()
        for thread in self._workers:
            thread.join()
        self.forward_stop.set()
        for thread in self._forwarders:
            thread.join()
        return 1 if self.failed else 0


def _start_work(crew: _Crew, arguments: Namespace, var: Path, parts: set[str], at_once: threading.Event) -> None:
    from scheduler.database import open_sqlite
    from scheduler.outbox import Forwarder, http_deliver
    from scheduler.tables import create_tables

    queue = settings.queue_file(var)
    engine = open_sqlite(queue)
    create_tables(engine)
    token = _token(var)
    deliver = http_deliver(settings.service_url(os.environ), token)
    forwarder = Forwarder(engine, deliver, var / "outbox.lock", threading.Event())
    if "scheduler" in parts and arguments.dir is not None:
        _apply(engine, arguments.dir)
    crew.forward(lambda: forwarder.run(crew.forward_stop))
    if "scheduler" in parts:
        crew.work("scheduler", lambda: drive_passes(engine, queue, crew.stop))
    if "worker" in parts:
        crew.work("worker", lambda: _work(arguments, queue, crew.stop, at_once))


def _work(arguments: Namespace, queue: Path, stop: threading.Event, at_once: threading.Event) -> None:
    from scheduler.worker import run_worker

    name = arguments.worker_id or f"{socket.gethostname()}-{os.getpid()}"
    run_worker(queue, name, arguments.slots, stop, at_once, grace=GRACE)


def drive_passes(engine: "Engine", queue: Path, stop: threading.Event, seconds: float = PASS_SECONDS) -> None:
    """Make a scheduler pass every `seconds`, with APScheduler as the timer, until `stop` is set.

    One pass at a time; passes that a slow one held up become one, because the next sees whatever they would have seen.
    """
    from apscheduler.executors.pool import ThreadPoolExecutor
    from apscheduler.schedulers.background import BackgroundScheduler

    from scheduler.passes import Passes

    passes = Passes(engine, queue)
    timer = BackgroundScheduler(timezone=UTC, executors={"default": ThreadPoolExecutor(1)})
    passes.make()
    timer.add_job(passes.make, "interval", seconds=seconds, max_instances=1, coalesce=True, misfire_grace_time=None)
    timer.start()
    stop.wait()
    timer.shutdown(wait=True)


def _apply(engine: "Engine", folder: Path) -> None:
    from scheduler.clock import now
    from scheduler.registry import apply_definitions

    apply_definitions(engine, inputs.definitions(folder.resolve()).jobs, now())


def _check_ledger(arguments: Namespace, var: Path) -> None:
    """Before anything starts: the files, and whether the address may be opened."""
    from control.commands.up import port_problem, refuse_open_door

    if arguments.dir is None:
        raise UsageError("the ledger needs --dir DIR, the folder of job and SLO files")
    inputs.definitions(arguments.dir.resolve())
    refuse_open_door(arguments.host, var)
    problem = port_problem(arguments.host, arguments.port)
    if problem is not None:
        raise UsageError(f"port {arguments.port}, for the API, {problem}; choose another with --port PORT")


def _serve_ledger(arguments: Namespace, var: Path) -> None:
    from control.service import run_ledger

    run_ledger(arguments.dir.resolve(), var, arguments.host, arguments.port)


def _token(var: Path) -> str:
    """What this process reports with: the token named in the environment, else the store's own."""
    given = os.environ.get("TEPAT_TOKEN_FILE")
    path = Path(given) if given else var / "tokens" / "ingest"
    try:
        return settings.read_token(path)
    except (OSError, ValueError) as error:
        raise CommandError(
            f"no token to report with: {error}; start the ledger first, which makes one, or set TEPAT_TOKEN_FILE"
        ) from None


def _on_signals(stop: threading.Event, at_once: threading.Event) -> None:
    """SIGTERM and SIGINT drain; the second one cuts the drain short."""

    def told(_number: int, _frame: object) -> None:
        (at_once if stop.is_set() else stop).set()

    signal.signal(signal.SIGTERM, told)
    signal.signal(signal.SIGINT, told)
