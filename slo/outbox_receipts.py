"""What can be read from the outbox: receipts, totals, and the state of each channel. It changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, func, select

from scheduler.instants import from_micros, to_micros
from slo.delivery_policy import State
from slo.outbox_tables import CHANNELS, NOTICES


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What became of one notice at one channel. `fold` is the id of the summary that delivered it, if one did."""

    notice_id: str
    channel: str
    status: str
    state: State
    attempts: int
    answer: int | None
    reason: str
    fold: str | None
    created_at: datetime
    next_try_at: datetime | None
    delivered_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class ChannelState:
    """A channel as delivery finds it: waiting until an instant, or disabled since one, and why."""

    name: str
    blocked_until: datetime | None
    disabled_at: datetime | None
    reason: str


def owed(connection: Connection, now: datetime, limit: int) -> list[Receipt]:
    """Notices whose next try has come, oldest first, at most `limit`; for looking at, not for claiming."""
    rows = connection.execute(
        select(NOTICES)
        .where(NOTICES.c.state == "pending", NOTICES.c.next_try_at <= to_micros(now))
        .order_by(NOTICES.c.seq)
        .limit(limit)
    )
    return [_receipt(row) for row in rows]


def receipts(connection: Connection, episodes: Sequence[str]) -> list[Receipt]:
    """What became of the notices of episodes (`<slo>/<severity>@<started_at>`), oldest first."""
    rows = connection.execute(select(NOTICES).where(NOTICES.c.episode.in_(episodes)).order_by(NOTICES.c.seq))
    return [_receipt(row) for row in rows]


def told(connection: Connection, episode: str) -> frozenset[str]:
    """Channels that were told an episode fires, or still will be: those that a `resolved` is owed to."""
    firing = and_(NOTICES.c.episode == episode, NOTICES.c.status == "firing")
    reached = NOTICES.c.state.in_(("delivered", "pending"))
    return frozenset(connection.scalars(select(NOTICES.c.channel).where(firing, reached).distinct()))


def totals(connection: Connection) -> dict[tuple[str, str], int]:
    """How many notices are in each (channel, state)."""
    counted = select(NOTICES.c.channel, NOTICES.c.state, func.count()).group_by(NOTICES.c.channel, NOTICES.c.state)
    return {(channel, state): count for channel, state, count in connection.execute(counted)}


def channel_states(connection: Connection) -> list[ChannelState]:
    """Every channel that ever had to wait or was disabled, by name."""
    rows = connection.execute(select(CHANNELS).order_by(CHANNELS.c.name))
    return [
        ChannelState(
            name=row.name,
            blocked_until=_instant(row.blocked_until),
            disabled_at=_instant(row.disabled_at),
            reason=row.reason,
        )
        for row in rows
    ]


def _instant(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _receipt(row: Row[Any]) -> Receipt:
    return Receipt(
        notice_id=row.notice_id,
        channel=row.channel,
        status=row.status,
        state=row.state,
        attempts=row.attempts,
        answer=row.answer,
        reason=row.reason,
        fold=row.fold or None,
        created_at=from_micros(row.created_at),
        next_try_at=from_micros(row.next_try_at) if row.state == "pending" else None,
        delivered_at=_instant(row.delivered_at),
    )
