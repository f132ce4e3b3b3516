"""What a checked job is: frozen values that everything else trusts. Files become these in `definitions.py`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal

from scheduler.instants import EPOCH

Priority = Literal["critical", "important", "background"]
Overlap = Literal["forbid", "allow", "replace", "queue"]
CatchUp = Literal["none", "latest", "all"]
Dialect = Literal["crontab", "quartz", "aws"]
Dst = Literal["once", "skip", "literal"]
HolidayPolicy = Literal["skip", "next_business_day", "previous_business_day"]
Unit = Literal["day", "week", "month", "year"]

REBOOT = "@reboot"
"""A cron text that names a run at the host's start, and no slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """Which dates are holidays and which are business days. `union` adds the holidays of other calendars.

    `country` (ISO 3166, with a `subdivision`) and `market` (`NYSE`) are names of the `holidays` library. `add` and
    `remove` are exceptions and win. `weekend` counts from Monday = 0; None is the country's own, or Saturday and
    Sunday.
    """

    name: str = ""
    country: str | None = None
    subdivision: str | None = None
    market: str | None = None
    dates: tuple[date, ...] = ()
    add: tuple[date, ...] = ()
    remove: tuple[date, ...] = ()
    weekend: tuple[int, ...] | None = None
    union: tuple["Calendar", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A calendar interval: every `count` units from `starting` on, on the days that `on` names, at `times`.

    `times` are seconds since local midnight. `on` holds, for weeks: weekday names (`friday`); for months and years: day
    numbers (`15`, clamped to the month's end), `last day`, `first business day`, `last business day`,
    `3rd business day`, `2nd tuesday`, `last friday`; nothing for days.
    """

    count: int
    unit: Unit
    times: tuple[int, ...]
    starting: date
    on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A batch window: a slot is inside when the clock on the wall reads in `[start, end)`, also over midnight.

    `start` and `end` are seconds since local midnight and differ; `timezone` is an IANA name.
    """

    start: int
    end: int
    timezone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a job is due: exactly one of `cron`, `every`, `at` and `repeat` is given.

    `timezone` is an IANA name. `every` counts real seconds from `anchor`. `jitter` is the bound of a delay that is a
    fixed function of job and slot. `also` holds a job's further schedules: an instant that several name is one slot.
    `holidays` says what becomes of a slot whose business date is no business day by `calendar`; a business day begins
    `business_day_starts` seconds after local midnight.
    """

    timezone: str
    cron: str | None = None
    dialect: Dialect = "crontab"
    every: timedelta | None = None
    anchor: datetime = EPOCH
    at: tuple[datetime, ...] = ()
    repeat: Repeat | None = None
    dst: Dst = "once"
    jitter: timedelta = timedelta(0)
    calendar: Calendar | None = None
    holidays: HolidayPolicy | None = None
    business_day_starts: int = 0
    also: tuple["Schedule", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTime:
    """The limits that make a slot on time, counted from the slot plus its jitter. All that are given must hold."""

    start_within: timedelta | None = timedelta(minutes=1)
    complete_within: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """One HTTP request. `expect` lists the statuses of success; empty is every 2xx.

    `secret_headers` holds, for each header whose value is a secret, the path of the file that has it.
    """

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    secret_headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    expect: tuple[int, ...] = ()
    idempotency_header: str = "Idempotency-Key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command as an argument list; `shell` means `/bin/sh -c` was asked for and `argv` has one element.

    With `http` it is a request instead, `argv` is empty, and only `timeout` and `grace` speak of it too: so whatever
    asks whether and how long a job runs here need not know by what.
    """

    argv: tuple[str, ...]
    shell: bool = False
    timeout: timedelta = timedelta(hours=1)
    grace: timedelta = timedelta(seconds=30)
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    http: HttpCall | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often and how soon a failed attempt is tried again; `on_exit` empty means every exit code is temporary."""

    attempts: int = 1
    initial: timedelta = timedelta(seconds=5)
    factor: float = 2.0
    max: timedelta = timedelta(minutes=5)
    jitter: Literal["full", "none"] = "full"
    on_exit: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """How many ended runs the queue keeps of a job; None keeps them all. The collector's record is not touched."""

    succeeded: int | None = None
    failed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One version of one job. A job without `run` is run elsewhere and only watched."""

    id: str
    schedule: Schedule | None = None
    description: str = ""
    owner: str = ""
    impact: str = ""
    type: str = ""
    runbook: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    on_time: OnTime = OnTime()
    run: Command | None = None
    retry: Retry = Retry()
    overlap: Overlap = "forbid"
    catch_up: CatchUp = "latest"
    catch_up_limit: int = 100
    catch_up_deadline: timedelta | None = None
    priority: Priority = "important"
    queue: str = "default"
    tenant: str = "default"
    concurrency: int | None = None
    early: timedelta = timedelta(0)
    start_deadline: timedelta | None = None
    run_deadline: timedelta | None = None
    window: Window | None = None
    history: History | None = None
    enabled: bool = True
    valid_from: datetime | None = None
