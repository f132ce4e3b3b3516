"""`POST /api/v1/events`: run events come in. Answers only when what it accepted is durable (I2)."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from collector.ingest import MAX_BODY_BYTES, Parsed, parse_body
from collector.writer import BusyError, DrainingError, Receipt, Writer
from control.api.problems import problem

# Small bodies are parsed where they are: a hop to a thread costs more than it saves.
_INLINE_BYTES = 32 * 1024
_RETRY_SECONDS = "1"


class _TooLargeError(Exception):
    """The body is over the limit."""


@dataclass(slots=True)
class Intake:
    """How many events this process has answered for since it began. Counted in the event loop's thread alone."""

    accepted: int = 0
    duplicate: int = 0
    rejected: int = 0

    def counts(self) -> Mapping[str, int]:
        """By result."""
        return asdict(self)


def events_route(writer: Writer, intake: Intake) -> Route:
    """The route, bound to the writer that makes events durable."""

    async def take(request: Request) -> Response:
        try:
            body = await _body(request)
        except _TooLargeError:
            return problem(413, f"the body is over {MAX_BODY_BYTES} bytes; send fewer events a request")
        except ClientDisconnect:
            return problem(400, "the sender hung up before its body was whole")
        kind = request.headers.get("content-type", "")
        parsed = (
            parse_body(body, kind) if len(body) <= _INLINE_BYTES else await run_in_threadpool(parse_body, body, kind)
        )
        return await _stored(writer, parsed, intake)

    return Route("/api/v1/events", take, methods=["POST"])


async def _body(request: Request) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > MAX_BODY_BYTES:
        raise _TooLargeError
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise _TooLargeError
    return b"".join(parts)


async def _stored(writer: Writer, parsed: Parsed, intake: Intake) -> Response:
    if not parsed.events:
        return _answer(Receipt(0, 0), parsed, intake)
    try:
        receipt = await asyncio.wrap_future(writer.submit(parsed.events))
    except BusyError:
        return problem(503, "too much waits to be written; send again", headers={"Retry-After": _RETRY_SECONDS})
    except DrainingError:
        return problem(503, "the service is going down; send again", headers={"Retry-After": _RETRY_SECONDS})
    except Exception:  # noqa: BLE001 - the writer logged it; nothing of the request is in the store
        return problem(503, "the store could not write; send again", headers={"Retry-After": _RETRY_SECONDS})
    return _answer(receipt, parsed, intake)


def _answer(receipt: Receipt, parsed: Parsed, intake: Intake) -> Response:
    intake.accepted += receipt.accepted
    intake.duplicate += receipt.duplicate
    intake.rejected += len(parsed.rejected)
    document = {**asdict(receipt), "rejected": [asdict(each) for each in parsed.rejected]}
    status = 422 if parsed.rejected and not parsed.events else 202
    return Response(msgspec.json.encode(document), status, media_type="application/json")
