"""How the queue says what happened: run events written into the outbox inside the caller's transaction.

The row and its event are committed together or not at all; nothing is sent from here.
"""

import socket
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, insert

from scheduler.events import EventType, RunEvent, to_wire
from scheduler.identity import event_id
from scheduler.instants import from_micros
from scheduler.tables import Row, outbox

OUTPUT_BYTES = 2048
"""How much of an attempt's output travels with its last event; the queue keeps more."""


def scheduler_source() -> str:
    """The source of what planners and sweepers say on this host."""
    return f"scheduler/{socket.gethostname()}"


def record(
    connection: Connection,
    kind: EventType,
    run: Row,
    *,
    source: str,
    at: datetime,
    data: dict[str, Any],
    attempt: int | None = None,
) -> None:
    """Write one event about a run row. `attempt` defaults to the row's own, and to 1 before the first."""
    event = RunEvent(
        id=event_id(at),
        source=source,
        type=kind,
        at=at,
        job=run["job"],
        run=run["run_id"],
        slot=None if run["slot"] is None else from_micros(run["slot"]),
        attempt=max(1, run["attempt"] if attempt is None else attempt),
        data=data,
    )
    connection.execute(insert(outbox), {"body": msgspec.json.encode(to_wire(event)).decode()})


def tail_for_event(output: str) -> str:
    """The last part of an output that fits into an event."""
    return output.encode()[-OUTPUT_BYTES:].decode(errors="replace")
