"""Starts the product's parts as processes of their own, restarts those that end, and stops them in order.

It knows commands, logs and signals, not what the parts do. It has one thread, on purpose: what the kernel promises a
child about its parent's death holds for the thread that started it.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from scheduler.clock import monotonic

LOG_BYTES = 16 * 1024 * 1024
"""A part's log is cut at this size; one older piece is kept beside it as `.1`."""
LOOK = 0.25
"""Seconds between looks at the parts; an ended one is noticed at once, by its signal."""
FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
STEADY = 60.0
"""A part that ran this many seconds is forgiven its earlier ends."""
HURRY = 5.0
"""Seconds that a part has left once somebody has asked twice."""
STOP = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
HEARD = STOP | {signal.SIGCHLD}
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One process. `grace` is how many seconds it gets between SIGTERM and SIGKILL when everything stops.

    Parts of one `stage` are stopped together, the highest stage first.
    """

    name: str
    command: tuple[str, ...]
    stage: int = 0
    grace: float = 10.0
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Running:
    part: Part
    process: subprocess.Popen[bytes]
    since: float


class StoppedError(Exception):
    """Somebody asked for the end while the parts were still starting."""


class Supervisor:
    """The parts of one var folder. Use as a context manager: it stops what it started, whatever happens."""

    def __init__(self, logs: Path, say: Callable[[str], object] = sys.stderr.write) -> None:
        self._logs = logs
        self._say = say
        self._running: dict[str, _Running] = {}
        self._due: dict[str, tuple[float, Part]] = {}
        self._ends: dict[str, int] = {}
        self._outer: set[int | signal.Signals] = set()
        self._pid = os.getpid()

    def __enter__(self) -> Self:
        self._outer = set(signal.pthread_sigmask(signal.SIG_BLOCK, HEARD))
        self._logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            while signal.sigtimedwait(HEARD, 0):  # what was asked for has been done
                pass
            signal.pthread_sigmask(signal.SIG_SETMASK, self._outer)

    def start(self, part: Part) -> None:
        """Start a part; from now on it is watched."""
        with self._log(part.name) as log:
            process = subprocess.Popen(
                part.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **part.environ},
                # Its own session: Ctrl-C must reach the supervisor alone, or nothing would stop in order.
                start_new_session=True,
                preexec_fn=self._bind,  # noqa: PLW1509  (safe: this process has one thread)
            )
        self._running[part.name] = _Running(part, process, monotonic())

    def watch(self) -> None:
        """Keep every part running until SIGTERM, SIGINT or SIGHUP comes."""
        try:
            while True:
                self.look(LOOK)
        except StoppedError:
            return

    def await_ready(self, name: str, ready: Callable[[], bool], within: float) -> bool:
        """Keep watching until `ready` says yes, for at most `within` seconds. Raises StoppedError."""
        deadline = monotonic() + within
        while not ready():
            if monotonic() > deadline or self._ends.get(name, 0) >= 3:
                return False
            self.look(LOOK)
        return True

    def look(self, seconds: float) -> None:
        """Wait for a signal for some seconds, then restart what has ended. Raises StoppedError when asked to stop."""
        heard = signal.sigtimedwait(HEARD, seconds)
        if heard is not None and heard.si_signo in STOP:
            raise StoppedError
        now = monotonic()
        for one in list(self._running.values()):
            self._notice(one, now)
            self._cut(self._path(one.part.name))
        for name, (due, part) in list(self._due.items()):
            if due <= now:
                del self._due[name]
                self.start(part)

    def stop(self) -> None:
        """End the parts stage by stage, the highest first; a second signal cuts each one's grace short."""
        self._due.clear()
        stages = {one.part.stage for one in self._running.values()}
        for stage in sorted(stages, reverse=True):
            self._end([one for one in self._running.values() if one.part.stage == stage])
        self._running.clear()

    def tail(self, name: str, lines: int = 15) -> str:
        """The last lines of a part's log."""
        try:
            with self._path(name).open("rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - 65536))
                return "\n".join(log.read().decode("utf-8", "replace").splitlines()[-lines:])
        except OSError:
            return ""

    def pids(self) -> dict[str, int]:
        """The process id of each part that runs."""
        return {name: one.process.pid for name, one in self._running.items()}

    def _bind(self) -> None:
        """In the child: end when the supervisor ends, even by `kill -9`, so that a restart finds the ports free."""
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != self._pid:  # it ended between fork and here
            os._exit(0)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._outer)

    def _notice(self, one: _Running, now: float) -> None:
        code = one.process.poll()
        if code is None:
            return
        name = one.part.name
        del self._running[name]
        self._ends[name] = 1 if now - one.since > STEADY else self._ends.get(name, 0) + 1
        delay = restart_delay(self._ends[name])
        self._say(f"tepat up: {name} ended ({code}); starting it again in {delay:g} s; see {self._path(name)}\n")
        self._due[name] = (now + delay, one.part)

    def _end(self, stage: list[_Running]) -> None:
        began = monotonic()
        hurry = False
        for one in stage:
            one.process.send_signal(signal.SIGTERM)
        while alive := [one for one in stage if one.process.poll() is None]:
            heard = signal.sigtimedwait(HEARD, LOOK)
            again = heard is not None and heard.si_signo in STOP
            for one in alive:
                if monotonic() - began > (min(HURRY, one.part.grace) if hurry else one.part.grace):
                    self._say(f"tepat up: {one.part.name} did not end in time and is killed\n")
                    _kill_group(one.process)
                    one.process.wait()
                elif again:  # a worker ends its runs at once when it is told a second time
                    one.process.send_signal(signal.SIGTERM)
            if again and not hurry:
                hurry, began = True, monotonic()

    def _path(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def _log(self, name: str) -> IO[bytes]:
        path = self._path(name)
        self._cut(path)
        return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0)

    def _cut(self, path: Path) -> None:
        """Copy and truncate: the part goes on writing to the same file, which it opened for appending."""
        if path.exists() and path.stat().st_size > LOG_BYTES:
            shutil.copyfile(path, path.with_suffix(".log.1"))
            os.truncate(path, 0)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def restart_delay(ends: int) -> float:
    """Seconds until the next start after so many quick ends: 0.5, 1, 2, ... and never over 30."""
    return min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(ends - 1, 10))


def python_command(module: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """The command line that runs a module with this very interpreter."""
    return (sys.executable, "-m", module, *arguments)
