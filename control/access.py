"""Who may do what: tokens, roles, and the one table of routes. Decides; the doors in `control/api` act on it.

Tokens stand in files of the var folder, one line each, mode 0600, and are read again when a file changes, so that a
rotated token takes effect without a restart. No token may be logged.
"""

import hmac
import ipaddress
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Role = Literal["admin", "viewer", "ingest"]
# The file's name says for whom the token is made; the role says what it may do.
ROLE_OF_FILE: Mapping[str, Role] = {"admin": "admin", "dashboard": "viewer", "ingest": "ingest"}
Need = Literal["nobody", "loopback", "viewer", "ingest", "admin"]


@dataclass(frozen=True, slots=True)
class Rule:
    """Which role a route needs. The first rule that fits a request decides."""

    methods: frozenset[str]
    path: re.Pattern[str]
    need: Need


def _rule(methods: str, path: str, need: Need) -> Rule:
    return Rule(frozenset(methods.split()), re.compile(path), need)


_READ = "GET HEAD"
RULES: tuple[Rule, ...] = (
    _rule(_READ, r"/(healthz|readyz)", "nobody"),
    _rule(_READ, r"/metrics", "loopback"),
    _rule("POST", r"/api/v1/events", "ingest"),
    _rule(_READ, r"/.*", "viewer"),
    # What no rule names changes something: nobody but an administrator gets as far as its 404 or 405.
    _rule("POST PUT PATCH DELETE OPTIONS TRACE CONNECT", r".*", "admin"),
)
_MAY: Mapping[Need, frozenset[Role]] = {
    "nobody": frozenset(),
    "loopback": frozenset({"viewer", "admin"}),
    "viewer": frozenset({"viewer", "admin"}),
    "ingest": frozenset({"ingest", "admin"}),
    "admin": frozenset({"admin"}),
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is turned away: its HTTP status, and words that name the missing role."""

    status: Literal[401, 403, 421]
    title: str
    detail: str


def need_of(method: str, path: str) -> Need:
    """What a request needs by the table; an unknown method needs an administrator."""
    return next((rule.need for rule in RULES if method in rule.methods and rule.path.fullmatch(path)), "admin")


def decide(need: Need, role: Role | None, *, presented: bool, local: bool) -> Refusal | None:
    """None lets the request in. `presented`: a token came with it; `local`: the door and its caller are on loopback."""
    if need == "nobody" or (need == "loopback" and local) or role in _MAY[need]:
        return None
    wanted = "viewer" if need == "loopback" else need
    if role is None:
        why = "the token is not known" if presented else "no token was sent"
        detail = f"{why}; send 'Authorization: Bearer <token>' of a token with role {wanted}"
        return Refusal(401, "Unauthorized", detail)
    return Refusal(403, "Forbidden", f"needs role {wanted}; this token has role {role}")


@dataclass(slots=True)
class Tokens:
    """The tokens of one var folder."""

    folder: Path
    _seen: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def role_of(self, token: str) -> Role | None:
        """The role of a token, or None. Every known token is compared in constant time, and none is skipped."""
        found: Role | None = None
        for name, role in ROLE_OF_FILE.items():
            known = self._current(name)
            if known and hmac.compare_digest(known, token.encode("utf-8", "surrogateescape")):
                found = role
        return found

    def _current(self, name: str) -> bytes:
        path = self.folder / name
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            return b""
        seen = self._seen.get(name)
        if seen is None or seen[0] != changed:
            seen = self._seen[name] = (changed, path.read_bytes().strip())
        return seen[1]


def make_tokens(var: Path) -> Tokens:
    """The tokens below `var`, made where they are missing: 256 random bits, readable by the owner alone."""
    folder = var / "tokens"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in ROLE_OF_FILE:
        _make_token(folder, name)
    return Tokens(folder)


def _make_token(folder: Path, name: str) -> None:
    # Written aside and linked into place: another process that starts at the same moment sees all of it or nothing,
    # and the first one wins.
    path, aside = folder / name, folder / f".{name}.{os.getpid()}"
    if path.exists():
        return
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(32) + "\n")
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()


def is_loopback(host: str) -> bool:
    """Whether a host as it was bound, or a client's address, never leaves this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_is_ours(header: str, names: frozenset[str]) -> bool:
    """Whether a `Host` header names this service: an address, `localhost`, or one of `names`.

    A page of a foreign site that points its own name here (DNS rebinding) must send that name, so an address is safe.
    """
    host = _host_of(header).lower().rstrip(".")
    if host == "localhost" or host in names:
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _host_of(header: str) -> str:
    bracketed = re.fullmatch(r"\[([^\]]*)\](:\d*)?", header)
    if bracketed is not None:
        return bracketed[1]
    return re.sub(r":\d*$", "", header) if header.count(":") <= 1 else ""
