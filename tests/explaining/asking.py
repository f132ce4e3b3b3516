"""A job of a schedule, and what is said about an instant of it."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from scheduler.explaining.why import Explanation, Heard, Version, explain
from scheduler.instants import parse_instant
from scheduler.jobs import Command, Job, Schedule

OWN = Command(argv=("true",))
at = parse_instant


def job(schedule: Schedule | None, **keys: Any) -> Job:
    return Job(id="billing", schedule=schedule, **{"run": OWN, **keys})


def cron(text: str, zone: str = "UTC", **keys: Any) -> Schedule:
    return Schedule(timezone=zone, cron=text, **keys)


def ask(schedule: Schedule | None, instant: str, heard: Heard | None = None, **keys: Any) -> Explanation:
    """The explanation of an instant by a job that was always the same."""
    return explain([Version(job=job(schedule, **keys))], at(instant), heard)


def said(found: Explanation) -> str:
    """All that is said, on one line."""
    return " ".join(found.sentences)


def versions(changed_at: str, *schedules: Schedule) -> list[Version]:
    """Two versions of a job: the second is valid from the change on."""
    moment, (old, new) = at(changed_at), schedules
    return [
        Version(job=job(old), valid_until=moment),
        Version(job=replace(job(new)), valid_from=moment),
    ]


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def utc(text: str) -> datetime:
    return at(text)
