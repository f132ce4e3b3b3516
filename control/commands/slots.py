"""`tepat slots`: the slots of a job or of a cron line in `(from, to]`, one UTC instant a line. Reads no clock."""

import json
from argparse import ArgumentParser, Namespace
from datetime import datetime, timedelta
from pathlib import Path

from control import inputs
from control.commands import UsageError
from scheduler.instants import format_instant
from scheduler.jobs import Schedule
from scheduler.timelaw import ScheduleError, check_cron, next_slot, slots_between

MAX_SLOTS = 1_000_000


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat slots`."""
    parser.add_argument("job", nargs="?", help="a job of the folder")
    parser.add_argument("--dir", type=Path, default=Path(), metavar="DIR", help="the folder of job files (default: .)")
    parser.add_argument("--cron", metavar="EXPR", help="a cron expression instead of a job")
    parser.add_argument("--tz", metavar="ZONE", help="its IANA time zone, such as Asia/Jakarta")
    parser.add_argument("--dst", choices=["once"], default="once", help="what clock changes do (default: once)")
    parser.add_argument("--from", dest="since", required=True, metavar="T", help="slots after this instant (RFC 3339)")
    parser.add_argument("--to", dest="until", required=True, metavar="T", help="up to and including this one")
    parser.add_argument("--json", action="store_true", help='{"slots": [...], "skipped": []}')


def run(arguments: Namespace) -> int:
    """Print the slots; 2 when the job, the expression, the zone or an instant can't be used."""
    since, until = inputs.instant("--from", arguments.since), inputs.instant("--to", arguments.until)
    if until < since:
        raise UsageError(f"--to {arguments.until} is before --from {arguments.since}; swap them")
    slots = [format_instant(slot) for slot in _between(_schedule(arguments), since, until)]
    if arguments.json:
        print(json.dumps({"slots": slots, "skipped": []}))
    else:
        for slot in slots:
            print(slot)
    return 0


def _schedule(arguments: Namespace) -> Schedule:
    if (arguments.job is None) == (arguments.cron is None):
        raise UsageError("give either a JOB or --cron EXPR --tz ZONE")
    return _of_job(arguments) if arguments.job else _of_cron(arguments.cron, arguments.tz)


def _of_cron(text: str, zone: str | None) -> Schedule:
    from scheduler.zones import check_zone

    if not zone:
        raise UsageError(
            "--cron needs --tz ZONE, such as --tz Asia/Jakarta: a time of day is an instant only in a zone"
        )
    try:
        check_cron(text)
        check_zone(zone)
    except ScheduleError as error:
        raise UsageError(f"--cron: {error}") from None
    except ValueError as error:
        raise UsageError(f"--tz: {zone!r} {error}") from None
    return Schedule(timezone=zone, cron=text)


def _of_job(arguments: Namespace) -> Schedule:
    jobs = {job.id: job for job in inputs.definitions(arguments.dir).jobs}
    job = jobs.get(arguments.job)
    if job is None:
        known = ", ".join(sorted(jobs)[:20]) or "none"
        raise UsageError(f"{arguments.job!r} is not a job of {arguments.dir}; it has: {known}")
    if job.schedule is None:
        raise UsageError(f"{job.id} has no schedule, so it has no slots")
    return job.schedule


def _between(schedule: Schedule, since: datetime, until: datetime) -> list[datetime]:
    """In pieces of a day, so that a wrong year is refused before it fills the memory."""
    slots: list[datetime] = []
    first = next_slot(schedule, since)
    while first is not None and first <= until:
        end = min(first + timedelta(days=1), until)
        slots += [first, *slots_between(schedule, first, end)]
        if len(slots) > MAX_SLOTS:
            raise UsageError(f"there are more than {MAX_SLOTS} slots in that range; ask for a shorter one")
        first = next_slot(schedule, end)
    return slots
