"""What every request passes before a route sees it: the Host check, access, and the headers of every answer.

Pure ASGI, so that no body is touched here and a stream stays a stream.
"""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from control.access import Refusal, Tokens, decide, host_is_ours, is_loopback, need_of
from control.api.problems import problem

_BEARER = re.compile(r"[Bb]earer +([\x21-\x7e]+) *")
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
# The API's own page loads its viewer from FastAPI's usual place, and may do nothing else.
_DOCS_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' https://cdn.jsdelivr.net; style-src https://cdn.jsdelivr.net;"
    " img-src data: https://fastapi.tiangolo.com; connect-src 'self'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Doors:
    """Wraps the application. `names` are the host names it answers to besides addresses and localhost."""

    app: ASGIApp
    tokens: Tokens
    bound: str
    names: frozenset[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request: refused with a problem document, or passed on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        answer = self.app if refusal is None else _refused(refusal)
        await answer(scope, receive, _with_headers(send, scope["path"]))

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not host_is_ours(host, self.names):
            return Refusal(421, "Misdirected Request", f"this service does not answer to the host {host[:100]!r}")
        match = _BEARER.fullmatch(headers.get("authorization", ""))
        role = self.tokens.role_of(match[1]) if match is not None else None
        client = scope.get("client")
        local = is_loopback(self.bound) and client is not None and is_loopback(client[0])
        need = need_of(scope["method"], scope["path"])
        return decide(need, role, presented=match is not None, local=local)


def _refused(refusal: Refusal) -> ASGIApp:
    headers = {"WWW-Authenticate": 'Bearer realm="tepat"'} if refusal.status == 401 else None
    return problem(refusal.status, refusal.detail, headers=headers)


def _with_headers(send: Send, path: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if path == "/docs":
                headers["Content-Security-Policy"] = _DOCS_POLICY
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
