"""Which executor carries a run out: a job's `run` says it."""

from collections.abc import Callable

from scheduler.endings import Result
from scheduler.executors import command
from scheduler.executors.reports import Report
from scheduler.queue import Claimed


def execute(claimed: Claimed, place: command.Place, stop: command.Stop, say: Callable[[Report], None]) -> Result:
    """Carry one attempt out to its end, and answer how it ended."""
    run = claimed.job.run
    if run is None or run.http is None:
        return command.execute(claimed, place, stop, say)
    from scheduler.executors.http import call  # only a worker that makes requests pays for httpx

    return call(claimed, run, run.http, stop)
