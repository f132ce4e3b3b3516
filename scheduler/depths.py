"""How much waits in each queue, and how long already? Counts rows; decides nothing."""

from datetime import datetime
from typing import Any

from sqlalchemy import Engine, and_, func, or_, select

from scheduler.database import read
from scheduler.instants import to_micros
from scheduler.tables import runs


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


def _age(since: int | None, now: datetime) -> float | None:
    return None if since is None else max(0.0, (to_micros(now) - since) / 1_000_000)
