"""`tepat up`: the whole product on one machine. Checks, prepares `var`, and hands the parts to the supervisor."""

import errno
import fcntl
import json
import os
import socket
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import urlopen

import control
from control import inputs, settings
from control.access import is_loopback, make_tokens
from control.commands import UnreachableError, UsageError
from control.supervisor import Part, StoppedError, Supervisor, python_command
from scheduler import clock
from scheduler.definitions import Definitions

READY_WITHIN = 60.0
LEFT_OVER = 20.0
"""Seconds that the parts of a supervisor that was killed get to leave their ports."""
WORKER_DRAIN = 20.0
"""Seconds a worker waits for its runs before it interrupts them and gives them back (serve.GRACE)."""
ROOT = Path(control.__file__).resolve().parent.parent
DASHBOARD = ROOT / "dashboard" / "app.py"


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat up`."""
    parser.add_argument(
        "dir", type=Path, nargs="?", default=Path(), metavar="DIR", help="job and SLO files (default: .)"
    )
    parser.add_argument(
        "--var", type=Path, default=settings.DEFAULT_VAR, help="where it keeps its files (default: ./var)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="the API's address (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=settings.API_PORT, help="the API's port (default: 8080)")
    parser.add_argument("--dashboard-port", type=int, default=settings.DASHBOARD_PORT, help="default: 8501")
    parser.add_argument("--no-dashboard", action="store_true", help="leave the dashboard out")
    parser.add_argument("--workers", type=int, default=2, help="how many worker processes (default: 2)")
    parser.add_argument("--json", action="store_true", help="the URLs as one JSON line, once both answer")


def run(arguments: Namespace) -> int:
    """Run until Ctrl-C or SIGTERM, then drain and stop everything; 0. A taken port or bad files are 2."""
    if arguments.workers < 1:
        raise UsageError(f"--workers {arguments.workers} would run nothing; give 1 or more")
    folder, var = arguments.dir.resolve(), arguments.var.resolve()
    found = inputs.definitions(folder)
    refuse_open_door(arguments.host, var)
    var.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _only_one(var) as lock:
        _check_ports(arguments, left_over=_mark_unclean(lock))
        make_tokens(var)
        _apply(found, var)
        _run_parts(arguments, folder, var, found)
        lock.truncate(0)
    return 0


def refuse_open_door(host: str, var: Path) -> None:
    """An address that others can reach is opened only where tokens already are: somebody has thought of them."""
    if not is_loopback(host) and not (var / "tokens" / "admin").is_file():
        raise UsageError(
            f"--host {host} can be reached from outside, and {var / 'tokens'} holds no tokens yet; "
            "run once on 127.0.0.1, which makes them, or put them there"
        )


def _only_one(var: Path) -> IO[str]:
    """Held for as long as this process lives; two supervisors over one store would fight over its ports."""
    lock = (var / "up.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        holder = lock.read(20).strip()
        lock.close()
        raise UsageError(f"tepat up already runs on {var} (process {holder}); stop it, or give another --var") from None
    return lock


def _mark_unclean(lock: IO[str]) -> bool:
    """Write our process id; whether the last one to do so never came to its end."""
    lock.seek(0)
    before = lock.read(20).strip()
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return bool(before)


def _check_ports(arguments: Namespace, left_over: bool) -> None:
    """Before anything starts: a port that is taken is named, with the option that chooses another."""
    wanted = [(arguments.host, arguments.port, "the API", "--port")]
    if not arguments.no_dashboard:
        wanted.append(("127.0.0.1", arguments.dashboard_port, "the dashboard", "--dashboard-port"))
        if arguments.port == arguments.dashboard_port:
            raise UsageError(f"--port and --dashboard-port are both {arguments.port}; choose another for one of them")
    deadline = clock.monotonic() + (LEFT_OVER if left_over else 0)
    for host, port, what, option in wanted:
        while (problem := port_problem(host, port)) is not None:
            if clock.monotonic() >= deadline:
                raise UsageError(f"port {port}, for {what}, {problem}; choose another with {option} PORT")
            clock.pause(0.2)


def port_problem(host: str, port: int) -> str | None:
    """Why a port can't be listened on, in words; None when it can."""
    if not 0 < port < 65536:
        return "is not a port (1 to 65535)"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        return f"is taken on {host}" if taken else f"can't be opened on {host}: {error.strerror or error}"
    return None


def _apply(found: Definitions, var: Path) -> None:
    from scheduler.database import open_sqlite
    from scheduler.registry import apply_definitions
    from scheduler.tables import create_tables

    engine = open_sqlite(settings.queue_file(var))
    try:
        create_tables(engine)
        apply_definitions(engine, found.jobs, clock.now())
    finally:
        engine.dispose()


def parts(arguments: Namespace, folder: Path, var: Path, worker_grace: float) -> list[Part]:
    """Every process, in the order of starting: the ledger first and last to stop, because all report to it."""
    url = _url(arguments.host, arguments.port)
    environ = {
        "PYTHONPATH": _import_path(),
        "PYTHONUNBUFFERED": "1",
        "TEPAT_URL": url,
        "TEPAT_TOKEN_FILE": str(var / "tokens" / "ingest"),
    }

    def serve(name: str, stage: int, grace: float, *more: str) -> Part:
        kind = name.partition("-")[0]
        command = python_command("control.cli", ["serve", kind, "--var", str(var), *more])
        return Part(name=name, command=command, environ=environ, stage=stage, grace=grace)

    door = ["--dir", str(folder), "--host", arguments.host, "--port", str(arguments.port)]
    names = [f"worker-{number}" for number in range(1, arguments.workers + 1)]
    host = socket.gethostname()
    workers = [serve(name, 2, worker_grace, "--worker-id", f"{host}/{name}") for name in names]
    made = [serve("ledger", 0, 15.0, *door), *workers, serve("scheduler", 3, 15.0)]
    return made if arguments.no_dashboard else [*made, _dashboard(arguments, var, url)]


def _import_path() -> str:
    """Parts find the packages of this very tree, wherever they are started."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))


def _dashboard(arguments: Namespace, var: Path, url: str) -> Part:
    options = {
        "server.port": str(arguments.dashboard_port),
        "server.address": "127.0.0.1",
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
        "server.fileWatcherType": "none",
    }
    flags = [text for name, value in options.items() for text in (f"--{name}", value)]
    environ = {"PYTHONPATH": _import_path(), "TEPAT_API": url, "TEPAT_TOKEN_FILE": str(var / "tokens" / "dashboard")}
    command = python_command("streamlit", ["run", str(DASHBOARD), *flags])
    return Part(name="dashboard", command=command, environ=environ, stage=1)


def _url(host: str, port: int) -> str:
    """Where the parts and the browser of this machine reach the API."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}"


def _run_parts(arguments: Namespace, folder: Path, var: Path, found: Definitions) -> None:
    graces = [job.run.grace.total_seconds() for job in found.jobs if job.run is not None]
    wanted = parts(arguments, folder, var, worker_grace=WORKER_DRAIN + max(graces, default=0.0) + 10.0)
    api = _url(arguments.host, arguments.port)
    screen = f"http://127.0.0.1:{arguments.dashboard_port}"
    with Supervisor(var / "log") as supervisor:
        try:
            supervisor.start(wanted[0])
            _must_answer(supervisor, "ledger", f"{api}/readyz")
            for part in wanted[1:]:
                supervisor.start(part)
            if not arguments.no_dashboard:
                _must_answer(supervisor, "dashboard", f"{screen}/_stcore/health")
        except StoppedError:
            return
        _announce(arguments, api, screen, var)
        supervisor.watch()
        if not arguments.json:
            print("Draining; Ctrl-C again kills what is left.", flush=True)


def _must_answer(supervisor: Supervisor, name: str, url: str) -> None:
    if not supervisor.await_ready(name, _answers(url), READY_WITHIN):
        raise UnreachableError(f"{name} does not answer at {url}; the end of its log:\n{supervisor.tail(name)}")


def _answers(url: str) -> Callable[[], bool]:
    def ask() -> bool:
        try:
            with urlopen(url, timeout=2) as answer:  # noqa: S310  (made here, always http)
                return bool(answer.status == 200)
        except (URLError, OSError, ValueError):
            return False

    return ask


def _announce(arguments: Namespace, api: str, screen: str, var: Path) -> None:
    shown = None if arguments.no_dashboard else screen
    if arguments.json:
        print(json.dumps({"api": api, "dashboard": shown, "var": str(var)}), flush=True)
        return
    if shown:
        print(f"Dashboard  {shown}")
    print(f"API        {api}   (documentation at {api}/docs)")
    print(f"Files      {var}   (logs in {var / 'log'}, tokens in {var / 'tokens'})")
    print("Ctrl-C drains and stops everything.")
    sys.stdout.flush()
