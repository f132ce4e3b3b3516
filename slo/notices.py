"""The notice: what is to be told about an episode, as one frozen value, and its JSON form.

It must not know who is told, or how: channels render it, the outbox delivers it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import msgspec

from scheduler.instants import format_instant

Severity = Literal["page", "ticket"]
Status = Literal["firing", "resolved"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Of the objective's window: bad events allowed and spent, and the share that remains (None when allowed is 0)."""

    allowed: float
    spent: float
    remaining: float | None


@dataclass(frozen=True, kw_only=True)
class Notice:
    """One thing to tell. `id` is the idempotency id, the same on every try; instants are aware UTC.

    `repeat` counts from 1 for the first telling; `bad_slots` are up to five of the newest, as `job@slot`.
    """

    id: str
    slo: str
    severity: Severity
    status: Status
    at: datetime
    started_at: datetime
    resolved_at: datetime | None
    reason: str
    repeat: int = 1
    burn: Mapping[str, float | None] = field(default_factory=dict)
    budget: Budget | None = None
    bad_slots: tuple[str, ...] = ()
    owner: str = ""
    impact: str = ""
    runbook: str = ""
    description: str = ""
    link: str = ""

    @property
    def episode(self) -> str:
        """The key of the episode it is about: `<slo>/<severity>@<started_at>`."""
        return f"{self.slo}/{self.severity}@{format_instant(self.started_at)}"


def to_values(notice: Notice) -> dict[str, Any]:
    """The notice as JSON values: no NaN, no infinity, no half of a surrogate pair, whatever came in."""
    values: dict[str, Any] = _clean(msgspec.to_builtins(notice))
    return values


def to_json(notice: Notice) -> bytes:
    """The notice as one line of JSON."""
    return msgspec.json.encode(to_values(notice))


def from_json(text: str | bytes) -> Notice:
    """The inverse of `to_json`. Raises msgspec.ValidationError for anything else."""
    return msgspec.json.decode(text, type=Notice)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value
