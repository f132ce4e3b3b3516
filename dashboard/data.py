"""Asks the HTTP API, and is the only file of the dashboard that does.

An answer is kept for `TTL_SECONDS`, so a hundred open screens cost the API as much as one. Whatever goes wrong comes
back as a `Failure` with a sentence and a thing to do: never an exception that a screen would have to guess about.
"""

import hashlib
import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Literal, TypeVar

import httpx
import msgspec
import streamlit as st
from answers import Alert, Job, Objective, Page, Queue, Run, Slot, Snapshot, Status

TTL_SECONDS = 2.5  # half of the refresh interval: a refresh sees new data, two screens share one fetch
TIMEOUT_SECONDS = 3.0
BYTES_AT_MOST = 16 * 1024 * 1024  # of one answer; past it the screen says so instead of filling the memory
ROWS_AT_MOST = 200  # running runs, dead letters: what a person reads
SLOT_PAGE = 5_000
SLOT_PAGES_AT_MOST = 4
LOOK_BACK = timedelta(hours=2)
LOOK_AHEAD = timedelta(minutes=10)

Shape = TypeVar("Shape")
Item = TypeVar("Item")


class Failure(msgspec.Struct, frozen=True):
    """Why there is nothing to show: what is the case, and the one thing to do. Both are our own words."""

    kind: Literal["settings", "unreachable", "unauthorised", "odd"]
    what: str
    todo: str


class _RefusedError(Exception):
    """Carries a `Failure` from the depth of a fetch to `load`, which turns it into a value."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.what)
        self.failure = failure


def load(environment: Mapping[str, str] = os.environ) -> Snapshot | Failure:
    """What the API at `TEPAT_API` says now, at most `TTL_SECONDS` old. The token file is read anew each time."""
    url = environment.get("TEPAT_API", "").rstrip("/")
    if not url:
        return Failure("settings", "No API is set.", "Set TEPAT_API to the control plane's URL and start again.")
    try:
        token = Path(environment.get("TEPAT_TOKEN_FILE", "")).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        todo = "Let TEPAT_TOKEN_FILE name the file that holds the viewer token."
        return Failure("settings", "The token file cannot be read.", todo)
    identity = hashlib.sha256(token.encode()).hexdigest()
    return _load(url, identity, _token=token)


@st.cache_data(ttl=TTL_SECONDS, max_entries=8, show_spinner=False)
def _load(url: str, identity: str, *, _token: str) -> Snapshot | Failure:  # noqa: ARG001 - a part of the cache's key
    """Failures are kept as well, so that a dead API is not asked by every open screen at every refresh."""
    try:
        # trust_env: a proxy set for the outside world must never see the token.
        with httpx.Client(base_url=url, headers=_headers(_token), timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            return _snapshot(client)
    except _RefusedError as refused:
        return refused.failure
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):  # ValueError: a token that no header can carry
        return Failure(
            "unreachable",
            "The control plane does not answer.",
            "Check that its process runs (`tepat doctor`) and that TEPAT_API names its address.",
        )


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Accept": "application/json"}


def _snapshot(client: httpx.Client) -> Snapshot:
    status = _get(client, "status", Status)
    cut: list[str] = []

    def listed(path: str, item: type[Item], *, pages: int = 1, **query: str | int) -> list[Item]:
        found: list[Item] = []
        for _ in range(pages):
            page = _get(client, path, Page[item], **query)  # type: ignore[valid-type]
            found += page.items
            if page.next is None:
                return found
            query["cursor"] = page.next
        cut.append(path)
        return found

    return Snapshot(
        status=status,
        jobs=listed("jobs", Job),
        slots=listed("slots", Slot, pages=SLOT_PAGES_AT_MOST, limit=SLOT_PAGE, **_span(status)),
        running=listed("runs", Run, outcome="running", limit=ROWS_AT_MOST),
        dead=listed("runs", Run, outcome="dead_lettered", limit=ROWS_AT_MOST),
        queues=listed("queues", Queue),
        objectives=listed("slos", Objective),
        alerts=[alert for alert in listed("alerts", Alert) if alert.resolved_at is None],
        cut=sorted(set(cut)),
    )


def _span(status: Status) -> dict[str, str]:
    since, until = status.as_of - LOOK_BACK, status.as_of + LOOK_AHEAD
    return {"from": since.isoformat(), "until": until.isoformat()}


def _get(client: httpx.Client, path: str, shape: type[Shape], **query: str | int) -> Shape:
    with client.stream("GET", f"/api/v1/{path}", params=query) as response:
        _admit(path, response.status_code)
        body = _bounded(path, response)
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise _RefusedError(_odd(path, "is not what this dashboard reads")) from None


def _admit(path: str, status: int) -> None:
    if status in (401, 403):
        what = f"The control plane refused the dashboard's token ({status})."
        todo = "Let TEPAT_TOKEN_FILE name a valid viewer token; no restart is needed."
        raise _RefusedError(Failure("unauthorised", what, todo))
    if status != httpx.codes.OK:
        raise _RefusedError(_odd(path, f"has status {status}"))


def _bounded(path: str, response: httpx.Response) -> bytes:
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > BYTES_AT_MOST:
            raise _RefusedError(_odd(path, f"is larger than {BYTES_AT_MOST // 2**20} MiB"))
    return bytes(body)


def _odd(path: str, what: str) -> Failure:
    todo = "Check with `tepat doctor` that TEPAT_API is a Tepat control plane of this version, and read its log."
    return Failure("odd", f"The control plane's answer to /api/v1/{path} {what}.", todo)
