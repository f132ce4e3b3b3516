"""What does the queue hold of a dead letter that no event carries: its definition's version, its command, all its
output? Reads only; `endings.py` sends letters round again or puts them away.
"""

from dataclasses import dataclass

from sqlalchemy import Engine, select

from scheduler.database import read
from scheduler.jobs import Job
from scheduler.registry import JobReader
from scheduler.tables import runs


@dataclass(frozen=True, slots=True)
class Held:
    """A dead letter's row. `job` is the definition that the run was planned under, not today's."""

    version: int
    job: Job
    output: str


def held(engine: Engine, run_id: str) -> Held | None:
    """The dead letter as this queue holds it; None when the run is no dead letter of this queue (any more)."""
    with read(engine) as connection:
        query = select(runs).where(runs.c.run_id == run_id, runs.c.dead_since.is_not(None))
        row = connection.execute(query).mappings().first()
        if row is None:
            return None
        return Held(row["version"], JobReader().get(connection, row["job"], row["version"]), row["output_tail"])
