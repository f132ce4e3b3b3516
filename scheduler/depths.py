"""How much waits in each queue, and how long already? Counts rows; decides nothing."""

from datetime import datetime
from typing import Any

from sqlalchemy import CompoundSelect, Engine, and_, func, or_, select, union_all

from scheduler.database import read
from scheduler.instants import from_micros, to_micros
from scheduler.queue_load import RATE_OVER, SOON, JobLoad, PlannerLook
from scheduler.tables import Row, definitions, marks, runs


def depths(engine: Engine, now: datetime) -> list[dict[str, Any]]:
    """Per queue: due runs that wait and the oldest's age in seconds, running ones, dead letters and their age."""
    due = and_(runs.c.state == "queued", runs.c.due_at <= to_micros(now))
    dead = runs.c.dead_since.is_not(None)
    query = select(
        runs.c.queue,
        func.count().filter(due).label("depth"),
        func.min(runs.c.due_at).filter(due).label("oldest"),
        func.count().filter(runs.c.state == "running").label("running"),
        func.count().filter(dead).label("dead_depth"),
        func.min(runs.c.dead_since).label("dead_oldest"),
    ).where(or_(runs.c.state.in_(("queued", "running")), dead))
    with read(engine) as connection:
        rows = connection.execute(query.group_by(runs.c.queue).order_by(runs.c.queue)).mappings().all()
    return [
        {"queue": row["queue"], "depth": row["depth"], "running": row["running"], "dead_depth": row["dead_depth"],
         "oldest_seconds": _age(row["oldest"], now), "dead_oldest_seconds": _age(row["dead_oldest"], now)}
        for row in rows
    ]  # fmt: skip


def job_loads(engine: Engine, now: datetime) -> tuple[list[JobLoad], dict[str, PlannerLook]]:
    """What each job has in each queue, and the planners' looks by job; both of one moment."""
    at, since, soon = to_micros(now), to_micros(now - RATE_OVER), to_micros(now + SOON)
    each = _told(since, at).subquery().c
    waits = each.state == "queued"
    due = and_(waits, each.due_at <= at)
    cleared = and_(each.slot.is_not(None), each.slot <= func.coalesce(each.cleared_until, -1))
    query = select(
        each.queue,
        each.job,
        func.count().filter(due).label("depth"),
        func.count().filter(waits, each.available_at <= at).label("ready"),
        func.count().filter(each.state == "running").label("running"),
        func.count().filter(waits, each.available_at > at, each.available_at <= soon).label("due_soon"),
        func.count().filter(each.due_at > since, each.due_at <= at, ~cleared).label("arrivals"),
        func.min(each.due_at).filter(due).label("oldest"),
    ).group_by(each.queue, each.job)
    with read(engine) as connection:
        rows = connection.execute(query).mappings().all()
        looks = connection.execute(select(marks.c.job, marks.c.looked_at, marks.c.cleared_until)).all()
    return [_load(row) for row in rows], {job: _look(looked, cleared) for job, looked, cleared in looks}


def _told(since: int, at: int) -> CompoundSelect[Any]:
    """The runs that are there, and those that fell due and ended since `since`."""
    columns = (runs.c.queue, runs.c.job, runs.c.slot, runs.c.state, runs.c.due_at, runs.c.available_at)
    found = select(*columns, marks.c.cleared_until).select_from(runs.outerjoin(marks, marks.c.job == runs.c.job))
    live = runs.c.state.in_(("queued", "running"))
    # By job and end, which is indexed: what fell due lately ended lately. A queue keeps millions of ended rows.
    ended = (runs.c.job.in_(select(definitions.c.job)), runs.c.ended_at > since, runs.c.due_at > since)
    gone = and_(*ended, runs.c.due_at <= at, runs.c.state.not_in(("queued", "running", "skipped")))
    return union_all(found.where(live), found.where(gone))


def _load(row: Row) -> JobLoad:
    oldest = row["oldest"]
    counts = {name: row[name] for name in ("depth", "ready", "running", "due_soon", "arrivals")}
    return JobLoad(
        queue=row["queue"], job=row["job"], oldest_due=None if oldest is None else from_micros(oldest), **counts
    )


def _look(looked_at: int, cleared_until: int | None) -> PlannerLook:
    cleared = None if cleared_until is None else from_micros(cleared_until)
    return PlannerLook(at=from_micros(looked_at), cleared_until=cleared)


def _age(since: int | None, now: datetime) -> float | None:
    return None if since is None else max(0.0, (to_micros(now) - since) / 1_000_000)
