"""How long do the runs of each job take on average? Reads in the caller's transaction; decides nothing."""

from datetime import datetime

from sqlalchemy import Connection

from collector.reports import WINDOW
from scheduler.instants import to_micros


def mean_durations(connection: Connection, now: datetime) -> dict[str, float]:
    """Mean seconds by job, of the last day's runs whose length is known; cancelled ones say nothing of it."""
    query = (
        "SELECT job, avg(duration) AS mean FROM runs"
        " WHERE ended_at > ? AND duration IS NOT NULL AND outcome <> 'cancelled' GROUP BY job"
    )
    return {row.job: row.mean for row in connection.exec_driver_sql(query, (to_micros(now - WINDOW),))}
