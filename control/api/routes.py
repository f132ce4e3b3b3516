"""The routes that read, and the one by which a person asks for a run. Each asks `Reading` or the queue, no more."""

from datetime import datetime, timedelta
from typing import Annotated, Literal
from uuid import uuid4

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Engine

from collector.rollups import STEPS
from control.api.paging import Cursor, Limit, listed, paged
from control.api.reading import Item, Reading
from scheduler.clock import now as clock_now
from scheduler.events import RUN_ID
from scheduler.instants import parse_instant
from scheduler.queue import UnknownJobError, make_up_slot, trigger_run

LOOK_BACK = timedelta(days=1)
LOOK_AHEAD = timedelta(hours=1)
ROLLUPS_BACK = timedelta(hours=2)
MAX_BUCKETS = 3000
# A listing over a longer time would be cut by its page long before: it is refused instead of made slowly.
MAX_AHEAD = timedelta(days=31)

Outcome = Literal["queued", "running", "succeeded", "failed", "cancelled", "dead_lettered"]


class RunNow(BaseModel):
    """A run by hand. The same key again names the same run; without one a new run is made. `slot` makes one up."""

    model_config = ConfigDict(extra="forbid")

    key: str | None = Field(default=None, min_length=1, max_length=100, pattern=RUN_ID.pattern.replace("{1,200}", "+"))
    slot: str | None = Field(default=None, max_length=40)


def reading_routes(reading: Reading) -> APIRouter:
    """The lists. Every one answers `{"items": [...], "next": cursor or null, "as_of": instant}`."""
    router = APIRouter(prefix="/api/v1", tags=["read"])

    @router.get("/jobs")
    def jobs() -> Item:
        """Every job with its numbers of the last day."""
        now = clock_now()
        return listed(reading.jobs(now), now)

    @router.get("/slots")
    def slots(
        since: Annotated[str | None, Query(alias="from")] = None,
        until: str | None = None,
        job: str | None = None,
        cursor: Cursor = None,
        limit: Limit = 1000,
    ) -> Item:
        """Slots in `(from, until]`, ascending; by default the last day and the hour to come."""
        now = clock_now()
        start, end = _instant("from", since, now - LOOK_BACK), _instant("until", until, now + LOOK_AHEAD)
        if end > now + MAX_AHEAD:
            raise HTTPException(422, f"until: more than {MAX_AHEAD.days} days ahead; ask for a nearer instant")
        page = paged(lambda: reading.slots(now, start, end, job, cursor, limit))
        return listed(page.values, now, page.next)

    @router.get("/runs")
    def runs(outcome: Outcome | None = None, job: str | None = None, cursor: Cursor = None, limit: Limit = 100) -> Item:
        """Runs, the newest first."""
        now = clock_now()
        page = paged(lambda: reading.runs(now, outcome, job, cursor, limit))
        return listed(page.values, now, page.next)

    @router.get("/rollups")
    def rollups(
        job: str,
        since: Annotated[str | None, Query(alias="from")] = None,
        until: str | None = None,
        step: Literal["1m", "1h", "1d"] = "1m",
    ) -> Item:
        """A job's slots and runs summed to steps of UTC time in `[from, until)`; by default the last two hours."""
        now = clock_now()
        start, end = _instant("from", since, now - ROLLUPS_BACK), _instant("until", until, now)
        if end - start > MAX_BUCKETS * STEPS[step]:
            raise HTTPException(422, f"from: more than {MAX_BUCKETS} steps of {step}; ask for less or a longer step")
        return listed(reading.rollups(job, start, end, STEPS[step]), now)

    _state_routes(router, reading)
    return router


def _state_routes(router: APIRouter, reading: Reading) -> None:
    """What is so now, rather than what happened."""

    @router.get("/queues")
    def queues() -> Item:
        """Every queue with its depth, and its dead letters."""
        now = clock_now()
        return listed(reading.queues(now), now)

    @router.get("/slos")
    def slos() -> Item:
        """Every objective with its budget and burn rates."""
        now = clock_now()
        return listed(reading.slos(now), now)

    @router.get("/alerts")
    def alerts() -> Item:
        """The episodes, those that fire first, with their notices."""
        now = clock_now()
        return listed(reading.alerts(), now)

    @router.get("/status")
    def status() -> Item:
        """How the service itself is."""
        return reading.status(clock_now())


def acting_routes(queue: Engine) -> APIRouter:
    """Run now."""
    router = APIRouter(prefix="/api/v1", tags=["act"])

    @router.post("/jobs/{job}/runs", status_code=202)
    def run_now(job: str, wanted: RunNow | None = None) -> Item:
        """Puts a run of the job, or the run of a slot that was passed over, in the queue at once."""
        wanted, now = wanted or RunNow(), clock_now()
        try:
            if wanted.slot is not None:
                return {"run": make_up_slot(queue, job, _instant("slot", wanted.slot, now), now)}
            return {"run": trigger_run(queue, job, wanted.key or uuid4().hex, now)}
        except UnknownJobError as error:
            raise HTTPException(404, str(error)) from None
        except ValueError as error:
            raise HTTPException(409, str(error)) from None

    return router


def _instant(field: str, text: str | None, default: datetime) -> datetime:
    if text is None:
        return default
    try:
        # A plus sign in a query is a space unless it was escaped: an offset written by hand is understood anyway.
        return parse_instant(text.replace(" ", "+"))
    except (ValueError, OverflowError) as error:
        raise HTTPException(422, f"{field}: {error}") from None
