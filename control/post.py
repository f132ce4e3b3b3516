"""One HTTP request over a socket, for `tepat exec`: the standard library's client takes longer to import than to use.

Plain HTTP and HTTPS, one request a connection, an answer of at most 1 MiB. It raises nothing for a service that is
down or slow: the answer's status is 0 and says why.
"""

from __future__ import annotations

import json
import socket

from control.spool import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TIMEOUT = 1.5  # seconds for each step: connect, send, each read
MAX_ANSWER = 1024 * 1024


class Target:
    """An http or https URL taken apart; `path` is what goes before the API's own paths."""

    __slots__ = ("host", "path", "port", "secure")

    def __init__(self, secure: bool, host: str, port: int, path: str) -> None:
        self.secure, self.host, self.port, self.path = secure, host, port, path


def parse_url(url: str) -> Target:
    """Raises ValueError, with the remedy, for anything but `http://host[:port][/path]` and its https form."""
    scheme, found, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    if not found or scheme not in ("http", "https") or not authority or "@" in authority:
        raise ValueError(f"{url!r} is not a service URL; write it like http://127.0.0.1:8080")
    host, port = _split_port(authority, 443 if scheme == "https" else 80)
    clean = all(33 <= ord(character) < 127 for character in url)
    if not clean or not host or not 0 < port < 65536:
        raise ValueError(f"{url!r} is not a service URL; write it like http://127.0.0.1:8080")
    return Target(scheme == "https", host, port, f"/{path.rstrip('/')}".rstrip("/"))


def _split_port(authority: str, default: int) -> tuple[str, int]:
    if authority.startswith("["):  # [::1]:8080
        host, _, rest = authority[1:].partition("]")
        text = rest.removeprefix(":")
    else:
        host, _, text = authority.partition(":")
    if not text:
        return host, default
    return host, int(text) if text.isdecimal() and len(text) < 6 else 0


def post_events(url: str, token: str, body: bytes) -> Answer:
    """POST a JSON array of run events; what became of each is in the answer."""
    try:
        target = parse_url(url)
        status, answer = _exchange(target, _request(target, "/api/v1/events", token, body))
    except (OSError, ValueError) as error:
        return Answer(0, f"{url} does not answer: {error}")
    if status in (202, 422):
        return _understood(status, answer, url)
    return Answer(status, f"{url} answered {status}{_hint(status)}")


def _request(target: Target, path: str, token: str, body: bytes) -> bytes:
    host = f"[{target.host}]" if ":" in target.host else target.host
    # HTTP/1.0 forbids a chunked answer, so the body is what comes until the connection closes.
    head = (
        f"POST {target.path}{path} HTTP/1.0\r\nHost: {host}:{target.port}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body


def _exchange(target: Target, request: bytes) -> tuple[int, bytes]:
    # As bytes, which are ASCII here: for a str the socket first loads the tables of international names, 4 ms.
    address: Any = (target.host.encode("ascii"), target.port)
    with socket.create_connection(address, timeout=TIMEOUT) as plain:
        channel = _secured(plain, target.host) if target.secure else plain
        channel.sendall(request)
        answer = bytearray()
        while len(answer) < MAX_ANSWER and (chunk := channel.recv(65536)):
            answer += chunk
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    words = head.split(b"\r\n", 1)[0].split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        raise ValueError("the answer is not HTTP")
    return int(words[1]), body


def _secured(plain: socket.socket, host: str) -> socket.socket:
    import ssl  # 20 ms, for those who need it

    return ssl.create_default_context().wrap_socket(plain, server_hostname=host)


def _understood(status: int, body: bytes, url: str) -> Answer:
    try:
        rejected = json.loads(body)["rejected"]
        return Answer(status, "", frozenset(int(entry["index"]) for entry in rejected))
    except (ValueError, KeyError, TypeError):
        # Without the list of what was refused nothing may be removed: the reports wait.
        return Answer(0, f"{url} answered {status}, but not as a collector does; is it Tepat's?")


def _hint(status: int) -> str:
    if status in (401, 403):
        return ": the token is not accepted; set TEPAT_TOKEN_FILE to a file with one that may send events"
    return ": no Tepat collector is there; check TEPAT_URL" if status == 404 else ""
