"""Which processes on this host belong to which run, and is a worker still alive? The only reader of /proc.

Every process of a run carries `TEPAT_STORE`, `TEPAT_RUN_ID` and `TEPAT_FENCE` in its environment, so that what a
killed worker left behind is found again. Signals are sent only to processes that carry the mark.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SWEEP_ROUNDS = 5
"""A process can fork while it is being looked for; so many rounds end every tree that is not a fork bomb."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A process of a run, as its environment names it."""

    pid: int
    run_id: str
    fence: int
    incarnation: str


def incarnation() -> str:
    """Names this very process: PID namespace, PID and start time, so that a reused PID is not taken for it."""
    return f"{_namespace()}/{os.getpid()}/{_start_ticks(os.getpid())}"


def is_dead(name: str) -> bool:
    """True when the process that `name` means ran in this PID namespace and is gone. Unknown is not dead."""
    parts = name.split("/")
    if len(parts) != 3 or parts[0] != _namespace() or not parts[1].isdigit():
        return False
    return _start_ticks(int(parts[1])) != parts[2]


def marked(store: str) -> Iterator[Marked]:
    """Processes of runs of the queue database `store` (its absolute path)."""
    wanted = f"TEPAT_STORE={store}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parts = (entry / "environ").read_bytes().split(b"\0")
                if wanted in parts:
                    yield _mark(int(entry.name), parts)


def kill_marked(store: str, stale: Callable[[Marked], bool]) -> int:
    """SIGKILL every process of a run that `stale` names, until none is left; answers how many were hit."""
    hit = 0
    for _ in range(SWEEP_ROUNDS):
        found = [one for one in marked(store) if one.pid != os.getpid() and stale(one) and _is_running(one.pid)]
        for one in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one.pid, signal.SIGKILL)
                hit += 1
        if not found:
            break
    return hit


def signal_group(group: int, number: int) -> None:
    """Signal a whole process group; one that is gone already is no error."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _mark(pid: int, parts: list[bytes]) -> Marked:
    values = dict(part.split(b"=", 1) for part in parts if part.startswith(b"TEPAT_") and b"=" in part)
    text = {key.decode(errors="replace"): value.decode(errors="replace") for key, value in values.items()}
    fence = text.get("TEPAT_FENCE", "")
    number = int(fence) if fence.isdecimal() else -1
    return Marked(pid, text.get("TEPAT_RUN_ID", ""), number, text.get("TEPAT_WORKER", ""))


def _namespace() -> str:
    return os.readlink("/proc/self/ns/pid")


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command, whose text may itself hold spaces and brackets."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _is_running(pid: int) -> bool:
    return _stat(pid)[:1] not in ([], ["Z"], ["X"])


def _start_ticks(pid: int) -> str:
    """When a process began, in ticks since boot; empty for one that is gone or only waits to be reaped."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 and fields[0] not in "ZX" else ""
