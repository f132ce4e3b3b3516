"""A checked model of a job to the job itself. Pure: names and defaults have been looked up, nothing fails here."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from scheduler.http_models import HttpModel
from scheduler.instants import EPOCH
from scheduler.jobs import Calendar, Command, History, HttpCall, Job, OnTime, Repeat, Retry, Schedule, Window
from scheduler.schedule_models import RepeatModel, ScheduleModel, WindowModel
from scheduler.schema_models import CatchUpModel, HistoryModel, JobModel, OnTimeModel, RetryModel, RunModel

# Where an interval of one unit counts from: any date will do, and this one lies before every slot.
COUNT_FROM = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a job takes from outside itself: its file's folder, the defaults, the calendars by name."""

    folder: Path
    timezone: str | None = None
    owner: str = ""
    calendars: Mapping[str, Calendar] = field(default_factory=dict)


def schedules_of(model: JobModel) -> list[ScheduleModel]:
    """The schedules of a job in the order of the file; a job may have none."""
    if model.schedule is None:
        return []
    return model.schedule if isinstance(model.schedule, list) else [model.schedule]


def build(model: JobModel, around: Surroundings) -> Job:
    """The job. Its schedules' zones and calendars must be known to `around`."""
    schedules = [_schedule(one, around) for one in schedules_of(model)]
    catch_up = model.catch_up if isinstance(model.catch_up, CatchUpModel) else CatchUpModel(mode=model.catch_up)
    return Job(
        id=model.id,
        schedule=replace(schedules[0], also=tuple(schedules[1:])) if schedules else None,
        description=model.description,
        owner=around.owner if model.owner is None else model.owner,
        impact=model.impact,
        type=model.type,
        runbook=model.runbook,
        labels=dict(model.labels),
        on_time=_on_time(model.on_time),
        run=_command(model.run, around.folder) if model.run else None,
        retry=_retry(model.retry),
        overlap=model.overlap,
        catch_up=catch_up.mode,
        catch_up_limit=catch_up.limit,
        catch_up_deadline=catch_up.deadline,
        priority=model.priority,
        queue=model.queue,
        tenant=model.tenant,
        concurrency=model.concurrency,
        early=model.early,
        start_deadline=model.deadline.start if model.deadline else None,
        run_deadline=model.deadline.run if model.deadline else None,
        window=_window(model.window, schedules[0].timezone) if model.window else None,
        history=_history(model.history) if model.history else None,
        enabled=model.enabled,
        valid_from=model.valid_from,
    )


def _schedule(model: ScheduleModel, around: Surroundings) -> Schedule:
    zone = model.timezone or around.timezone
    assert zone is not None
    return Schedule(
        timezone=zone,
        cron=model.cron,
        dialect=model.dialect,
        every=model.every,
        anchor=model.anchor or EPOCH,
        at=tuple(model.at or ()),
        repeat=_repeat(model.repeat) if model.repeat else None,
        dst=model.dst,
        jitter=model.jitter,
        calendar=None if model.calendar is None else around.calendars[model.calendar],
        holidays=model.holidays,
        business_day_starts=model.business_day_starts or 0,
    )


def _repeat(model: RepeatModel) -> Repeat:
    count, unit = model.every
    return Repeat(
        count=count,
        unit=unit,
        times=tuple(sorted(set(model.time))),
        starting=model.starting or COUNT_FROM,
        on=tuple(dict.fromkeys(model.on or ())),
    )


def _window(model: WindowModel, zone: str) -> Window:
    return Window(start=model.start, end=model.end, timezone=zone)


def _history(model: HistoryModel) -> History:
    return History(succeeded=model.succeeded, failed=model.failed)


def _on_time(model: OnTimeModel | None) -> OnTime:
    # The default of one minute holds only when the file gives no limit at all.
    if model is None or (model.start_within is None and model.complete_within is None):
        return OnTime()
    return OnTime(start_within=model.start_within, complete_within=model.complete_within)


def _command(model: RunModel, folder: Path) -> Command:
    if model.http is not None:
        return Command(argv=(), timeout=model.timeout, grace=model.grace, http=_http(model.http, folder))
    assert model.command is not None
    argv = (model.command,) if isinstance(model.command, str) else tuple(model.command)
    cwd = folder if model.cwd is None else folder / model.cwd
    return Command(
        argv=argv, shell=model.shell, timeout=model.timeout, grace=model.grace, cwd=str(cwd), env=dict(model.env)
    )


def _http(model: HttpModel, folder: Path) -> HttpCall:
    headers = model.headers.items()
    return HttpCall(
        url=model.url,
        method=model.method,
        headers={name: value for name, value in headers if isinstance(value, str)},
        secret_headers={name: str(folder / value.file) for name, value in headers if not isinstance(value, str)},
        body=model.body,
        expect=tuple(sorted(set(model.expect))),
        idempotency_header=model.idempotency_header,
    )


def _retry(model: RetryModel) -> Retry:
    return Retry(
        attempts=model.attempts,
        initial=model.initial,
        factor=model.factor,
        max=model.max,
        jitter=model.jitter,
        on_exit=tuple(model.on_exit),
    )
