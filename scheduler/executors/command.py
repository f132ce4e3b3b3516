"""How a command is run: its own session, a small environment, a deadline, a bounded output, and no process left over.

An attempt owns its process group: what it leaves behind in it ends with it. The calling thread must live as long as
the attempt, because the kernel kills the command when the thread that began it dies.
"""

import os
import selectors
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from scheduler import clock
from scheduler.endings import Problem, Result
from scheduler.executors.output import HeadTail
from scheduler.executors.reports import Report, Reports
from scheduler.executors.traces import traceparent
from scheduler.executors.warden import Guard
from scheduler.instants import format_duration, format_instant
from scheduler.jobs import Command
from scheduler.policy import classify_exit
from scheduler.processes import kill_marked, signal_group
from scheduler.queue import Claimed

LOOK_SECONDS = 0.1
"""How often a running attempt looks whether it must stop."""
LINGER_SECONDS = 1.0
"""How long output is still read once the command itself has ended, when something holds its pipes open."""
STOP_GRACE_SECONDS = 5.0
"""A drain gives a command at most so long between SIGTERM and SIGKILL, or the worker would be killed first."""
Cause = Literal["timeout", "interrupted", "replaced"]


class NotRunnableError(Exception):
    """A command that can't be started at all; says which, and what to do."""


@dataclass(frozen=True, slots=True)
class Stop:
    """How others end an attempt: `soft` asks (SIGTERM, then SIGKILL), `hard` doesn't.

    `replaced` asks too, and leaves the command its whole grace: the worker itself goes on.
    """

    soft: threading.Event = field(default_factory=threading.Event)
    replaced: threading.Event = field(default_factory=threading.Event)
    hard: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run: the queue database they belong to, the worker process, and its warden."""

    store: str
    incarnation: str
    guard: Guard


def execute(claimed: Claimed, place: Place, stop: Stop, say: Callable[[Report], None]) -> Result:
    """Run the job's command to its end, and answer how it ended. Never raises for what the command does."""
    command = claimed.job.run
    assert command is not None, "planner and trigger queue only jobs with a `run`"
    began = clock.monotonic()
    try:
        attempt = _Attempt(claimed, command, place, say)
    except NotRunnableError as error:
        return Result(Problem("permanent", str(error)), clock.monotonic() - began)
    except OSError as error:
        return Result(Problem("temporary", f"the command could not be started: {error}"), clock.monotonic() - began)
    code, cause = attempt.attend(stop)
    seconds = clock.monotonic() - began
    return Result(_problem(claimed, command, code, cause), seconds, attempt.output.text())


def environment(claimed: Claimed, command: Command, place: Place) -> dict[str, str]:
    """All that a command gets: of the worker's own environment PATH, HOME, LANG, and TEPAT_URL where there is one.

    A run without a slot has no `TEPAT_SLOT`, not even one from the job's `env`: as an empty text it would be a key that
    all such runs share, and a program that asks for it must fail instead.
    """
    inherited = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/")}
    if "TEPAT_URL" in os.environ:  # where this very service is: for `tepat` inside a job, on whatever port it listens
        inherited["TEPAT_URL"] = os.environ["TEPAT_URL"]
    own = {
        "TEPAT_STORE": place.store,
        "TEPAT_WORKER": place.incarnation,
        "TEPAT_RUN_ID": claimed.run_id,
        "TEPAT_JOB": claimed.job.id,
        "TEPAT_ATTEMPT": str(claimed.attempt),
        "TEPAT_FENCE": str(claimed.fence),
        "TRACEPARENT": traceparent(claimed.run_id, claimed.attempt),
    }
    given = {name: value for name, value in dict(command.env).items() if name != "TEPAT_SLOT"}
    slot = {} if claimed.slot is None else {"TEPAT_SLOT": format_instant(claimed.slot)}
    return inherited | {"LANG": os.environ.get("LANG", "C.UTF-8")} | given | own | slot


class _Attempt:
    """One command under way: its process, its pipes, and what was read from them."""

    def __init__(self, claimed: Claimed, command: Command, place: Place, say: Callable[[Report], None]) -> None:
        self.output = HeadTail()
        self._reports = Reports()
        self._claimed, self._command, self._place, self._say = claimed, command, place, say
        self._cause: Cause | None = None
        self._kill_at: float | None = None
        self._deadline = clock.monotonic() + command.timeout.total_seconds()
        env = environment(claimed, command, place)
        argv = _argv(command, env)
        self._pipes = [os.pipe(), os.pipe()]
        (self._out, out_end), (self._events, events_end) = self._pipes
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out_end,
                stderr=subprocess.STDOUT,
                cwd=command.cwd,
                env=env | {"TEPAT_EVENTS": f"/dev/fd/{events_end}"},
                pass_fds=(events_end,),
                start_new_session=True,
            )
        except BaseException:
            _close(self._out, self._events)
            raise
        finally:
            _close(out_end, events_end)
        place.guard.add(self._process.pid)

    def attend(self, stop: Stop) -> tuple[int, Cause | None]:
        """Read, watch the deadline, pass stops on; answers the exit code and why the command was stopped, if it was."""
        ended = os.pidfd_open(self._process.pid)
        with selectors.DefaultSelector() as selector:
            for handle in (self._out, self._events, ended):
                selector.register(handle, selectors.EVENT_READ)
            try:
                while not self._read(selector, ended):
                    self._watch(stop)
                self._linger(selector, ended)
            finally:
                code = self._end()
                _close(ended, self._out, self._events)
        return code, self._cause

    def _read(self, selector: selectors.BaseSelector, ended: int) -> bool:
        """Take what is there to read; true once the command's own process has ended."""
        over = False
        for key, _ in selector.select(LOOK_SECONDS):
            if key.fd == ended:
                over = True
                continue
            data = os.read(key.fd, 65536)
            if not data:
                selector.unregister(key.fd)
            elif key.fd == self._out:
                self.output.feed(data)
            else:
                for report in self._reports.feed(data):
                    self._say(report)
        return over

    def _watch(self, stop: Stop) -> None:
        now = clock.monotonic()
        if self._cause is None:
            grace = self._command.grace.total_seconds()
            if stop.soft.is_set():
                self._terminate("interrupted", now + min(grace, STOP_GRACE_SECONDS))
            elif stop.replaced.is_set():
                self._terminate("replaced", now + grace)
            elif now >= self._deadline:
                self._terminate("timeout", now + grace)
        elif self._kill_at is not None and stop.soft.is_set():
            # Already stopping with a longer grace than a drain can wait for.
            self._kill_at = min(self._kill_at, now + STOP_GRACE_SECONDS)
        if stop.hard.is_set():
            self._cause = self._cause or "interrupted"
            self._kill_at = now
        if self._kill_at is not None and now >= self._kill_at:
            self._kill()

    def _terminate(self, cause: Cause, kill_at: float) -> None:
        self._cause, self._kill_at = cause, kill_at
        signal_group(self._process.pid, signal.SIGTERM)

    def _kill(self) -> None:
        signal_group(self._process.pid, signal.SIGKILL)

    def _linger(self, selector: selectors.BaseSelector, ended: int) -> None:
        selector.unregister(ended)
        until = clock.monotonic() + LINGER_SECONDS
        while selector.get_map() and clock.monotonic() < until:
            self._read(selector, ended)

    def _end(self) -> int:
        """End what is left of the group, then reap its leader: until then nobody else can get its number."""
        self._kill()
        if self._cause is not None:
            # A stopped command may have put children into sessions of their own: the mark still finds them.
            run_id, fence = self._claimed.run_id, self._claimed.fence
            kill_marked(self._place.store, lambda one: one.run_id == run_id and one.fence == fence)
        self._place.guard.remove(self._process.pid)
        return self._process.wait()


def _argv(command: Command, env: dict[str, str]) -> list[str]:
    """What is handed to the kernel. Raises NotRunnableError for a program or folder that isn't there."""
    folder = Path(command.cwd or ".")
    if not folder.is_dir():
        raise NotRunnableError(f"the working folder {str(folder)!r} does not exist; make it, or change `cwd`")
    argv = ["/bin/sh", "-c", *command.argv] if command.shell else list(command.argv)
    name = argv[0]
    path = str(folder / name) if "/" in name else name
    if shutil.which(path, path=env["PATH"]) is None:
        where = str(folder.absolute()) if "/" in name else f"PATH ({env['PATH']})"
        raise NotRunnableError(f"the command {name!r} was not found in {where}, or is not executable")
    tied = _setpriv()
    return [tied, "--pdeathsig", "KILL", "--", *argv] if tied else argv


@lru_cache(maxsize=1)
def _setpriv() -> str | None:
    """The tool that ties a command's life to its worker's, where the host has one that can (util-linux 2.33 on)."""
    tool = shutil.which("setpriv")
    if tool is None:
        return None
    probe = subprocess.run([tool, "--pdeathsig", "KILL", "--", "true"], capture_output=True, check=False)
    return tool if probe.returncode == 0 else None


def _problem(claimed: Claimed, command: Command, code: int, cause: Cause | None) -> Problem | None:
    if cause == "timeout":
        limit = format_duration(command.timeout)
        return Problem("timeout", f"the command did not end within {limit} and was stopped", _shell_code(code))
    if cause == "interrupted":
        return Problem("interrupted", "the command was stopped with its worker", _shell_code(code))
    if cause == "replaced":
        return Problem("interrupted", "the command was stopped for a newer run of its job", _shell_code(code))
    if code == 0:
        return None
    kind = classify_exit(claimed.job.retry, code)
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return Problem(kind, f"the command was ended by signal {name}", _shell_code(code))
    return Problem(kind, f"the command ended with exit code {code}", code)


def _shell_code(code: int) -> int:
    """A death by signal as shells report it: 128 and the signal's number."""
    return code if code >= 0 else 128 - code


def _close(*handles: int) -> None:
    for handle in handles:
        os.close(handle)
