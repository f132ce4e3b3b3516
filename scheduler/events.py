"""The run event: one immutable fact about a run, and the vocabulary everybody shares."""

import re
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from scheduler.instants import format_instant, parse_instant

EventType = Literal[
    "queued", "started", "stage", "heartbeat", "retrying", "succeeded", "failed", "cancelled", "skipped",
    "dead_lettered", "redriven", "discarded", "gap", "depth",
]  # fmt: skip
TYPES: frozenset[str] = frozenset(get_args(EventType))
JOBLESS: frozenset[str] = frozenset({"gap", "depth"})
SKIP_REASONS = frozenset(
    {"overlap", "holiday", "window", "disabled", "catch_up", "deadline", "upstream", "buffer_full"}
)
MAX_DATA_BYTES = 16 * 1024
JOB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
RUN_ID = re.compile(r"[A-Za-z0-9._:@!~+-]{1,200}")


class EventError(ValueError):
    """A run event that can't be taken: names the field, and says which value is wrong and what to send instead."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class RunEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One fact. `(source, id)` is the idempotency key; instants are aware UTC; `received_at` is the collector's."""

    id: str
    source: str
    type: str
    at: datetime
    job: str | None = None
    run: str | None = None
    slot: datetime | None = None
    attempt: int = 1
    sent_at: datetime | None = None
    received_at: datetime | None = None
    data: dict[str, Any] = {}


def parse_event(raw: Any) -> RunEvent:
    """A decoded JSON value to a checked event. Raises EventError for the first field that is wrong."""
    if not isinstance(raw, dict):
        raise EventError("event", f"expected an object, got {type(raw).__name__}")
    kind = _kind(raw)
    return RunEvent(
        id=_text(raw, "id"),
        source=_text(raw, "source"),
        type=kind,
        at=_instant(raw, "at") or _missing("at"),
        job=_job(raw, kind),
        run=_run(raw),
        slot=_instant(raw, "slot"),
        attempt=_attempt(raw),
        sent_at=_instant(raw, "sent_at"),
        received_at=_instant(raw, "received_at"),
        data=_data(raw, kind),
    )


def to_wire(event: RunEvent) -> dict[str, Any]:
    """The event as JSON values, optional fields left out where they say nothing."""
    wire: dict[str, Any] = {"id": event.id, "source": event.source, "type": event.type}
    for name in ("job", "run", "slot", "attempt", "at", "sent_at", "received_at"):
        value = getattr(event, name)
        if value is not None:
            wire[name] = format_instant(value) if isinstance(value, datetime) else value
    wire["data"] = event.data
    return wire


def canonical(event: RunEvent) -> bytes:
    """Canonical JSON of what the sender said, without receipt: what decides between two contents of one key."""
    return msgspec.json.encode(to_wire(msgspec.structs.replace(event, received_at=None, sent_at=None)), order="sorted")


def run_id(job: str, slot: datetime) -> str:
    """A scheduled run's id: `<job>@<slot>`."""
    return f"{job}@{format_instant(slot)}"


def _missing(field: str) -> Any:
    raise EventError(field, "is required")


def _kind(raw: dict[str, Any]) -> str:
    kind = raw.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise EventError("type", f"{kind!r} is not an event type; use one of {', '.join(sorted(TYPES))}")
    return kind


def _text(raw: dict[str, Any], field: str) -> str:
    value = raw.get(field)
    if not isinstance(value, str) or not 1 <= len(value) <= 200:
        raise EventError(field, f"expected a string of 1 to 200 characters, got {_short(value)}")
    return value


def _job(raw: dict[str, Any], kind: str) -> str | None:
    value = raw.get("job")
    if value is None and kind in JOBLESS:
        return None
    if not isinstance(value, str) or not JOB_ID.fullmatch(value):
        raise EventError("job", f"{_short(value)} is not a job id; use up to 100 of A-Z a-z 0-9 . _ -")
    return value


def _run(raw: dict[str, Any]) -> str | None:
    value = raw.get("run")
    if value is not None and (not isinstance(value, str) or not RUN_ID.fullmatch(value)):
        raise EventError("run", f"{_short(value)} is not a run id; use up to 200 of A-Z a-z 0-9 . _ : @ ! ~ + -")
    return value


def _attempt(raw: dict[str, Any]) -> int:
    value = raw.get("attempt", 1)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < 2**31:
        raise EventError("attempt", f"expected an integer from 1 on, got {_short(value)}")
    return value


def _instant(raw: dict[str, Any], field: str) -> datetime | None:
    value = raw.get(field)
    if value is None:
        return None
    if not isinstance(value, str):
        raise EventError(field, f"expected an RFC 3339 string, got {_short(value)}")
    try:
        return parse_instant(value)
    except (ValueError, OverflowError) as error:
        raise EventError(field, str(error)) from None


def _data(raw: dict[str, Any], kind: str) -> dict[str, Any]:
    value = raw.get("data")
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise EventError("data", f"expected an object, got {_short(value)}")
    if len(msgspec.json.encode(value)) > MAX_DATA_BYTES:
        raise EventError("data", f"is larger than {MAX_DATA_BYTES} bytes; shorten output_tail or leave keys out")
    if kind == "gap":
        for field in ("from", "until"):
            if _instant(value, field) is None:
                raise EventError(f"data.{field}", "is required for a gap")
    if kind == "skipped" and value.get("reason") not in SKIP_REASONS:
        reasons = ", ".join(sorted(SKIP_REASONS))
        raise EventError("data.reason", f"{_short(value.get('reason'))} is not a skip reason; use one of {reasons}")
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
