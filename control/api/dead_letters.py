"""The routes about dead letters: which there are, the whole story of one, and what a person decides about it.

What lies dead is the ledger's word, as in `/queues`; what may be sent round again is the queue's, which holds the runs.
Between the two lies the time that an event takes to arrive.
"""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, Field, StringConstraints

from collector.dead_letters import dead_page, decisions
from collector.facts import Attempt, Run
from collector.lookup import run_by_key
from collector.reports import run_item
from collector.summary import queue_of
from control.api.paging import Cursor, Limit, listed, paged
from control.api.reading import Item, Reading
from scheduler.clock import now as clock_now
from scheduler.database import read
from scheduler.dead_letters import Held, held
from scheduler.endings import discard, redrive
from scheduler.executors.traces import traceparent
from scheduler.instants import format_instant
from scheduler.jobs import Job
from scheduler.registry import current_jobs

MAX_ATTEMPTS = 200
"""Attempts of one run that are told; of more, the newest."""
Name = Annotated[str | None, Query(max_length=200)]


class Decision(BaseModel):
    """Who decides about a dead letter, and why."""

    by: str = Field(min_length=1, max_length=200)
    reason: str = Field(default="", max_length=1000)


class PutAway(Decision):
    """What is put away for good needs its reason in words: later it is all that is left to read."""

    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


def dead_letter_routes(reading: Reading) -> APIRouter:
    """Lists hold foreign text (errors, outputs, reasons): escape it for where it goes."""
    router = APIRouter(prefix="/api/v1/dead", tags=["dead letters"])

    @router.get("")
    def dead(job: Name = None, queue: Name = None, cursor: Cursor = None, limit: Limit = 100) -> Item:
        """The dead letters that wait for a person, the newest run first; those of a job or of a queue."""
        now = clock_now()
        jobs = _jobs(reading, now)
        with read(reading.ledger) as connection:
            page = paged(lambda: dead_page(connection, jobs, job, queue, cursor, limit))
        return listed([_item(run, jobs, now) for run in page.values], now, page.next)

    @router.get("/{run}")
    def story(run: str) -> Item:
        """All that is known of one dead letter: input, attempts, errors, output, trace, and what was decided."""
        now = clock_now()
        with read(reading.ledger) as connection:
            found = run_by_key(connection, run)
            told = decisions(connection, run)
        if found is None or found.dead_since is None:
            raise _no_letter(run)
        return {**_story(found, held(reading.queue, run), _jobs(reading, now), now), "decisions": told}

    _deciding_routes(router, reading)
    return router


def _deciding_routes(router: APIRouter, reading: Reading) -> None:
    @router.post("/{run}/redrive", status_code=202)
    def send_again(run: str, decision: Decision) -> Item:
        """Sends a dead letter round again, with all its retries."""
        return _decided(redrive(reading.queue, run, clock_now(), decision.by), run)

    @router.post("/{run}/discard", status_code=202)
    def put_away(run: str, decision: PutAway) -> Item:
        """Puts a dead letter away for good; its outcome stays."""
        return _decided(discard(reading.queue, run, clock_now(), decision.by, decision.reason), run)


def _decided(done: bool, run: str) -> Item:
    if not done:
        raise _no_letter(run)
    return {"run": run}


def _no_letter(run: str) -> HTTPException:
    return HTTPException(404, f"run {run[:200]!r} is no dead letter of this queue; see GET /api/v1/dead")


def _jobs(reading: Reading, now: datetime) -> dict[str, Job]:
    return {version.job.id: version.job for version in current_jobs(reading.queue, now)}


def _item(run: Run, jobs: dict[str, Job], now: datetime) -> Item:
    """A run as every list has it, and what makes it a dead letter."""
    assert run.dead_since is not None
    letter = {"queue": queue_of(run, jobs), "dead_since": format_instant(run.dead_since), "arrivals": run.dead_arrivals}
    return {**run_item(run, jobs.get(run.job), now), **letter}


def _story(run: Run, row: Held | None, jobs: dict[str, Job], now: datetime) -> Item:
    """`attempts` is their number, as in every list.

    `redrivable` false: the queue has let it go already, or it died elsewhere; then version and command are null.
    """
    item = _item(run, jobs, now)
    newest = sorted(run.attempts, key=lambda attempt: attempt.number)[-MAX_ATTEMPTS:]
    return {
        **item,
        "version": None if row is None else row.version,
        "command": None if row is None else _command(row.job),
        # The event carries a piece of the output, the queue keeps more of it.
        "output_tail": row.output if row is not None and row.output else run.output_tail,
        "attempt_list": [_attempt(attempt) for attempt in newest],
        "trace_id": traceparent(run.id, 1).split("-")[1],
        "redrivable": row is not None,
        "as_of": format_instant(now),
    }


def _command(job: Job) -> Item | None:
    """What was run. Its environment is left out, and so is the query of a request's address: they may hold secrets."""
    if job.run is not None and job.run.http is not None:
        http = job.run.http
        return {"argv": [http.method, http.url.partition("?")[0]], "shell": False, "cwd": None}
    return None if job.run is None else {"argv": list(job.run.argv), "shell": job.run.shell, "cwd": job.run.cwd}


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "outcome": attempt.outcome,
        "worker": attempt.worker,
        "started_at": _text(attempt.started_at),
        "ended_at": _text(attempt.ended_at),
        "seconds": attempt.seconds,
        "error": attempt.error,
    }


def _text(value: datetime | None) -> str | None:
    return None if value is None else format_instant(value)
