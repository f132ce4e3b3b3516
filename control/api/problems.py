"""Errors as RFC 9457 problem documents, the same everywhere. Says nothing about how the inside failed."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

MEDIA_TYPE = "application/problem+json"
log = structlog.get_logger("ledger.api")


def problem(status: int, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any) -> Response:
    """A problem document; `members` are extension members such as `rejected`."""
    document = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    body = msgspec.json.encode(document | members)
    return Response(body, status, headers, media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Makes every error of the application a problem document."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(Exception, _crash)


async def _http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(error.status_code, str(error.detail), headers=error.headers)


async def _validation(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [{"field": ".".join(map(str, each["loc"])), "error": each["msg"]} for each in error.errors()]
    first = errors[0] if errors else {"field": "request", "error": "is not valid"}
    return problem(422, f"{first['field']}: {first['error']}", errors=errors)


async def _crash(request: Request, error: Exception) -> Response:
    log.error("request failed", path=request.url.path, error=repr(error), exc_info=error)
    return problem(500, "the request failed inside; the service's log says why")
