"""`tepat doctor`: is this installation sound? Every check says what it saw, and a remedy where something is wrong."""

import ctypes
import json
import os
import shutil
import sqlite3
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from control import settings, spool

OLDEST_PYTHON = (3, 11)
LEAST_FREE = 256 * 1024 * 1024
SPOOL_WARNING = spool.MAX_BYTES // 2
_TIME_ERROR = 5  # what adjtimex(2) answers for a clock that nothing keeps in step
_STATUS_MARK = {"ok": "ok  ", "warning": "warn", "fail": "FAIL"}


@dataclass(frozen=True, slots=True)
class Check:
    """What one look found. `remedy` is empty when nothing is to be done."""

    name: str
    status: Literal["ok", "warning", "fail"]
    seen: str
    remedy: str = ""


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat doctor`."""
    parser.add_argument("--var", type=Path, default=settings.DEFAULT_VAR, help="the store's folder (default: ./var)")
    parser.add_argument("--json", action="store_true", help='{"checks": [{"name", "status", "seen", "remedy"}]}')


def run(arguments: Namespace) -> int:
    """Print every check; 1 when one of them fails."""
    found = list(checks(arguments.var, dict(os.environ)))
    if arguments.json:
        print(json.dumps({"checks": [asdict(check) for check in found]}, indent=2))
    else:
        for check in found:
            remedy = f"\n      -> {check.remedy}" if check.remedy else ""
            print(f"{_STATUS_MARK[check.status]}  {check.name}: {check.seen}{remedy}")
    return 1 if any(check.status == "fail" for check in found) else 0


def checks(var: Path, environ: dict[str, str]) -> Iterator[Check]:
    """Every check, in the order a person would look."""
    yield python(sys.version_info[:3])
    yield zones()
    yield clock_in_step(_adjtimex)
    yield disk(var)
    yield store("queue", settings.queue_file(var))
    yield store("ledger", settings.ledger_file(var))
    yield tokens(var)
    yield api(settings.service_url(environ))
    yield waiting(settings.spool_folder(environ))


def python(found: tuple[int, ...]) -> Check:
    """The interpreter is one that Tepat is made for."""
    text = ".".join(map(str, found))
    if found[:2] >= OLDEST_PYTHON:
        return Check("python", "ok", text)
    return Check("python", "fail", text, "install Python 3.11 or later and make the environment anew: make setup")


def zones() -> Check:
    """Time zones come from the pinned package, so that hosts agree on slots."""
    try:
        return Check("time zones", "ok", f"tzdata {version('tzdata')}; hosts that work together need the same")
    except PackageNotFoundError:
        return Check("time zones", "fail", "the package tzdata is missing", "pip install tzdata, as locked")


def clock_in_step(ask: Callable[[], int | None]) -> Check:
    """Something keeps the clock in step; a wrong clock makes wrong verdicts. `ask` answers adjtimex's state."""
    state = ask()
    if state is None or state < 0:
        return Check(
            "clock", "warning", "unknown: the kernel does not say", "see that chrony or another NTP client runs"
        )
    if state == _TIME_ERROR:
        return Check("clock", "warning", "not synchronised", "start an NTP client: apt install chrony")
    return Check("clock", "ok", "synchronised")


def _adjtimex() -> int | None:
    """adjtimex(2) with no mode set reads only; it may be forbidden in containers."""
    try:
        buffer = ctypes.create_string_buffer(512)  # struct timex has 208 bytes on 64-bit Linux
        return int(ctypes.CDLL(None, use_errno=True).adjtimex(buffer))
    except (OSError, AttributeError):
        return None


def disk(var: Path) -> Check:
    """There is room for the store to grow, and it may be written."""
    there = next(folder for folder in (var.absolute(), *var.absolute().parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if not os.access(there, os.W_OK | os.X_OK):
        return Check("disk", "fail", f"{there} can't be written", f"give it to the user that runs Tepat: chown {there}")
    if free < LEAST_FREE:
        return Check("disk", "fail", f"{free // 2**20} MiB free at {there}", "make room, or move --var to another disk")
    return Check("disk", "ok", f"{free // 2**20} MiB free at {there}")


def store(name: str, path: Path) -> Check:
    """The database can be written, and is whole (SQLite's quick_check)."""
    if not path.exists():
        return Check(name, "warning", f"{path} is not there yet", "tepat up makes it; or name the folder with --var")
    if not os.access(path, os.W_OK):
        return Check(name, "fail", f"{path} can't be written", "run as the user that owns it, or chown it")
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=5)
        try:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.Error as error:
        answer = str(error)
    if answer == "ok":
        return Check(name, "ok", f"{path} is whole, {path.stat().st_size // 1024} KiB")
    return Check(
        name, "fail", f"{path}: {answer}", "stop Tepat, keep a copy of the file, and put the last back-up in its place"
    )


def tokens(var: Path) -> Check:
    """Nobody but the owner can read a token."""
    folder = var / "tokens"
    files = sorted(path for path in folder.glob("*") if path.is_file()) if folder.is_dir() else []
    if not files:
        return Check("tokens", "warning", f"none in {folder}", "tepat up makes them")
    loose = [str(path) for path in files if settings.open_to_others(path)]
    if loose:
        return Check(
            "tokens", "fail", f"others may read {', '.join(loose)}", f"chmod 600 {' '.join(loose)}, then renew them"
        )
    return Check("tokens", "ok", f"{len(files)} in {folder}, readable by their owner alone")


def api(url: str) -> Check:
    """The service answers and is ready."""
    remedy = "start it with tepat up, or say where it is with TEPAT_URL"
    try:
        with urlopen(f"{url}/readyz", timeout=5):  # noqa: S310  (a URL the operator set; nothing is sent with it)
            return Check("api", "ok", f"{url} is ready")
    except HTTPError as error:
        return Check("api", "fail", f"{url}/readyz answered {error.code}", "see the end of var/log/ledger.log")
    except (URLError, OSError, ValueError) as error:
        return Check("api", "fail", f"{url} does not answer: {getattr(error, 'reason', error)}", remedy)


def waiting(folder: str) -> Check:
    """Reports of `tepat exec` reach the collector, and do not pile up here."""
    try:
        count, size = len(spool.waiting(folder)), spool.size(folder)
    except OSError as error:
        return Check("spool", "fail", f"{folder}: {error}", "set TEPAT_SPOOL to a folder that can be written")
    seen = f"{count} reports wait in {folder} ({size // 1024} of {spool.MAX_BYTES // 1024} KiB)"
    if size > SPOOL_WARNING:
        return Check("spool", "fail", seen, "bring the collector back, then: tepat exec --flush; look at *.bad files")
    return Check("spool", "warning" if count else "ok", seen, "tepat exec --flush" if count else "")
