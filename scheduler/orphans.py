"""Ends what a killed worker left running: processes whose attempt is no longer theirs to carry out."""

from sqlalchemy import Engine, select

from scheduler.database import read
from scheduler.processes import Marked, is_dead, kill_marked
from scheduler.tables import runs


def end_attempt(store: str, run_id: str, fence: int) -> None:
    """Kill every process of a run up to that fence on this host: before it is given to anybody else."""
    kill_marked(store, lambda one: one.run_id == run_id and one.fence <= fence)


def end_orphans(engine: Engine, store: str) -> int:
    """Kill processes of runs whose worker is gone or whose fence is stale; answers how many were hit."""
    return kill_marked(store, lambda one: is_dead(one.incarnation) or not _holds(engine, one))


def _holds(engine: Engine, one: Marked) -> bool:
    # Asked after the process was seen: a claim is committed before its command starts, so a live one is always found.
    query = select(runs.c.run_id).where(
        runs.c.run_id == one.run_id, runs.c.fence == one.fence, runs.c.state == "running"
    )
    with read(engine) as connection:
        return connection.execute(query).first() is not None
