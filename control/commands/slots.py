"""`tepat slots`: the slots of a job or of a cron line in `(from, to]`, one UTC instant a line. Reads no clock.

The same slots as JSON, as an iCalendar file for people, or counted by the minute over all jobs (`--collisions`).
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import get_args

from control import inputs
from control.commands import UsageError
from scheduler.day_times import FIRST_YEAR, LAST_YEAR
from scheduler.instants import format_instant
from scheduler.jobs import REBOOT, Dialect, Dst, HolidayPolicy, Job, Schedule
from scheduler.timelaw import ScheduleError, check_cron, next_slot, parts, skipped_by, slots_between

MAX_SLOTS = 1_000_000
ICALENDAR = ""  # what `--calendar` without a name stands for: no calendar can be called so


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat slots`."""
    parser.add_argument("job", nargs="?", help="a job of the folder")
    parser.add_argument("--dir", type=Path, default=Path(), metavar="DIR", help="the folder of job files (default: .)")
    parser.add_argument("--cron", metavar="EXPR", help="a cron expression instead of a job")
    parser.add_argument("--tz", metavar="ZONE", help="its IANA time zone, such as Asia/Jakarta")
    parser.add_argument("--dst", choices=get_args(Dst), help="what clock changes do to it (default: once)")
    parser.add_argument("--dialect", choices=get_args(Dialect), help="how it is written (default: crontab)")
    named = "a calendar of the folder for --cron; without a name the same as --ical"
    parser.add_argument("--calendar", nargs="?", const=ICALENDAR, metavar="NAME", help=named)
    holidays = "what the calendar does to --cron (default: skip)"
    parser.add_argument("--holidays", choices=get_args(HolidayPolicy), help=holidays)
    parser.add_argument("--from", dest="since", required=True, metavar="T", help="slots after this instant (RFC 3339)")
    parser.add_argument("--to", dest="until", required=True, metavar="T", help="up to and including this one")
    parser.add_argument("--collisions", action="store_true", help="when most jobs start at once, where there is room")
    parser.add_argument("--ical", action="store_true", help="print an iCalendar file (RFC 5545)")
    parser.add_argument("--json", action="store_true", help='{"slots": [...], "skipped": [{"slot", "reason"}]}')


def run(arguments: Namespace) -> int:
    """Print the slots; 2 when the job, the expression, the zone or an instant can't be used."""
    since, until = _instant("--from", arguments.since), _instant("--to", arguments.until)
    if until < since:
        raise UsageError(f"--to {arguments.until} is before --from {arguments.since}; swap them")
    _check_output(arguments)
    if arguments.collisions:
        return _print_collisions(arguments, since, until)
    job = _job(arguments)
    owed, skipped = _sorted(job, since, until)
    if _wants_icalendar(arguments):
        _print_icalendar(job, owed, skipped)
    elif arguments.json:
        told = [{"slot": format_instant(slot), "reason": reason} for slot, reason in skipped.items()]
        print(json.dumps({"slots": [format_instant(slot) for slot in owed], "skipped": told}))
    else:
        _print_lines(owed, len(skipped))
    return 0


def _instant(option: str, text: str) -> datetime:
    found = inputs.instant(option, text)
    if not FIRST_YEAR <= found.year < LAST_YEAR:
        raise UsageError(f"{option} {text}: give a year from {FIRST_YEAR} to {LAST_YEAR - 1}; others have no slots")
    return found


def _wants_icalendar(arguments: Namespace) -> bool:
    return bool(arguments.ical) or arguments.calendar == ICALENDAR


def _check_output(arguments: Namespace) -> None:
    """Refuses options that contradict each other, or that nothing would read."""
    if _wants_icalendar(arguments) and (arguments.json or arguments.collisions):
        raise UsageError("an iCalendar file is one output, --json and --collisions are others; choose one")
    if arguments.collisions and arguments.cron:
        raise UsageError("--collisions counts the jobs of --dir, and --cron is none; leave --cron out")
    if arguments.cron is None:
        given = [name for name in ("tz", "dst", "dialect", "holidays") if getattr(arguments, name)]
        given += ["calendar"] if arguments.calendar else []
        if given:
            listed = ", ".join(f"--{name}" for name in given)
            remedy = "a job has its own in its file" + ("; for iCalendar write --ical" if "calendar" in given else "")
            raise UsageError(f"{listed} is only for --cron: {remedy}")


def _job(arguments: Namespace) -> Job:
    if (arguments.job is None) == (arguments.cron is None):
        raise UsageError("give either a JOB or --cron EXPR --tz ZONE")
    return _of_folder(arguments.job, arguments.dir) if arguments.job else _of_cron(arguments)


def _of_cron(arguments: Namespace) -> Job:
    from scheduler.zones import check_zone

    text, zone = arguments.cron, arguments.tz
    if text.strip().lower() == REBOOT:
        raise UsageError(f"--cron {text} is a run at the host's start: it has no slots")
    if not zone:
        raise UsageError(
            "--cron needs --tz ZONE, such as --tz Asia/Jakarta: a time of day is an instant only in a zone"
        )
    dialect: Dialect = arguments.dialect or "crontab"
    try:
        check_cron(text, dialect)
        check_zone(zone)
    except ScheduleError as error:
        raise UsageError(f"--cron: {error}") from None
    except ValueError as error:
        raise UsageError(f"--tz: {zone!r} {error}") from None
    schedule = Schedule(timezone=zone, cron=text, dialect=dialect, dst=arguments.dst or "once")
    # Its id is its content: calendars of two lines, joined in one program, keep their events apart.
    key = sha256(repr((text, zone, dialect)).encode()).hexdigest()[:8]
    return Job(id=f"cron-{key}", description=f"{text} ({zone})", schedule=_with_calendar(arguments, schedule))


def _with_calendar(arguments: Namespace, schedule: Schedule) -> Schedule:
    if not arguments.calendar:
        if arguments.holidays:
            raise UsageError(f"--holidays {arguments.holidays} needs --calendar NAME, a calendar of --dir")
        return schedule
    calendars = inputs.definitions(arguments.dir).calendars
    if arguments.calendar not in calendars:
        known = ", ".join(sorted(calendars)[:20]) or "none"
        raise UsageError(f"--calendar: {arguments.calendar!r} is not a calendar of {arguments.dir}; it has: {known}")
    return replace(schedule, calendar=calendars[arguments.calendar], holidays=arguments.holidays or "skip")


def _of_folder(name: str, folder: Path) -> Job:
    job = _known(inputs.definitions(folder).jobs, name, folder)
    if job.schedule is None:
        raise UsageError(f"{job.id} has no schedule, so it has no slots")
    if all(part.cron == REBOOT for part in parts(job.schedule)):
        raise UsageError(f"{job.id} runs at the host's start (`@reboot`), so it has no slots")
    return job


def _known(jobs: Sequence[Job], name: str, folder: Path) -> Job:
    found = next((job for job in jobs if job.id == name), None)
    if found is None:
        known = ", ".join(sorted(job.id for job in jobs)[:20]) or "none"
        raise UsageError(f"{name!r} is not a job of {folder}; it has: {known}")
    return found


def _sorted(job: Job, since: datetime, until: datetime) -> tuple[list[datetime], dict[datetime, str]]:
    """The owed slots, and those that the definition excuses, with the reason."""
    assert job.schedule is not None
    owed: list[datetime] = []
    skipped: dict[datetime, str] = {}
    for slot in _between(job.schedule, since, until):
        reason = skipped_by(job, slot)
        if reason is None:
            owed.append(slot)
        else:
            skipped[slot] = reason
    return owed, skipped


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


def _print_lines(owed: Sequence[datetime], skipped: int) -> None:
    for slot in owed:
        print(format_instant(slot))
    if skipped:
        says = "1 more slot is skipped" if skipped == 1 else f"{skipped} more slots are skipped"
        print(f"{says} by the definition; --json says which, and why", file=sys.stderr)


def _print_icalendar(job: Job, owed: Sequence[datetime], skipped: Mapping[datetime, str]) -> None:
    from scheduler.icalendar import CalendarTextError, calendar_text

    try:
        # As it stands: the file's own line ends are CRLF already.
        print(calendar_text(job, owed, skipped), end="")
    except CalendarTextError as error:
        raise UsageError(str(error)) from None


def _print_collisions(arguments: Namespace, since: datetime, until: datetime) -> int:
    from control.crowding import crowding_json, crowding_table
    from scheduler.collisions import TooManyStartsError, collisions

    jobs = inputs.definitions(arguments.dir).jobs
    if arguments.job is not None:
        _known(jobs, arguments.job, arguments.dir)
    try:
        found = collisions(jobs, since, until, only=arguments.job)
    except TooManyStartsError as error:
        raise UsageError(str(error)) from None
    print(json.dumps(crowding_json(found), indent=2) if arguments.json else crowding_table(found))
    return 0
