"""The routes that say why: of an instant of a job, of a run. They gather; `scheduler.explaining.why` explains."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from collector.facts import Run, Verdict
from collector.lookup import run_by_key, verdict_at, watched_since
from collector.verdicts import claimed_slot
from control.api.reading import Item, Reading
from scheduler.clock import now as clock_now
from scheduler.database import read
from scheduler.events import run_id
from scheduler.explaining.why import (
    Explanation,
    Heard,
    OutOfRangeError,
    RunFacts,
    SlotFacts,
    Version,
    check_range,
    explain,
    explain_run,
    meant,
)
from scheduler.instants import format_instant, parse_instant
from scheduler.registry import job_history
from scheduler.waiting import waits_for

At = Annotated[str, Query(max_length=40)]


def explaining_routes(reading: Reading) -> APIRouter:
    """Both answer `{"job", "run", "at", "slot", "owed", "code", "sentences", "as_of"}`; sentences hold foreign text."""
    router = APIRouter(prefix="/api/v1", tags=["read"])

    @router.get("/jobs/{job}/why")
    def why(job: str, at: At) -> Item:
        """Why the job ran, or did not run, at an instant."""
        versions, now, moment = _versions(reading, job), clock_now(), _instant(at)
        if not versions:
            raise HTTPException(404, f"no job {job[:100]!r} is defined; apply the job files, or check the id")
        found = meant(versions, moment)
        heard = Heard(now=now) if found is None else _heard(reading, job, found.slot, None, now)
        return _item(job, heard, explain(versions, moment, heard), now)

    @router.get("/runs/{run}/why")
    def why_run(run: str) -> Item:
        """What became of a run, and what it waits for."""
        now = clock_now()
        with read(reading.ledger) as connection:
            known = run_by_key(connection, run)
        return _unheard(reading, run, now) if known is None else _about(reading, known, now)

    return router


def _about(reading: Reading, run: Run, now: datetime) -> Item:
    versions = _versions(reading, run.job)
    claimed = ((one, claimed_slot(one.job, run)) for one in versions)
    slot = next((at for one, at in claimed if at is not None and one.holds(at)), run.slot)
    if slot is None or not versions or not _is_in_range(slot):
        facts = _run_facts(reading, run, now)
        return _item(run.job, Heard(now=now, run=facts), explain_run(run.job, versions, run.first_at, facts), now)
    heard = _heard(reading, run.job, slot, run, now)
    return _item(run.job, heard, explain(versions, slot, heard), now)


def _is_in_range(slot: datetime) -> bool:
    # A sender may have named any slot at all; about one that no schedule can have, only the run can be told.
    try:
        return check_range(slot) is slot
    except OutOfRangeError:
        return False


def _unheard(reading: Reading, run: str, now: datetime) -> Item:
    """About a run that the ledger has not heard of: it may be in the queue, and its id may name a slot."""
    waits = waits_for(reading.queue, run, now)
    facts = RunFacts(id=run, outcome="queued", waits=waits) if waits else None
    job, slot = _named_in(run)
    versions = _versions(reading, job)
    if slot is not None and versions:
        heard = replace(_heard(reading, job, slot, None, now), run=facts)
        return _item(job, heard, explain(versions, slot, heard), now)
    if facts is None:
        raise HTTPException(404, f"nothing was heard of a run {run[:200]!r}; see GET /api/v1/runs")
    return _item(job, Heard(now=now, run=facts), explain_run(job, versions, now, facts), now)


def _named_in(run: str) -> tuple[str, datetime | None]:
    """The job and the slot that a run's id names; None for a triggered run, and for what is no instant."""
    job, at, text = run.partition("@")
    try:
        return job.partition("!")[0], check_range(parse_instant(text)) if at else None
    except (ValueError, OverflowError):
        return job.partition("!")[0], None


def _versions(reading: Reading, job: str) -> list[Version]:
    return [
        Version(job=one.job, valid_from=one.valid_from, valid_until=one.valid_until)
        for one in job_history(reading.queue, job)
    ]


def _heard(reading: Reading, job: str, slot: datetime, run: Run | None, now: datetime) -> Heard:
    """The verdict of a slot, and a run: the one that is asked about, else the one that stands for it or is planned."""
    with read(reading.ledger) as connection:
        verdict, since = verdict_at(connection, job, slot), watched_since(connection)
        if run is None:
            name = verdict.run if verdict is not None and verdict.run is not None else run_id(job, slot)
            run = run_by_key(connection, name)
    facts = None if run is None else _run_facts(reading, run, now)
    return Heard(now=now, since=since, verdict=None if verdict is None else _slot_facts(verdict), run=facts)


def _slot_facts(verdict: Verdict) -> SlotFacts:
    return SlotFacts(
        kind=verdict.kind,
        reason=verdict.reason,
        limit=verdict.limit,
        started_at=verdict.started_at,
        run=verdict.run,
    )


def _run_facts(reading: Reading, run: Run, now: datetime) -> RunFacts:
    error = run.error or {}
    words = [str(error[key]) for key in ("kind", "message") if error.get(key)]
    facts = RunFacts(
        id=run.id,
        outcome=run.outcome,
        queued_at=run.queued_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
        attempts=run.starts,
        skip_reason=run.skip_reason,
        skipped_at=run.skipped_at,
        error=": ".join(words),
    )
    # A run that waits for its next attempt has begun already, so the ledger calls it running.
    waits = waits_for(reading.queue, run.id, now) if run.outcome in ("queued", "running") else ""
    return replace(facts, waits=waits)


def _item(job: str, heard: Heard, found: Explanation, now: datetime) -> Item:
    return {
        "job": job,
        "run": None if heard.run is None else heard.run.id,
        "at": format_instant(found.at),
        "slot": None if found.slot is None else format_instant(found.slot),
        "owed": found.owed,
        "code": found.code,
        "sentences": list(found.sentences),
        "as_of": format_instant(now),
    }


def _instant(text: str) -> datetime:
    try:
        # A plus sign in a query is a space unless it was escaped: an offset written by hand is understood anyway.
        return check_range(parse_instant(text.replace(" ", "+")))
    except (ValueError, OverflowError) as error:
        raise HTTPException(422, f"at: {error}") from None
