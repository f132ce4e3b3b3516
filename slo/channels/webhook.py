"""What a generic receiver is sent: notices as JSON, signed the Standard Webhooks way. Pure; it posts nothing."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec

from slo.notices import Notice, to_values

KEY_PREFIX = "whsec_"
LEAST_KEY_BYTES = 16


def body(message_id: str, notices: Sequence[Notice]) -> bytes:
    """The request body: the notice's own object, or for several `{"status": "summary", "notices": [..]}`."""
    if len(notices) == 1:
        return msgspec.json.encode(to_values(notices[0]))
    listed: list[dict[str, Any]] = [to_values(notice) for notice in notices]
    return msgspec.json.encode({"id": message_id, "status": "summary", "count": len(listed), "notices": listed})


def header_id(message_id: str) -> str:
    """The id as it stands in headers: ASCII, whatever an objective is called; the signature covers this form."""
    return quote(message_id, safe="/@:._-~!+")


def signing_key(secret: str) -> bytes:
    """The key in a secret: base64, with or without `whsec_` before it. ValueError says how to make one.

    Standard Webhooks libraries decode base64 in both forms; taking other text as it is would give signatures that
    no such library accepts. The message never shows the secret.
    """
    try:
        key = base64.b64decode(secret.strip().removeprefix(KEY_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < LEAST_KEY_BYTES:
        raise ValueError(
            f"the webhook secret is not base64 of at least {LEAST_KEY_BYTES} bytes; "
            'make one with: echo "whsec_$(openssl rand -base64 32)"'
        )
    return key


def signed_headers(message_id: str, content: bytes, secret: str, now: datetime) -> dict[str, str]:
    """The headers of Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`."""
    name, seconds = header_id(message_id), str(int(now.timestamp()))
    told = f"{name}.{seconds}.".encode() + content
    signature = base64.b64encode(hmac.new(signing_key(secret), told, hashlib.sha256).digest()).decode()
    return {"webhook-id": name, "webhook-timestamp": seconds, "webhook-signature": f"v1,{signature}"}
