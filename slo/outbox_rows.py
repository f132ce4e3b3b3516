"""What stands in the outbox: notices owed, claimed, settled, and the receipts. It sends nothing and reads no clock.

Every function takes the connection of the caller's transaction. A notice is a row before it is a message.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, and_, func, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from scheduler.instants import from_micros, to_micros
from slo.channels.post import Message
from slo.delivery_policy import GIVE_UP_AFTER, RETRY_AFTER_CAP, Decision, Waiting, is_due, pick
from slo.notices import Notice, from_json, to_json
from slo.outbox_tables import CHANNELS, NOTICES

LOOKED_AT = 1_000  # oldest pending notices of a channel that one claim looks through
PENDING_BOUND = 10_000  # of one channel; what lies past it is written as dead, so that it is counted
LEASE = timedelta(seconds=60)  # longer than one try can take; after a crash a notice is free again by then
UNFOLDED = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One message to send, its rows, and the token without which the result may not be written."""

    token: str
    message: Message
    rows: tuple[int, ...]
    attempts: int
    since: datetime


def enqueue(connection: Connection, notices: Iterable[tuple[Notice, Sequence[str]]], now: datetime) -> int:
    """Owe each notice to its channels, in the caller's transaction; how many rows are new."""
    added = 0
    room: dict[str, int] = {}
    for notice, channels in notices:
        for channel in channels:
            if channel not in room:
                room[channel] = PENDING_BOUND - _pending(connection, channel)
            new = _insert(connection, notice, channel, now, full=room[channel] <= 0)
            room[channel] -= new
            added += new
    return added


def claim(connection: Connection, channel: str, now: datetime, boot: tuple[str, int], token: str) -> Claim | None:
    """Lease the next message of a channel, if one is due. `boot` is the boot's id and its clock in microseconds."""
    chosen = pick(_waiting(connection, channel, boot), now)
    if not chosen:
        return None
    seqs = tuple(notice.seq for notice in chosen)
    rows = connection.execute(select(NOTICES).where(NOTICES.c.seq.in_(seqs)).order_by(NOTICES.c.seq)).all()
    fold = (rows[0].fold or _fold_id(rows)) if len(rows) > 1 or rows[0].fold else rows[0].fold
    lease = boot[1] + LEASE // timedelta(microseconds=1)
    connection.execute(
        update(NOTICES)
        .where(NOTICES.c.seq.in_(seqs))
        .values(lease_boot=boot[0], lease_until=lease, lease_token=token, fold=fold)
    )
    return Claim(
        token=token,
        message=Message(id=fold or rows[0].notice_id, notices=tuple(from_json(row.payload) for row in rows)),
        rows=seqs,
        attempts=max(row.attempts for row in rows) + 1,
        since=from_micros(min(row.created_at for row in rows)),
    )


def settle(connection: Connection, held: Claim, decision: Decision, answer: int | None, now: datetime) -> bool:
    """Write what came of a try. False, and nothing changed, when the lease was lost to another.

    A refused summary is taken apart and its notices go alone, so that one bad notice takes no other with it.
    """
    apart = decision.state == "dead" and not decision.disable and len(held.rows) > 1
    state = "pending" if apart else decision.state
    next_try = decision.next_try_at or now
    values: dict[str, Any] = {
        "state": state,
        "attempts": NOTICES.c.attempts + 1,
        "next_try_at": to_micros(next_try),
        "last_try_at": to_micros(now),
        "answer": answer,
        "reason": decision.reason,
        "delivered_at": to_micros(now) if state == "delivered" else None,
        **_NO_LEASE,
    }
    if apart:
        values["fold"] = UNFOLDED
    mine = and_(NOTICES.c.seq.in_(held.rows), NOTICES.c.lease_token == held.token)
    return connection.execute(update(NOTICES).where(mine).values(**values)).rowcount > 0


def hold_channel(connection: Connection, channel: str, until: datetime, reason: str) -> None:
    """Make every notice of a channel wait until an instant."""
    _set_channel(connection, channel, blocked_until=to_micros(until), reason=reason)


def disable_channel(connection: Connection, channel: str, now: datetime, target: str, reason: str) -> None:
    """Turn a channel off until what it points at (`target`, a fingerprint) changes, or `enable_channel`."""
    _set_channel(connection, channel, disabled_at=to_micros(now), disabled_target=target, reason=reason)


def enable_channel(connection: Connection, channel: str) -> None:
    """Turn a channel on again, with nothing to wait for."""
    clear = {"blocked_until": None, "disabled_at": None, "disabled_target": None, "reason": ""}
    connection.execute(update(CHANNELS).where(CHANNELS.c.name == channel, CHANNELS.c.reason != "").values(**clear))


def has_due(connection: Connection, channel: str, now: datetime) -> bool:
    """Whether any try of a channel's notices has come: the cheap look before a claim."""
    at = NOTICES.c.next_try_at
    due = or_(at <= to_micros(now), at > to_micros(now + RETRY_AFTER_CAP))
    mine = and_(NOTICES.c.state == "pending", NOTICES.c.channel == channel, due)
    return connection.execute(select(NOTICES.c.seq).where(mine).limit(1)).first() is not None


def may_send(connection: Connection, channel: str, target: str, now: datetime) -> bool:
    """Whether a channel may be sent to now: not waiting, and not disabled under the same target."""
    row = connection.execute(select(CHANNELS).where(CHANNELS.c.name == channel)).first()
    if row is None:
        return True
    disabled = row.disabled_at is not None and row.disabled_target == target
    return not disabled and (row.blocked_until is None or is_due(from_micros(row.blocked_until), now))


def expire(connection: Connection, channels: Iterable[str], now: datetime, reason: str) -> int:
    """Give up what is owed to channels that can't be tried, once it is older than GIVE_UP_AFTER; how many rows."""
    too_old = NOTICES.c.created_at <= to_micros(now - GIVE_UP_AFTER)
    stuck = and_(NOTICES.c.state == "pending", NOTICES.c.channel.in_(list(channels)), too_old)
    return connection.execute(update(NOTICES).where(stuck).values(state="dead", reason=reason)).rowcount


def replay(connection: Connection, channel: str, now: datetime) -> int:
    """Owe a channel's dead and refused notices once more, under their own ids; how many rows."""
    gone = and_(NOTICES.c.channel == channel, NOTICES.c.state.in_(("dead", "refused")))
    values = {"state": "pending", "next_try_at": to_micros(now), "created_at": to_micros(now), "attempts": 0}
    return connection.execute(update(NOTICES).where(gone).values(**values, fold=None, **_NO_LEASE)).rowcount


def prune(connection: Connection, before: datetime) -> int:
    """Forget what was settled and is older than an instant; what is still owed stays. How many rows."""
    old = and_(NOTICES.c.state != "pending", NOTICES.c.created_at < to_micros(before))
    return connection.execute(NOTICES.delete().where(old)).rowcount


_NO_LEASE: dict[str, Any] = {"lease_boot": None, "lease_until": None, "lease_token": None}


def _insert(connection: Connection, notice: Notice, channel: str, now: datetime, *, full: bool) -> int:
    row = {
        "notice_id": notice.id,
        "channel": channel,
        "episode": notice.episode,
        "status": notice.status,
        "payload": to_json(notice).decode(),
        "created_at": to_micros(now),
        "next_try_at": to_micros(now),
        "state": "dead" if full else "pending",
        "reason": f"queue_full: {PENDING_BOUND} notices are owed to this channel" if full else "",
    }
    once = insert(NOTICES).values(**row).on_conflict_do_nothing(index_elements=["notice_id", "channel"])
    return connection.execute(once).rowcount


def _pending(connection: Connection, channel: str) -> int:
    mine = and_(NOTICES.c.state == "pending", NOTICES.c.channel == channel)
    return connection.scalar(select(func.count()).select_from(NOTICES).where(mine)) or 0


def _waiting(connection: Connection, channel: str, boot: tuple[str, int]) -> list[Waiting]:
    lease = and_(NOTICES.c.lease_boot == boot[0], NOTICES.c.lease_until > boot[1])
    columns = (NOTICES.c.seq, NOTICES.c.episode, NOTICES.c.next_try_at, NOTICES.c.fold)
    rows = connection.execute(
        select(*columns, func.coalesce(lease, False).label("leased"))
        .where(NOTICES.c.state == "pending", NOTICES.c.channel == channel)
        .order_by(NOTICES.c.seq)
        .limit(LOOKED_AT)
    )
    return [
        Waiting(
            seq=row.seq,
            episode=row.episode,
            next_try_at=from_micros(row.next_try_at),
            fold=row.fold,
            leased=bool(row.leased),
        )
        for row in rows
    ]


def _fold_id(rows: Sequence[Row[Any]]) -> str:
    listed = "\n".join([rows[0].channel, *(row.notice_id for row in rows)])
    return "summary/" + hashlib.sha256(listed.encode()).hexdigest()[:24]


def _set_channel(connection: Connection, channel: str, **values: Any) -> None:
    made = insert(CHANNELS).values(**{"name": channel, "reason": "", **values})
    connection.execute(made.on_conflict_do_update(index_elements=["name"], set_=values))
