"""What the answer to an HTTP request means for an attempt: its kind, the wait it asks for, where to ask again. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from urllib.parse import SplitResult, urljoin, urlsplit

import msgspec

from scheduler.policy import ErrorKind
from scheduler.retry_after import parse_retry_after

ACCEPTED = 202
TEMPORARY = frozenset({408, 425, 429})
"""Statuses below 500 that say: not now."""
ASKS_FOR_PATIENCE = frozenset({429, 503})
"""Statuses whose `Retry-After` puts the next attempt off."""
POLL_DEFAULT, POLL_LEAST, POLL_MOST = timedelta(seconds=2), timedelta(seconds=1), timedelta(seconds=30)
LONGEST = timedelta(days=366)
"""A longer wait than any that is granted: it keeps the arithmetic within its range."""
_PORTS = {"http": 80, "https": 443}


class AddressError(Exception):
    """An accepted request whose status can't be asked for; says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; `body` is its kept text, `polled` whether a status address gave it."""

    status: int
    body: str = ""
    location: str | None = None
    retry_after: str | None = None
    polled: bool = False


def failure_of(answer: Answer, expect: tuple[int, ...]) -> tuple[ErrorKind, str] | None:
    """The kind of a failure and its words; None for success: a status that is listed, or any 2xx when none is."""
    status = answer.status
    if status in expect or (not expect and 200 <= status <= 299):
        return None
    says = f"the {'status address' if answer.polled else 'service'} answered {_named(status)}"
    if status in TEMPORARY or 500 <= status <= 599:
        return "temporary", says
    if 300 <= status <= 399:
        return "permanent", f"{says}{_target(answer.location)}; redirects are not followed: change `url`"
    return "permanent", says


def wait_asked(answer: Answer, now: datetime) -> timedelta:
    """How long a failed attempt's answer asks to be left alone; nothing unless its status may ask."""
    if answer.status not in ASKS_FOR_PATIENCE:
        return timedelta(0)
    return parse_retry_after(answer.retry_after, now, LONGEST) or timedelta(0)


def poll_wait(answer: Answer, now: datetime) -> timedelta:
    """The wait before the status is asked for (again): as asked, from 1 to 30 s; 2 s when nothing usable is said."""
    asked = parse_retry_after(answer.retry_after, now, LONGEST)
    return POLL_DEFAULT if asked is None else min(max(asked, POLL_LEAST), POLL_MOST)


def status_address(url: str, answer: Answer) -> str | None:
    """Where to ask how an accepted request goes: `Location`, else `status_url` of a JSON body, seen from `url`.

    None when the answer names no place. Raises AddressError for a place on another host, scheme or port: the job's
    headers, which may hold secrets, must not go there.
    """
    named = answer.location or _status_url(answer.body)
    if not named:
        return None
    try:
        found = urljoin(url, named)
        same = _origin(urlsplit(found)) == _origin(urlsplit(url))
    except ValueError:
        raise AddressError("the service answered 202 with a status address that is no URL; mend the service") from None
    if not same:
        says = "the service answered 202 with a status address on another host or port, which is not asked"
        raise AddressError(f"{says}: the job's headers are not for it; let the service name one of its own")
    return found.partition("#")[0]


def _status_url(body: str) -> str | None:
    try:
        value = msgspec.json.decode(body.encode(errors="replace"))
    except (msgspec.DecodeError, RecursionError):
        return None
    found = value.get("status_url") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _named(status: int) -> str:
    # The words are ours: those on the wire are the service's, and may be anything.
    return f"{status} {HTTPStatus(status).phrase}" if status in set(HTTPStatus) else str(status)


def _target(location: str | None) -> str:
    # A query may hold a token.
    return f", to {location.partition('?')[0][:100]!r}" if location else ""
