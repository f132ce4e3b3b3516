"""Asks lint about one job: the codes, or the whole findings."""

from datetime import timedelta

from scheduler.findings import Finding
from scheduler.jobs import Command, Dialect, Dst, Job, OnTime, Schedule
from scheduler.linting.jobs import job_findings

QUIET = Job(
    id="quiet",
    schedule=Schedule(timezone="UTC", cron="0 9 * * *"),
    on_time=OnTime(),
    run=Command(argv=("true",), timeout=timedelta(seconds=1)),
)
"""A job that nothing is to be said about."""


def findings(job: Job, year: int = 2026, measured: float | None = None) -> list[Finding]:
    """What lint says of one job."""
    known = {} if measured is None else {job.id: measured}
    return list(job_findings([job], {job.id: f"jobs.yaml#{job.id}"}, year, known))


def codes(job: Job, year: int = 2026, measured: float | None = None) -> list[str]:
    """The codes alone."""
    return [finding.code for finding in findings(job, year, measured)]


def message(job: Job, year: int = 2026, measured: float | None = None) -> str:
    """The words of the only finding there is."""
    (finding,) = findings(job, year, measured)
    return finding.message


def cron(text: str, zone: str = "UTC", dialect: Dialect = "crontab", dst: Dst = "once") -> Job:
    """The quiet job with another cron text."""
    return Job(id="job", schedule=Schedule(timezone=zone, cron=text, dialect=dialect, dst=dst), run=QUIET.run)
