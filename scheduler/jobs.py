"""What a checked job is: frozen values that everything else trusts. Files become these in `definitions.py`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from scheduler.instants import EPOCH

Priority = Literal["critical", "important", "background"]
Overlap = Literal["forbid", "allow"]
CatchUp = Literal["none", "latest", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a job is due: exactly one of `cron`, `every` and `at` is given.

    `timezone` is an IANA name. `every` counts real seconds from `anchor`. `jitter` is the bound of a delay that is a
    fixed function of job and slot.
    """

    timezone: str
    cron: str | None = None
    every: timedelta | None = None
    anchor: datetime = EPOCH
    at: tuple[datetime, ...] = ()
    dst: Literal["once"] = "once"
    jitter: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTime:
    """The limits that make a slot on time, counted from the slot plus its jitter. All that are given must hold."""

    start_within: timedelta | None = timedelta(minutes=1)
    complete_within: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command as an argument list; `shell` means `/bin/sh -c` was asked for and `argv` has one element."""

    argv: tuple[str, ...]
    shell: bool = False
    timeout: timedelta = timedelta(hours=1)
    grace: timedelta = timedelta(seconds=30)
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)


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
    priority: Priority = "important"
    queue: str = "default"
    tenant: str = "default"
    concurrency: int | None = None
    early: timedelta = timedelta(0)
    run_deadline: timedelta | None = None
    enabled: bool = True
    valid_from: datetime | None = None
