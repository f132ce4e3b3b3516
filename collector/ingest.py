"""From a request's body to checked run events, the bad ones told apart one by one. Pure: no store, no clock.

What it must not do: let one bad event sink another (I12), or hold more than its bounds allow (I11).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from scheduler.events import EventError, RunEvent, parse_event

MAX_BODY_BYTES = 4 * 1024 * 1024
# A body of junk could name two million bad events: past this many the rest is counted in one last line.
MAX_REJECTIONS_LISTED = 1000
NDJSON_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why one event of a request was not taken: its place in the request, the field, and what to do."""

    index: int
    field: str
    error: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A request's events that are acceptable, in its order, and the others with their reasons."""

    events: tuple[RunEvent, ...]
    rejected: tuple[Rejection, ...]


def parse_body(body: bytes, content_type: str) -> Parsed:
    """One object, a JSON array, or NDJSON by its content type. Never raises: what can't be read is a rejection."""
    kind = content_type.partition(";")[0].strip().lower()
    values = _lines(body) if kind in NDJSON_TYPES else _document(body)
    return parse_values(values)


def parse_values(values: Iterable[Any]) -> Parsed:
    """Decoded JSON values to events; a `Rejection` among them is passed on at its place."""
    events: list[RunEvent] = []
    rejected: list[Rejection] = []
    for index, value in enumerate(values):
        try:
            events.append(_event(value))
        except EventError as error:
            rejected.append(Rejection(index, error.field, error.message))
    return Parsed(tuple(events), _bounded(rejected))


def _event(value: Any) -> RunEvent:
    if isinstance(value, EventError):
        raise value
    try:
        return parse_event(value)
    except EventError:
        raise
    except (OverflowError, ValueError, RecursionError) as error:
        raise EventError("data", f"can't be kept as JSON: {error}") from None


def _document(body: bytes) -> list[Any]:
    value = _decoded(body, "body", "send one object, an array, or NDJSON as application/x-ndjson")
    return value if isinstance(value, list) else [value]


def _lines(body: bytes) -> Iterator[Any]:
    for line in body.splitlines():
        if line.strip():
            yield _decoded(line, "event", "send one JSON object a line")


def _decoded(text: bytes, field: str, remedy: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return EventError(field, f"is not JSON ({error}); {remedy}")


def _bounded(rejected: list[Rejection]) -> tuple[Rejection, ...]:
    if len(rejected) <= MAX_REJECTIONS_LISTED:
        return tuple(rejected)
    rest = rejected[MAX_REJECTIONS_LISTED:]
    more = Rejection(rest[0].index, "event", f"and {len(rest)} more rejected events from here on that are not listed")
    return (*rejected[:MAX_REJECTIONS_LISTED], more)
