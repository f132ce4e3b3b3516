"""What is doubtful about jobs that are well-formed. Pure: jobs and a year in, findings out; no clock, no files.

Each rule looks at one job and knows nothing of files; only the count of jobs that start together looks at all of them.
Every code has a section in docs/lint.md.
"""

from collections.abc import Iterator, Mapping, Sequence

from scheduler.findings import Finding
from scheduler.jobs import Job
from scheduler.linting.clock import clock_notes, zone_notes
from scheduler.linting.codes import Note
from scheduler.linting.collisions import collisions
from scheduler.linting.commands import command_notes
from scheduler.linting.cron import cron_notes
from scheduler.linting.runs import run_notes
from scheduler.linting.slots import slot_notes
from scheduler.timelaw import parts

_NOTHING: Mapping[str, float] = {}


def job_findings(
    jobs: Sequence[Job], sources: Mapping[str, str], year: int, measured: Mapping[str, float] = _NOTHING
) -> tuple[Finding, ...]:
    """Findings about the jobs in their order, then about jobs that start together.

    `sources` says where a job stands, by its id: `jobs.yaml#billing`. `year` is the one whose dates and clock changes
    are looked at. `measured` holds durations in seconds that 95 of 100 runs stay within; rules about them are silent
    for a job without one.
    """
    found = [
        Finding(note.level, note.code, sources.get(job.id, job.id), note.message)
        for job in jobs
        for note in dict.fromkeys(_notes(job, year, measured.get(job.id)))
    ]
    return (*found, *collisions(jobs, sources, year))


def _notes(job: Job, year: int, measured: float | None) -> Iterator[Note]:
    yield from slot_notes(job, year)
    for part in parts(job.schedule) if job.schedule is not None else ():
        yield from cron_notes(part, year)
        yield from clock_notes(part, year)
    yield from zone_notes(job)
    yield from run_notes(job, year, measured)
    if job.run is not None:
        yield from command_notes(job.run)
