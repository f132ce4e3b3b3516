"""What a receiver's answer means, and which notices go out next as one message. Pure: values and `now` in.

The bounds of delivery stand here, as a table; each says what it keeps from going wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from scheduler.retry_after import parse_retry_after

State = Literal["pending", "delivered", "dead", "refused"]

FIRST_WAIT = timedelta(seconds=1)
BACKOFF_CAP = timedelta(minutes=5)  # a receiver that is back is told within five minutes
RETRY_AFTER_CAP = timedelta(hours=1)  # no header silences a channel for longer
BACKOFF_FLOOR_CAP = timedelta(seconds=30)  # a channel that always says "Retry-After: 1" is not asked every second
GIVE_UP_AFTER = timedelta(days=3)  # then a notice is dead: a weekend's outage loses nothing
FOLD_ABOVE = 20  # more notices owed to one channel than this become one message
FOLD_SIZE = 100  # a message lists at most this many, so that it stays under every receiver's limits

TOO_MANY, UNAVAILABLE = 429, 503
GONE = frozenset({403, 410})
ASK_AGAIN = frozenset({408, 421, 425, TOO_MANY})


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What becomes of a notice after a try. `hold`: its whole channel waits; `disable`: the channel is turned off."""

    state: State
    reason: str
    next_try_at: datetime | None = None
    hold: bool = False
    disable: bool = False


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A notice that is owed to one channel. `fold` is the summary it belongs to, `""` for one that must go alone."""

    seq: int
    episode: str
    next_try_at: datetime
    fold: str | None = None
    leased: bool = False


def after_answer(
    status: int | None,
    retry_after: str | None,
    attempts: int,
    now: datetime,
    jitter: float,
    *,
    since: datetime | None = None,
) -> Decision:
    """Decide after try number `attempts` (from 1). `status` None means no answer: network trouble or a time-out.

    `jitter` is in [0, 1); `since` is when the notice was owed, for giving up after GIVE_UP_AFTER.
    """
    if status is not None and 200 <= status < 300:
        return Decision(state="delivered", reason="delivered")
    if status is not None and not _worth_another(status):
        return _final(status)
    reason = _trouble(status)
    if since is not None and now - since >= GIVE_UP_AFTER:
        return Decision(state="dead", reason=f"gave_up after {GIVE_UP_AFTER.days} days: {reason}")
    wait = _wait(retry_after if status is not None else None, attempts, now, jitter)
    hold = status in (None, TOO_MANY, UNAVAILABLE)
    return Decision(state="pending", reason=reason, next_try_at=now + wait, hold=hold)


def back_off(attempts: int, jitter: float) -> timedelta:
    """Half to the whole of 1 s, 2 s, 4 s ... up to BACKOFF_CAP: never nothing, and never everybody at once."""
    ceiling: timedelta = min(FIRST_WAIT * 2 ** min(max(attempts, 1) - 1, 20), BACKOFF_CAP)
    share: float = 0.5 + 0.5 * jitter
    return ceiling * share


def is_due(at: datetime, now: datetime) -> bool:
    """Whether a stored instant has come. One further off than any wait was written under a clock since put back."""
    return not now < at <= now + RETRY_AFTER_CAP


def pick(waiting: Sequence[Waiting], now: datetime) -> tuple[Waiting, ...]:
    """What goes out next as one message, of what one channel is owed, oldest first: nothing, one notice, or a fold.

    A fold that was tried is tried again as it was, under its own id. Within an episode the order stands: no
    `resolved` overtakes a `firing` that is still being tried.
    """
    fresh, folds = _ready(waiting, now)
    heads = {notice.episode: notice for notice in reversed(fresh)}
    candidates = [*heads.values(), *folds]
    if not candidates:
        return ()
    first = min(candidates, key=lambda notice: (notice.next_try_at, notice.seq))
    if first.fold:
        return tuple(notice for notice in waiting if notice.fold == first.fold)
    foldable = [notice for notice in fresh if notice.fold is None]
    return tuple(foldable[:FOLD_SIZE]) if len(foldable) > FOLD_ABOVE and first.fold is None else (first,)


def _ready(waiting: Sequence[Waiting], now: datetime) -> tuple[list[Waiting], list[Waiting]]:
    blocked: set[str] = set()
    fresh: list[Waiting] = []
    folds: list[Waiting] = []
    for notice in sorted(waiting, key=lambda notice: notice.seq):
        due = is_due(notice.next_try_at, now) and not notice.leased
        if due and notice.fold:
            folds.append(notice)
        elif due and notice.episode not in blocked:
            fresh.append(notice)
        if notice.fold is not None or not due:
            blocked.add(notice.episode)
    return fresh, folds


def _worth_another(status: int) -> bool:
    return status >= 500 or status < 200 or status in ASK_AGAIN


def _final(status: int) -> Decision:
    if status in GONE:
        return Decision(state="dead", reason=f"channel_disabled: answered {status}", disable=True)
    if status < 400:
        return Decision(state="dead", reason=f"redirect: answered {status}, and redirects are not followed")
    return Decision(state="dead", reason=f"rejected: answered {status}")


def _trouble(status: int | None) -> str:
    if status is None:
        return "no_answer"
    return "rate_limited: answered 429" if status == TOO_MANY else f"trouble: answered {status}"


def _wait(header: str | None, attempts: int, now: datetime, jitter: float) -> timedelta:
    own = back_off(attempts, jitter)
    asked = parse_retry_after(header, now, RETRY_AFTER_CAP)
    return own if asked is None else max(asked, min(own, BACKOFF_FLOOR_CAP))
