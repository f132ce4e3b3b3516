"""Job files to checked, frozen jobs. Answers: which jobs does this folder define, and what is wrong with it?

It reads files and nothing else; objectives and channels in the same files belong to the SLO package, which adds its own
part of the schema to this one.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from scheduler.editor_schema import schema_of
from scheduler.files import DefinitionError, Document, Problem, read_folder
from scheduler.instants import EPOCH
from scheduler.jobs import Command, Job, OnTime, Retry, Schedule
from scheduler.problems import check, unknown_key
from scheduler.schema_models import (
    DefaultsModel,
    JobModel,
    JobsPart,
    OnTimeModel,
    RetryModel,
    RunModel,
    ScheduleModel,
)

__all__ = [
    "DefinitionError",
    "Definitions",
    "Problem",
    "define",
    "digest",
    "job_from_json",
    "job_to_json",
    "json_schema",
    "load_folder",
]

OWN_KEYS = ("jobs", "defaults")
OTHER_KEYS = ("slos", "channels", "settings")


@dataclass(frozen=True, slots=True)
class Definitions:
    """Every job of a folder, in the order of files and lines. `sources` says where each stands: `jobs.yaml#backup`."""

    jobs: tuple[Job, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class _Defaults:
    timezone: str | None = None
    owner: str = ""


def load_folder(path: Path) -> Definitions:
    """The jobs of a folder (or of one file). Raises DefinitionError with every problem of every file."""
    documents, problems = read_folder(path)
    definitions, wrong = define(documents)
    if problems or wrong:
        raise DefinitionError([*problems, *wrong])
    return definitions


def define(documents: list[Document]) -> tuple[Definitions, list[Problem]]:
    """The jobs of documents already read, and what is wrong with them. Jobs with problems are left out."""
    problems = [problem for document in documents for problem in _shape(document)]
    usable = [document for document in documents if isinstance(document.value, dict)]
    defaults, wrong = _defaults(usable)
    problems += wrong + list(_duplicates(usable))
    jobs: dict[str, Job] = {}
    sources: dict[str, str] = {}
    for document in usable:
        for index in range(len(_job_list(document))):
            job, wrong = _job(document, index, defaults)
            problems += wrong
            if job is not None and job.id not in jobs:
                jobs[job.id] = job
                sources[job.id] = f"{document.name}#{job.id}"
    return Definitions(tuple(jobs.values()), sources, tuple(documents)), problems


def json_schema() -> dict[str, Any]:
    """JSON Schema of the scheduler's part of a file. `slo.objectives.json_schema` is the schema of the whole file."""
    return schema_of(JobsPart)


def job_to_json(job: Job) -> dict[str, Any]:
    """A job as JSON values, exactly: `job_from_json` gives an equal job back."""
    built = msgspec.to_builtins(job)
    assert isinstance(built, dict)
    return built


def job_from_json(raw: dict[str, Any]) -> Job:
    """The inverse of `job_to_json`. Raises msgspec.ValidationError for anything else."""
    return msgspec.convert(raw, Job)


def digest(job: Job) -> str:
    """SHA-256 of the job's canonical JSON, in hex: equal exactly when the definitions are equal."""
    return hashlib.sha256(msgspec.json.encode(job, order="sorted")).hexdigest()


def _shape(document: Document) -> Iterator[Problem]:
    if document.value is None:
        return
    if not isinstance(document.value, dict):
        yield document.problem((), "the file is not a mapping", "begin with a key such as `jobs:`", value="")
        return
    for key in document.value:
        if key not in OWN_KEYS and key not in OTHER_KEYS:
            yield unknown_key(document, (key,), [*OWN_KEYS, *OTHER_KEYS])
    jobs = document.value.get("jobs")
    if jobs is not None and not isinstance(jobs, list):
        yield document.problem(("jobs",), "is not a list", "begin each job with `- id:`", value="")


def _job_list(document: Document) -> list[Any]:
    jobs = document.value.get("jobs")
    return jobs if isinstance(jobs, list) else []


def _defaults(documents: list[Document]) -> tuple[_Defaults, list[Problem]]:
    found: DefaultsModel | None = None
    first: Document | None = None
    problems: list[Problem] = []
    for document in documents:
        if document.value.get("defaults") is None:
            continue
        if first is not None:
            message = f"stands twice: also at {first.file}:{first.line(('defaults',))}"
            problems.append(document.problem(("defaults",), message, "keep one of them", value=""))
            continue
        first = document
        found, wrong = check(DefaultsModel, document, ("defaults",))
        problems += wrong
    if found is None:
        return _Defaults(), problems
    return _Defaults(found.timezone, found.owner or ""), problems


def _duplicates(documents: list[Document]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for document in documents:
        for index, raw in enumerate(_job_list(document)):
            key = raw.get("id") if isinstance(raw, dict) else None
            if not isinstance(key, str):
                continue
            path = ("jobs", index, "id")
            if key in seen:
                yield document.problem(path, f"stands twice: also at {seen[key]}", "give one job another id")
            else:
                seen[key] = f"{document.file}:{document.line(path)}"


def _job(document: Document, index: int, defaults: _Defaults) -> tuple[Job | None, list[Problem]]:
    path = ("jobs", index)
    raw = document.value["jobs"][index]
    if isinstance(raw, dict) and isinstance(raw.get("schedule"), list):
        message = "holds several schedules, which is not available in this version"
        return None, [document.problem((*path, "schedule"), message, "write one job for each", value="")]
    model, problems = check(JobModel, document, path)
    if model is None:
        return None, problems
    if model.schedule is not None and (model.schedule.timezone or defaults.timezone) is None:
        message, remedy = "has no time zone", "add `timezone: Asia/Jakarta`, or set it in `defaults`"
        return None, [document.problem((*path, "schedule"), message, remedy, value="")]
    return _build(model, document.folder, defaults), []


def _build(model: JobModel, folder: Path, defaults: _Defaults) -> Job:
    return Job(
        id=model.id,
        schedule=_schedule(model.schedule, defaults.timezone) if model.schedule else None,
        description=model.description,
        owner=defaults.owner if model.owner is None else model.owner,
        impact=model.impact,
        type=model.type,
        runbook=model.runbook,
        labels=dict(model.labels),
        on_time=_on_time(model.on_time),
        run=_command(model.run, folder) if model.run else None,
        retry=_retry(model.retry),
        overlap=model.overlap,
        catch_up=model.catch_up,
        priority=model.priority,
        queue=model.queue,
        tenant=model.tenant,
        concurrency=model.concurrency,
        early=model.early,
        run_deadline=model.deadline.run if model.deadline else None,
        enabled=model.enabled,
        valid_from=model.valid_from,
    )


def _schedule(model: ScheduleModel, default_zone: str | None) -> Schedule:
    zone = model.timezone or default_zone
    assert zone is not None
    return Schedule(
        timezone=zone,
        cron=model.cron,
        every=model.every,
        anchor=model.anchor or EPOCH,
        at=tuple(model.at or ()),
        dst=model.dst,
        jitter=model.jitter,
    )


def _on_time(model: OnTimeModel | None) -> OnTime:
    # The default of one minute holds only when the file gives no limit at all.
    if model is None or (model.start_within is None and model.complete_within is None):
        return OnTime()
    return OnTime(start_within=model.start_within, complete_within=model.complete_within)


def _command(model: RunModel, folder: Path) -> Command:
    argv = (model.command,) if isinstance(model.command, str) else tuple(model.command)
    cwd = folder if model.cwd is None else folder / model.cwd
    return Command(
        argv=argv, shell=model.shell, timeout=model.timeout, grace=model.grace, cwd=str(cwd), env=dict(model.env)
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
