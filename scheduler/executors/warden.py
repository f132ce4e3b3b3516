"""Who ends a killed worker's commands? A small process of its own that learns their process groups through a pipe.

The pipe closes when the worker is gone, however it went; then every group still known gets SIGTERM, and SIGKILL after
`GRACE_SECONDS`. Standard library only: it is started by its path, without the project's packages.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

GRACE_SECONDS = 2.0
_LOOKS = 20


class Guard:
    """The worker's end: tells the warden which groups live. A warden that died is replaced and told again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._warden = _start()

    def add(self, group: int) -> None:
        """From now on the group ends with this process."""
        with self._lock:
            self._groups.add(group)
            self._tell(f"+{group}\n")

    def remove(self, group: int) -> None:
        """The group has ended; its number may be reused by anybody. Call it before the leader is reaped."""
        with self._lock:
            self._groups.discard(group)
            self._tell(f"-{group}\n")

    def close(self) -> None:
        """End the warden; groups still known are killed."""
        with self._lock:
            assert self._warden.stdin is not None
            with suppress(BrokenPipeError):
                self._warden.stdin.close()
            self._warden.wait()

    def _tell(self, text: str) -> None:
        try:
            _write(self._warden, text)
        except BrokenPipeError:
            self._warden.wait()
            self._warden = _start()
            _write(self._warden, "".join(f"+{group}\n" for group in self._groups))


def _start() -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C in a terminal reaches the worker, which drains, and must not end its warden.
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _write(warden: subprocess.Popen[bytes], text: str) -> None:
    assert warden.stdin is not None
    os.write(warden.stdin.fileno(), text.encode())


def main() -> None:
    """Read group numbers until the pipe closes, then end what is left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        (groups.add if line[0] == "+" else groups.discard)(group)
    _end(groups)


def _end(groups: set[int]) -> None:
    pause = threading.Event()
    left = {group for group in groups if _signal(group, signal.SIGTERM)}
    for _ in range(_LOOKS):
        left = {group for group in left if _signal(group, 0)}
        if not left:
            return
        pause.wait(GRACE_SECONDS / _LOOKS)
    for group in left:
        _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    main()
