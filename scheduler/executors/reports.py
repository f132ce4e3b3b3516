"""What a job says about itself on the pipe named in `TEPAT_EVENTS`: JSON lines to stages and progress. Pure.

A line that is no such thing is passed over: a job must never fail because it reported badly.
"""

import math
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

LINE_BYTES = 16 * 1024
MAX_REPORTS = 1000
"""So many reports of one attempt are taken; a job that reports in a loop would fill the outbox."""
Report = tuple[Literal["stage", "heartbeat"], dict[str, Any]]


class Reports:
    """Bytes fed in, reports out; a line that is too long is dropped whole."""

    def __init__(self) -> None:
        self._rest = b""
        self._taken = 0

    def feed(self, data: bytes) -> Iterator[Report]:
        """The reports that these bytes complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE_BYTES:
            self._rest = b"-"  # no JSON begins so: what follows of this line is passed over with it
        for line in lines:
            report = parse_report(line)
            if report is not None and self._taken < MAX_REPORTS:
                self._taken += 1
                yield report


def parse_report(line: bytes) -> Report | None:
    """`{"stage": name, "seconds": s, "ok": bool}` or `{"progress": 0..1}`; None for anything else."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if not isinstance(value, dict):
        return None
    name, progress = value.get("stage"), _number(value.get("progress"))
    if isinstance(name, str) and name:
        data: dict[str, Any] = {"name": name[:100], "ok": value.get("ok") is not False}
        seconds = _number(value.get("seconds"))
        return "stage", data | ({"seconds": seconds} if seconds is not None else {})
    return ("heartbeat", {"progress": progress}) if progress is not None and progress <= 1 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return None
    return float(value)
