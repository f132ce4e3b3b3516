"""Which job versions are there? Read from the queue database, and only when something there has changed."""

from collections.abc import Sequence

from sqlalchemy import Engine

from scheduler.database import read
from scheduler.registry import JobVersion, job_history

# No version is ever rewritten: a new one adds a row, an ended one sets its end. So these three numbers tell.
_SIGNATURE = "SELECT count(*), count(valid_until), coalesce(sum(valid_until), 0) FROM definitions"


class VersionFeed:
    """Answers every job version the first time and after each change, else None."""

    def __init__(self, queue: Engine) -> None:
        self._queue = queue
        self._seen: tuple[int, ...] | None = None

    def __call__(self) -> Sequence[JobVersion] | None:
        """Every version of every job, or None when nothing changed since the last call."""
        with read(self._queue) as connection:
            signature = tuple(connection.exec_driver_sql(_SIGNATURE).one())
        if signature == self._seen:
            return None
        history = job_history(self._queue)
        self._seen = signature
        return history
