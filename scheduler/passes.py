"""The scheduler's own loop: plan what is due soon, take lost runs back, forget old ones, again and again.

Decides nothing itself.
"""

from pathlib import Path

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from scheduler import clock
from scheduler.endings import sweep
from scheduler.history import forget
from scheduler.jobs import REBOOT
from scheduler.leases import Moment, clock_step, read_moment
from scheduler.orphans import end_attempt
from scheduler.planner import plan
from scheduler.queue import trigger_run
from scheduler.registry import JobReader, current_jobs
from scheduler.timelaw import parts

FORGET_SECONDS = 60.0
"""How often a scheduler looks for runs that the queue may forget."""
log = structlog.get_logger(__name__)


class Passes:
    """One scheduler's passes over one queue database. Any number of processes may make them at a time."""

    def __init__(self, engine: Engine, queue_path: Path | str) -> None:
        self._engine, self._store, self._jobs = engine, str(Path(queue_path).absolute()), JobReader()
        self._begun = False
        self._forgot_at: float | None = None
        self._looked: Moment | None = None

    def make(self) -> None:
        """One pass; the first one also runs what is due at the host's start. A busy database is said, not raised."""
        try:
            if not self._begun:
                run_at_boot(self._engine, read_moment())
                self._begun = True
            one_pass(self._engine, self._store, self._jobs, self._step())
            self._forget()
        except OperationalError as error:
            log.warning("database_unavailable", error=str(error))

    def _step(self) -> float | None:
        before, self._looked = self._looked, read_moment()
        step = None if before is None else clock_step(before, self._looked)
        if step is not None:
            log.warning("clock_step", seconds=step)
        return step

    def _forget(self) -> None:
        at = clock.monotonic()
        if self._forgot_at is None or at - self._forgot_at >= FORGET_SECONDS:
            now = clock.now()
            forget(self._engine, [version.job for version in current_jobs(self._engine, now)], now)
            self._forgot_at = at


def run_at_boot(engine: Engine, moment: Moment) -> list[str]:
    """Queue one run of each job with a schedule of `@reboot`; answers their ids.

    The key is the boot's own, so that a scheduler that starts again under the same boot starts nothing anew.
    """
    jobs = [version.job for version in current_jobs(engine, moment.now)]
    wanted = [
        job.id
        for job in jobs
        if job.enabled and job.run is not None and job.schedule is not None
        if any(part.cron == REBOOT for part in parts(job.schedule))
    ]
    return [trigger_run(engine, job, f"boot-{moment.boot_id[:12]}", moment.now) for job in wanted]


def one_pass(engine: Engine, store: str, jobs: JobReader, step: float | None = None) -> None:
    """Plan, then give lost runs back; their processes on this host are ended first.

    `step` is by how many seconds the wall clock was set since the last pass: what it passed over says so.
    """
    queued = plan(engine, clock.now(), note={} if step is None else {"clock_step": step})
    if queued:
        log.debug("planned", runs=queued)
    for run_id in sweep(engine, jobs, read_moment(), lambda run, fence: end_attempt(store, run, fence)):
        log.warning("run_lost", run=run_id)
