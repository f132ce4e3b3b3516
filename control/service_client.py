"""Asks a running Tepat over its HTTP API on behalf of a command. Its faults become errors of the command line."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from control import post, settings
from control.commands import CheckError, MissingError, UnreachableError, UsageError

TIMEOUT = 10.0
MAX_ANSWER = 16 * 1024 * 1024


def endpoint(environ: Mapping[str, str]) -> tuple[str, str]:
    """The service's address and the token to show it, as the environment says. Raises UsageError."""
    url, path = settings.service_url(environ), settings.token_file(environ)
    try:
        post.parse_url(url)
    except ValueError as error:
        raise UsageError(f"TEPAT_URL: {error}") from None
    try:
        return url, settings.read_token(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"no token: {error}; set TEPAT_TOKEN_FILE, or run where ./var/tokens/admin is") from None


def call(method: str, url: str, token: str, body: Any = None) -> Any:
    """One request; the decoded JSON answer.

    Raises UnreachableError, UsageError, its MissingError for what the service does not know, CheckError for a conflict.
    """
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json"}
    try:
        with urlopen(Request(url, data, headers, method=method), timeout=TIMEOUT) as answer:  # noqa: S310 (checked)
            return json.loads(answer.read(MAX_ANSWER) or b"null")
    except HTTPError as error:
        raise _refused(url, error) from None
    except (URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise UnreachableError(
            f"{url} does not answer: {reason}; is `tepat up` running? TEPAT_URL says where"
        ) from None
    except ValueError:
        raise UnreachableError(f"{url} does not answer as Tepat does; check TEPAT_URL") from None


def _refused(url: str, error: HTTPError) -> Exception:
    detail = _detail(error)
    if error.code in (401, 403):
        return UsageError(f"{url}: {detail}; set TEPAT_TOKEN_FILE to a file with a token that may do this")
    if error.code >= 500 or error.code == 429:
        return UnreachableError(f"{url} answered {error.code}: {detail}; try again")
    if error.code == 409:
        return CheckError(detail)
    # Only Tepat's own 404 says that something is missing: another server's says that TEPAT_URL is wrong.
    told = error.headers.get_content_type() == "application/problem+json" and error.code == 404
    return (MissingError if told else UsageError)(f"{url} answered {error.code}: {detail}")


def _detail(error: HTTPError) -> str:
    """The sentence of a problem document (RFC 9457), or the status's own words."""
    try:
        problem = json.loads(error.read(65536))
        return str(problem.get("detail") or problem.get("title") or error.reason)
    except (ValueError, AttributeError, OSError):
        return str(error.reason)
