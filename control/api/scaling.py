"""The scaling signal of a queue, for KEDA's metrics-api scaler and for people. `scheduler.scaling` decides."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from control.api.reading import Item, Reading
from control.sampling import SAMPLE_SECONDS, Sample, StaleError, scaling_item
from scheduler.clock import now as clock_now
from scheduler.scaling import MAX_AGE, MOST_REPLICAS, PER_REPLICA, Limits

LONGEST_AGE = 86_400.0 * 366
Slots = Annotated[int, Query(ge=1, le=MOST_REPLICAS)]
Age = Annotated[float, Query(ge=0, le=LONGEST_AGE)]
Least = Annotated[int, Query(alias="min", ge=0, le=MOST_REPLICAS)]
Most = Annotated[int, Query(alias="max", ge=0, le=MOST_REPLICAS)]


def scaling_routes(reading: Reading) -> APIRouter:
    """One answer for one queue. What is not known is 503, because a 0 would end every worker."""
    router = APIRouter(prefix="/api/v1", tags=["read"])

    @router.get("/queues/{queue}/scaling")
    def scaling(
        queue: str,
        per_replica: Slots = PER_REPLICA,
        max_age: Age = MAX_AGE,
        least: Least = 0,
        most: Most = MOST_REPLICAS,
    ) -> Item:
        """How much lies before a queue's workers, and how many of them it wants."""
        if least > most:
            raise HTTPException(422, f"min: {least} is above max, {most}; swap them")
        sample = _sample(reading)
        load = sample.queues.get(queue)
        if load is None:
            raise HTTPException(404, f"no job names a queue {queue[:100]!r}; see `queue` in GET /api/v1/jobs")
        if load.blind:
            raise _unknown(load.blind)
        limits = Limits(per_replica=per_replica, max_age=max_age, least=least, most=most)
        return scaling_item(load, limits, sample)

    return router


def _sample(reading: Reading) -> Sample:
    try:
        return reading.load(clock_now())
    except StaleError as error:
        raise _unknown(str(error)) from None


def _unknown(why: str) -> HTTPException:
    text = f"the queue's load is not known: {why}; keep the number of workers until it is"
    return HTTPException(503, text, headers={"Retry-After": f"{SAMPLE_SECONDS:.0f}"})
