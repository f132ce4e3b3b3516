"""Runs a command as if nothing stood between it and its caller: output live and unchanged, signals passed on.

Answers with the exit code a shell would give and the last 4 KiB of output. It knows nothing of jobs or reports.
"""

import errno
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterable

TAIL_BYTES = 4096
CHUNK = 65536
NOT_FOUND, NOT_EXECUTABLE = 127, 126
FORWARDED = frozenset(
    {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM}
)  # fmt: skip
SI_KERNEL = 0x80


class Ended:
    """How the command ended: the code to exit with, what to say of it, and the end of its output."""

    __slots__ = ("code", "message", "tail")

    def __init__(self, code: int, message: str, tail: bytes) -> None:
        self.code, self.message, self.tail = code, message, tail


def run(command: list[str], started: Callable[[int | None], None], environ: dict[str, str]) -> Ended:
    """Run the command to its end. `started` is called once, with its process id or with None if it can't start."""
    outer = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    routes: dict[int, int] = {}
    try:
        pid = _spawn(command, environ, outer, routes)
    except (OSError, ValueError) as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, outer)
        started(None)
        return _cannot_start(command[0], error)
    watch = os.pidfd_open(pid)
    threading.Thread(target=_forward, args=(watch,), daemon=True).start()
    started(pid)
    tail = _pass_output(routes, watch)
    return _ended(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), tail)


def _spawn(
    command: list[str], environ: dict[str, str], outer: Iterable[signal.Signals | int], routes: dict[int, int]
) -> int:
    """Start the command; `routes` says afterwards which pipe leads to which of our streams.

    `posix_spawn`, because `subprocess` takes as long to import as an interpreter takes to start.
    """
    actions: list[tuple[int, int, int]] = []
    ends = []
    for target in (1, 2):
        if target == 2 and _one_stream():
            actions.append((os.POSIX_SPAWN_DUP2, 1, 2))
            break
        reading, writing = os.pipe()
        routes[reading] = target
        ends.append(writing)
        actions.append((os.POSIX_SPAWN_DUP2, writing, target))
    try:
        # The mask and the ignored SIGPIPE are inherited; a child that can't be terminated, or that never learns
        # that its reader has gone, would be worse than no reports.
        reset = [signal.SIGPIPE, signal.SIGXFSZ]
        return os.posix_spawnp(command[0], command, environ, file_actions=actions, setsigmask=outer, setsigdef=reset)
    finally:
        for writing in ends:
            os.close(writing)


def _one_stream() -> bool:
    """Whether our two output streams are the same file: one pipe then keeps the order of what is written to them."""
    try:
        return os.path.sameopenfile(1, 2)
    except OSError:  # one of them is closed
        return False


def _cannot_start(name: str, error: OSError | ValueError) -> Ended:
    number = error.errno if isinstance(error, OSError) else None
    missing = number in (errno.ENOENT, errno.ENOTDIR)
    reason = os.strerror(number) if number else str(error)
    message = f"{name}: {'command not found' if missing else reason}"
    sys.stderr.write(f"tepat exec: {message}\n")
    return Ended(NOT_FOUND if missing else NOT_EXECUTABLE, message, b"")


def _ended(code: int, tail: bytes) -> Ended:
    if code >= 0:
        return Ended(code, f"exit status {code}", tail)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return Ended(128 - code, f"killed by {name}", tail)


def _forward(watch: int) -> None:
    """Hand each signal to the command, but for those that the terminal has already given to the whole group."""
    while True:
        info = signal.sigwaitinfo(FORWARDED)
        if info.si_code == SI_KERNEL:
            continue
        try:
            signal.pidfd_send_signal(watch, info.si_signo)
        except ProcessLookupError:
            return


def _pass_output(routes: dict[int, int], watch: int) -> bytes:
    """Copy both streams until the command ends; what its children write later is copied by a process left behind."""
    tail = bytearray()
    ended = False
    while routes:
        ready, _, _ = select.select([*routes, *([] if ended else [watch])], [], [], 0 if ended else None)
        if watch in ready:
            ended = True
        elif not ready:  # ended, and nothing left to read, but somebody still holds the pipes
            _leave_behind(routes)
            break
        for source in ready:
            if source != watch:
                _copy(source, routes, tail)
    return bytes(tail)


def _copy(source: int, routes: dict[int, int], tail: bytearray) -> None:
    chunk = os.read(source, CHUNK)
    tail += chunk
    del tail[:-TAIL_BYTES]
    try:
        if chunk:
            _write_all(routes[source], chunk)
            return
    except OSError:
        # Our reader has gone. Closing the pipe tells the command so, as if it had written there itself.
        os.close(source)
    del routes[source]


def _write_all(target: int, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(target, view) :]


def _leave_behind(routes: dict[int, int]) -> None:
    """A background child of the command keeps its output stream, while this process reports and exits at once."""
    if os.fork() == 0:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
            _close_all_but(routes)
            while routes:
                ready, _, _ = select.select(list(routes), [], [])
                for source in ready:
                    _copy(source, routes, bytearray())
        finally:
            os._exit(0)


def _close_all_but(kept: Iterable[int]) -> None:
    """Nothing else may be held for as long as the background child lives: not the spool's lock, not a connection."""
    lowest = 3
    for number in sorted(kept):
        os.closerange(lowest, number)
        lowest = number + 1
    os.closerange(lowest, os.sysconf("SC_OPEN_MAX"))
