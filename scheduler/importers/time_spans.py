"""Durations as other schedulers write them: systemd's `1h 30min`, Go's `1h30m`. Pure."""

import re
from datetime import timedelta

_MICROS = {
    **dict.fromkeys(("us", "usec", "µs", "μs"), 1),
    **dict.fromkeys(("ms", "msec"), 1_000),
    **dict.fromkeys(("", "s", "sec", "second", "seconds"), 1_000_000),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000_000),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3_600_000_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000),
    **dict.fromkeys(("w", "week", "weeks"), 604_800_000_000),
    **dict.fromkeys(("M", "month", "months"), 2_629_800_000_000),  # systemd: 30.44 days
    **dict.fromkeys(("y", "year", "years"), 31_557_600_000_000),  # systemd: 365.25 days
}
_PIECE = re.compile(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([A-Za-zµμ]*)\s*")
_GO_UNITS = {"us": 1, "µs": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}


def systemd_span(text: str) -> timedelta | None:
    """A span such as `1h 30min`, `90` (seconds) or `5.5s`; None for anything else, `infinity` too."""
    total, at = 0.0, 0
    while at < len(text):
        match = _PIECE.match(text, at)
        if match is None or match[2] not in _MICROS:
            return None
        total += float(match[1]) * _MICROS[match[2]]
        at = match.end()
    return _span(total) if text.strip() else None


def go_duration(text: str) -> timedelta | None:
    """A duration such as `1h30m`, above zero; None for anything else."""
    pieces = re.findall(r"(\d{1,9}(?:\.\d{1,6})?)(us|µs|ms|s|m|h)", text.strip())
    if "".join(map("".join, pieces)) != text.strip():
        return None
    return _span(sum(float(number) * _GO_UNITS[unit] for number, unit in pieces)) or None


def _span(micros: float) -> timedelta | None:
    return timedelta(microseconds=round(micros)) if micros < 3.2e14 else None
