"""What the pattern of a job's runs hints at. Pure. A hint moves no verdict: it says where to look."""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from collector.facts import Run
from collector.verdicts import claimed_slot
from scheduler.jobs import Job
from scheduler.timelaw import next_slot

ENOUGH = 5
"""So many runs with one offset are no accident."""
QUARTER = timedelta(minutes=15)
"""All offsets of zones are multiples of this, and so is every difference between two of them."""
SPREAD = timedelta(minutes=5)
"""How far a start may lie from the exact offset: a cron starts within a minute, a busy host a little later."""


def zone_hint(job: Job | None, missed: Collection[datetime], runs: Iterable[Run]) -> str | None:
    """`timezone_mismatch:-180` when runs keep coming 180 minutes before slots that are then missed; else None.

    Counted are runs that satisfy no slot and whose next slot is among `missed`: whoever runs the job an extra time
    each morning, and on time too, gets no hint.
    """
    if job is None or job.schedule is None or len(missed) < ENOUGH:
        return None
    offsets = Counter(offset for run in runs if (offset := _early_by(job, missed, run)) is not None)
    minutes, count = max(offsets.items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))
    return f"timezone_mismatch:{minutes}" if count >= ENOUGH else None


def _early_by(job: Job, missed: Collection[datetime], run: Run) -> int | None:
    """Minutes from the missed slot to the run's start, when it is a multiple of a quarter of an hour."""
    if run.slot is not None or run.started_at is None or claimed_slot(job, run) is not None:
        return None
    assert job.schedule is not None
    slot = next_slot(job.schedule, run.started_at)
    if slot is None or slot not in missed:
        return None
    quarters = round((run.started_at - slot) / QUARTER)
    near = abs(run.started_at - slot - quarters * QUARTER) <= SPREAD
    return quarters * 15 if near and quarters else None
