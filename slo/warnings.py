"""What is doubtful about objectives, though nothing is wrong with their form. Pure: no clock, no files.

Answers: does an objective promise something that its jobs' slots can't show, or that its alert can't say?
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from scheduler.findings import Finding
from scheduler.instants import format_duration
from scheduler.jobs import Job, Schedule
from scheduler.timelaw import skipped_by, slots_between
from slo.promises import Objective, selects
from slo.windows import reachable, scaled

# Where a window is counted from when nothing else is said: a fixed instant, so that lint says the same every day.
REFERENCE = datetime(2026, 1, 1, tzinfo=UTC)
_STEP = timedelta(days=1)


def lint_warnings(
    objectives: Sequence[Objective], jobs: Sequence[Job], at: datetime = REFERENCE
) -> tuple[Finding, ...]:
    """Warnings about the objectives over these jobs. `at` is where the counted window begins."""
    return tuple(finding for objective in objectives for finding in _about(objective, jobs, at))


def slots_in_window(jobs: Iterable[Job], start: datetime, window: timedelta, enough: int) -> int:
    """Slots that the jobs owe in `(start, start + window]`, counted no further than `enough`."""
    total = 0
    for job in jobs:
        if job.schedule is not None and total < enough:
            total += _owed(job, job.schedule, start, start + window, enough - total)
    return min(total, enough)


def _about(objective: Objective, jobs: Sequence[Job], at: datetime) -> Iterator[Finding]:
    if objective.bare_percent:
        written = f"{float(objective.objective * 100):.10g}"
        yield _warning(
            objective, "objective_without_percent", f'objective {written} is read as {written} %; write "{written}%"'
        )
    chosen = [job for job in jobs if job.enabled and selects(objective, job)]
    if not chosen:
        keys = ", ".join(f"{key}: {' or '.join(values)}" for key, values in objective.select.items()) or "{}"
        yield _warning(objective, "selects_no_job", f"select {{{keys}}} fits no enabled job, so nothing is measured")
    elif all(job.schedule is not None for job in chosen):
        yield from _small_budget(objective, chosen, at)
    elif objective.indicator == "on_time" and all(job.schedule is None for job in chosen):
        yield _warning(objective, "selects_no_slot", "no selected job has a schedule, so no slot can be on time")
    yield from _unreachable(objective)


def _small_budget(objective: Objective, chosen: Sequence[Job], at: datetime) -> Iterator[Finding]:
    share = 1 - objective.objective
    needed = math.ceil(1 / share)
    count = slots_in_window(chosen, at, objective.window, needed)
    if count < needed:
        message = (
            f"{_percent(objective.objective)} of {count} slots allows {_number(share * count)} misses: "
            f"the first miss spends the budget; {needed} slots are needed for one"
        )
        yield _warning(objective, "budget_under_one", message)


def _unreachable(objective: Objective) -> Iterator[Finding]:
    if objective.policy is None:
        return
    highest = 1 / (1 - objective.objective)
    for pair in scaled(objective.window):
        if not reachable(pair, objective.objective):
            message = (
                f"the {pair.severity} pair {format_duration(pair.long)} / {format_duration(pair.short)} needs a burn "
                f"rate above {_number(pair.factor)}, but at {_percent(objective.objective)} it never passes "
                f"{_number(highest)}: the pair is left out"
            )
            yield _warning(objective, "unreachable_factor", message)


def _owed(job: Job, schedule: Schedule, start: datetime, end: datetime, enough: int) -> int:
    if schedule.every is not None and not (schedule.also or schedule.holidays or job.window):
        return (end - schedule.anchor) // schedule.every - (start - schedule.anchor) // schedule.every
    total = 0
    # A day at a time: a cron line of every minute has 43,200 slots in a month, and mostly a few hundred settle it.
    while start < end and total < enough:
        until = min(start + _STEP, end)
        total += sum(skipped_by(job, slot) is None for slot in slots_between(schedule, start, until))
        start = until
    return total


def _warning(objective: Objective, code: str, message: str) -> Finding:
    return Finding("warning", code, objective.source or objective.id, message)


def _percent(ratio: Fraction) -> str:
    return f"{float(ratio * 100):.10g} %"


def _number(value: Fraction) -> str:
    return f"{float(value):.4g}"
