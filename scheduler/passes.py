"""The scheduler's own loop: plan what is due soon, take lost runs back, again and again. Decides nothing itself."""

import threading
from pathlib import Path

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from scheduler import clock
from scheduler.endings import sweep
from scheduler.leases import read_moment
from scheduler.orphans import end_attempt
from scheduler.planner import plan
from scheduler.registry import JobReader

log = structlog.get_logger(__name__)


def run_scheduler(engine: Engine, queue_path: Path | str, stop: threading.Event, every: float = 1.0) -> None:
    """Make a pass every `every` seconds until `stop` is set. Any number of processes may run this at a time."""
    store, jobs = str(Path(queue_path).absolute()), JobReader()
    while not stop.is_set():
        try:
            one_pass(engine, store, jobs)
        except OperationalError as error:
            log.warning("database_unavailable", error=str(error))
        stop.wait(every)


def one_pass(engine: Engine, store: str, jobs: JobReader) -> None:
    """Plan, then give lost runs back; their processes on this host are ended first."""
    queued = plan(engine, clock.now())
    if queued:
        log.debug("planned", runs=queued)
    for run_id in sweep(engine, jobs, read_moment(), lambda run, fence: end_attempt(store, run, fence)):
        log.warning("run_lost", run=run_id)
