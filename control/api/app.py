"""The application: routes put together, errors as problem documents, the doors in front."""

from collections.abc import Callable
from datetime import datetime

from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from collector.metrics import MetricsCollector
from collector.writer import Writer
from control.access import Tokens
from control.api.dead_letters import dead_letter_routes
from control.api.doors import Doors
from control.api.events import Intake, events_route
from control.api.explaining import explaining_routes
from control.api.problems import install, problem
from control.api.reading import Reading
from control.api.routes import acting_routes, reading_routes
from control.api.scaling import scaling_routes

API_TITLE = "Tepat"


def create_app(
    reading: Reading, writer: Writer, intake: Intake, doors: Callable[[ASGIApp], Doors], now: Callable[[], datetime]
) -> ASGIApp:
    """The whole ASGI application of a ledger process."""
    app = FastAPI(title=API_TITLE, version=reading.version, redoc_url=None)
    install(app)
    app.include_router(reading_routes(reading))
    app.include_router(explaining_routes(reading))
    app.include_router(scaling_routes(reading))
    app.include_router(acting_routes(reading.queue))
    app.include_router(dead_letter_routes(reading))
    app.router.routes.append(events_route(writer, intake))
    _process_routes(app, reading, writer, now)
    return doors(app)


def doors_for(tokens: Tokens, bound: str, names: frozenset[str]) -> Callable[[ASGIApp], Doors]:
    """What wraps the application: `bound` is the host it listens on, `names` the host names it answers to."""
    return lambda app: Doors(app, tokens, bound, names)


def _process_routes(app: FastAPI, reading: Reading, writer: Writer, now: Callable[[], datetime]) -> None:
    metrics = MetricsCollector(lambda: reading.snapshot(now()), CollectorRegistry())

    @app.get("/healthz", tags=["process"])
    async def healthz() -> dict[str, str]:
        """Alive."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["process"], response_model=None)
    async def readyz() -> dict[str, str] | Response:
        """Stores reachable, writing, not draining."""
        if not writer.alive:
            return problem(503, "the writer has stopped: the service is going down or has not begun")
        try:
            await run_in_threadpool(reading.check)
        except Exception as error:  # noqa: BLE001 - whatever it is, the service is not ready
            return problem(503, f"a store can't be read: {type(error).__name__}")
        return {"status": "ready"}

    @app.get("/metrics", tags=["process"], response_class=Response)
    def scrape(request: Request) -> Response:
        """The numbers as Prometheus metrics."""
        body, kind = metrics.render(request.headers.get("accept"))
        return Response(body, headers={"Content-Type": kind})
