"""Says numbers, instants and states in words: units, zones, and a shape beside every colour. Pure.

A value that is not known reads "no data", never 0. Foreign text (ids, errors, owners) goes through `verbatim` before it
enters a sentence that Streamlit reads as Markdown; tables draw their cells as plain text and need none of it.
"""

import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

NO_DATA = "no data"
TEXT_AT_MOST = 160  # characters of foreign text in a sentence or a cell


class Look(NamedTuple):
    """How a state is shown: its word, a character for text, a Vega shape for charts, a colour for both."""

    word: str
    sign: str
    shape: str
    colour: str

    def __str__(self) -> str:
        return f"{self.sign} {self.word}"


VERDICTS: Mapping[str, Look] = {
    "missed": Look("missed", "✕", "cross", "#ff7b72"),
    "late": Look("late", "▲", "triangle-up", "#f0a94a"),
    "unknown": Look("unknown", "◆", "diamond", "#c297ff"),
    "skipped": Look("skipped", "■", "square", "#9aa7b4"),
    "on_time": Look("on time", "●", "circle", "#56c98a"),
    "pending": Look("pending", "▷", "triangle-right", "#6cb6ff"),
}
OUTCOMES: Mapping[str, str] = {
    "dead_lettered": "✕ dead letter",
    "failed": "✕ failed",
    "cancelled": "■ cancelled",
    "running": "▶ running",
    "queued": "▷ queued",
    "succeeded": "● succeeded",
}
STATES: Mapping[str, str] = {
    "exhausted": "✕ budget spent",
    "burning": "▲ alerting",
    "ok": "● holds",
    "no_data": "– no data",
}
INDICATORS: Mapping[str, str] = {"on_time": "on time", "success": "success"}


def look(verdict: str) -> Look:
    """The look of a verdict; one that this dashboard does not know keeps its own name and a neutral shape."""
    return VERDICTS.get(verdict) or Look(verdict, "?", "stroke", "#9aa7b4")


def outcome(name: str | None) -> str:
    """A run's outcome in words, with its sign."""
    return NO_DATA if name is None else OUTCOMES.get(name, f"? {name}")


def in_percent(share: float | None, digits: int = 2) -> float | None:
    """A share as a number of percent, rounded down: a single miss must never look like 100."""
    if share is None or not math.isfinite(share):
        return None
    scale = float(10**digits)
    return math.floor(share * 100 * scale + 1e-6) / scale


def percent(share: float | None, digits: int = 2) -> str:
    """A share as "99.53 %", rounded down."""
    value = in_percent(share, digits)
    return NO_DATA if value is None else f"{value:.{digits}f} %"


def seconds(value: float | None) -> str:
    """A length of time with its unit, in the unit that a person would use."""
    if value is None or not math.isfinite(value):
        return NO_DATA
    sign, size = ("-" if value < 0 else ""), abs(value)
    if size < 1:
        return f"{sign}{round(size * 1000)} ms"
    if size < 60:
        return f"{sign}{size:.1f} s"
    return sign + _coarse(round(size))


def _coarse(whole: int) -> str:
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    first = next((place for place, (number, _) in enumerate(parts) if number), 3)
    return " ".join(f"{number} {unit}" for number, unit in parts[first : first + 2] if number)


def count(number: int | None) -> str:
    """A count with thin groups of thousands."""
    return NO_DATA if number is None else f"{number:,}".replace(",", "\u202f")


def plural(number: int, one: str, many: str) -> str:
    """ "1 page", "3 pages"."""
    return f"{count(number)} {one if number == 1 else many}"


def clock(instant: datetime | None, zone: ZoneInfo, beside: datetime) -> str:
    """The wall clock in `zone`, with the date when it is another day there than that of `beside`."""
    if instant is None:
        return NO_DATA
    local = instant.astimezone(zone)
    same_day = local.date() == beside.astimezone(zone).date()
    return local.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M:%S")


def zone_name(zone: ZoneInfo, at: datetime) -> str:
    """The zone and its offset at that instant, as in "Asia/Jakarta (UTC+07:00)"."""
    offset = at.astimezone(zone).strftime("%z")
    return f"{zone.key} (UTC{offset[:3]}:{offset[3:5]})"


def until(instant: datetime, now: datetime) -> str:
    """How far ahead of `now` an instant is."""
    ahead = instant - now
    return "due" if ahead <= timedelta(0) else f"in {seconds(ahead.total_seconds())}"


def error(value: Any) -> str:
    """A job's error as one plain line; an error object becomes "kind: message (exit 3)"."""
    if not value:
        return ""
    if isinstance(value, Mapping):
        kind, message, code = (value.get(key) for key in ("kind", "message", "exit_code"))
        text = ": ".join(str(part) for part in (kind, message) if part)
        return plain(text if code is None else f"{text} (exit {code})")
    return plain(str(value))


def plain(text: str) -> str:
    """Foreign text as one bounded line: control characters and the marks that reverse its direction become spaces."""
    line = re.sub(r"[\s\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+", " ", text).strip()
    return line if len(line) <= TEXT_AT_MOST else line[: TEXT_AT_MOST - 1] + "…"


def verbatim(text: str) -> str:
    """Foreign text for a Markdown sentence, as a code span.

    Backslashes are not enough: Streamlit replaces `:material/x:`, emoji codes and bare links after Markdown has eaten
    the backslash. Nothing is replaced inside a code span, and a fence longer than any run of backticks within cannot be
    closed from there.
    """
    # The browser rewrites `:material/` before Markdown is read, code spans too; a space without width stops it.
    line = (plain(text) or NO_DATA).replace(":material/", ":\u200bmaterial/")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"
