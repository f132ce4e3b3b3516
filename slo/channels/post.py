"""One try to tell one channel, and what came of it. It decides nothing: `slo.delivery_policy` does.

The response's body is drained unread, since a receiver's words could be an inside service's secrets.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import httpx
import msgspec

from slo.channels import file, slack, webhook
from slo.channels.addresses import AddressError, Network, check_url, redact
from slo.channels.settings import Channel, FileChannel, SecretRef, SlackChannel, WebhookChannel, reveal
from slo.notices import Notice

DRAINED_BYTES = 64 * 1024
REASON_LIMIT = 300


@dataclass(frozen=True, kw_only=True)
class Message:
    """What is sent in one go. Its id, a notice's or a summary's, is the same on every try."""

    id: str
    notices: tuple[Notice, ...]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of a try: `status` None for none; `error` says why, in words that may be shown."""

    status: int | None = None
    retry_after: str | None = None
    error: str = ""
    refused: bool = False


def tell(
    channel: Channel,
    message: Message,
    now: datetime,
    client: httpx.Client,
    allowed: Sequence[Network],
) -> Answer:
    """Send one message. Never raises for what a channel, its file or its settings do wrong."""
    try:
        if isinstance(channel, FileChannel):
            file.append(channel.path, message.notices)
            return Answer(status=200)
        return _post(channel, message, now, client, allowed)
    except AddressError as error:
        return Answer(error=str(error), refused=True)
    except httpx.HTTPError as error:
        return Answer(error=_short(f"{type(error).__name__}: {error}", channel))
    except (OSError, ValueError) as error:
        return Answer(error=_short(f"{type(error).__name__}: {error}", channel))


def fingerprint(channel: Channel) -> str:
    """Names what a channel points at without showing it: a disabled channel is tried again when this changes."""
    if isinstance(channel, FileChannel):
        target = channel.path
    else:
        try:
            target = reveal(channel.url)
        except (OSError, ValueError):
            target = ""
    return hashlib.sha256(target.encode("utf-8", "replace")).hexdigest()[:16]


def _post(
    channel: SlackChannel | WebhookChannel,
    message: Message,
    now: datetime,
    client: httpx.Client,
    allowed: Sequence[Network],
) -> Answer:
    url = check_url(reveal(channel.url).strip(), allowed)
    content = _content(channel, message)
    headers = _headers(channel, message.id, content, now)
    with client.stream("POST", url, content=content, headers=headers) as response:
        _drain(response)
        return Answer(status=response.status_code, retry_after=response.headers.get("Retry-After"))


def _content(channel: SlackChannel | WebhookChannel, message: Message) -> bytes:
    notices = message.notices
    if isinstance(channel, WebhookChannel):
        return webhook.body(message.id, notices)
    shown = slack.message(notices[0]) if len(notices) == 1 else slack.summary(notices)
    return msgspec.json.encode(shown)


def _headers(channel: SlackChannel | WebhookChannel, message_id: str, content: bytes, now: datetime) -> dict[str, str]:
    name = webhook.header_id(message_id)
    headers = {"Content-Type": "application/json", "User-Agent": "tepat", "Idempotency-Key": name, "webhook-id": name}
    if isinstance(channel, WebhookChannel) and isinstance(channel.secret, SecretRef):
        headers |= webhook.signed_headers(message_id, content, channel.secret.read(), now)
    return headers


def _drain(response: httpx.Response) -> None:
    # A body read to its end keeps the connection warm; one that does not end costs only the connection.
    seen = 0
    try:
        for part in response.iter_raw():
            seen += len(part)
            if seen > DRAINED_BYTES:
                return
    except httpx.HTTPError:
        return


def _short(text: str, channel: Channel) -> str:
    if not isinstance(channel, FileChannel):
        try:
            url = reveal(channel.url).strip()
            text = text.replace(url, redact(url)) if url else text
        except (OSError, ValueError):
            pass
    return text if len(text) <= REASON_LIMIT else text[: REASON_LIMIT - 1] + "…"
