"""Instants and durations as text and as integers. Inside, every instant is an aware UTC datetime."""

import re
from datetime import UTC, datetime, timedelta

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
# As text, compiled at first use: `tepat exec` needs neither, and would compile both at each run of a job.
_DURATION = r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)"
_LEAP = r"^(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d):60(?:\.\d+)?(.*)$"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)


def parse_instant(text: str) -> datetime:
    """RFC 3339 text to an aware UTC datetime.

    A leap second is read as the last microsecond before it. Raises ValueError, saying what is wrong, for anything
    without an offset, because a local time names no instant.
    """
    leap = re.match(_LEAP, text) if ":60" in text else None
    plain = f"{leap[1]}:59.999999{leap[2]}" if leap else text
    try:
        value = datetime.fromisoformat(plain)
    except ValueError:
        raise ValueError(f"{text!r} is not an RFC 3339 instant; write it like 2026-03-29T00:30:00Z") from None
    if value.tzinfo is None:
        raise ValueError(f"{text!r} has no UTC offset; write it like 2026-03-29T00:30:00Z")
    return value.astimezone(UTC)


def format_instant(value: datetime) -> str:
    """An instant as RFC 3339 UTC, with a fraction only where there is one: `2026-03-29T00:30:00Z`."""
    text = value.astimezone(UTC).replace(tzinfo=None).isoformat()
    return (text.rstrip("0") if "." in text else text) + "Z"


def parse_duration(text: str) -> timedelta:
    """`500ms`, `30s`, `5m`, `2h`, `1d`, `1w` to a timedelta; ValueError names what was expected."""
    match = re.fullmatch(_DURATION, text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration; write a number and a unit: 500ms, 30s, 5m, 2h, 1d, 1w")
    return timedelta(seconds=float(match[1]) * _UNITS[match[2]])


def format_duration(value: timedelta) -> str:
    """The shortest exact text: `5m` for 300 seconds, `90s` for 90, `500ms` for half a second."""
    micros = to_micros(EPOCH + value)
    for unit in ("w", "d", "h", "m", "s"):
        size = int(_UNITS[unit] * 1_000_000)
        if micros and micros % size == 0:
            return f"{micros // size}{unit}"
    return "0s" if not micros else f"{micros / 1000:g}ms"


def to_micros(value: datetime) -> int:
    """Microseconds since 1970-01-01T00:00:00Z, exactly: how instants are stored."""
    return (value - EPOCH) // _MICRO


def from_micros(value: int) -> datetime:
    """The inverse of `to_micros`."""
    return EPOCH + timedelta(microseconds=value)
