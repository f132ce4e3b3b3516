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

from scheduler.building import Surroundings, build, schedules_of
from scheduler.editor_schema import schema_of
from scheduler.files import DefinitionError, Document, KeyPath, Problem, read_folder
from scheduler.fitting import misfits, wide_jitter
from scheduler.jobs import Calendar, Job
from scheduler.named_calendars import NamedCalendars, read_calendars
from scheduler.problems import check, unknown_key
from scheduler.schema_models import DefaultsModel, JobModel, JobsPart

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

OWN_KEYS = ("jobs", "defaults", "calendars")
OTHER_KEYS = ("slos", "channels", "settings")


@dataclass(frozen=True, slots=True)
class Definitions:
    """Every job of a folder, in the order of files and lines. `sources` says where each stands: `jobs.yaml#backup`.

    `calendars` holds those of the folder by name; a job's schedule holds its own by value.
    """

    jobs: tuple[Job, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    calendars: Mapping[str, Calendar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Defaults:
    timezone: str | None = None
    owner: str = ""


@dataclass(frozen=True, slots=True)
class _Folder:
    """What a job may take from other files. `sound` are those calendars of `named` that have no problems."""

    defaults: _Defaults
    named: NamedCalendars
    sound: Mapping[str, Calendar]


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
    named, wrong = read_calendars(usable)
    problems += wrong
    sound = {name: calendar for name, calendar in named.items() if calendar is not None}
    outside = _Folder(defaults, named, sound)
    jobs: dict[str, Job] = {}
    sources: dict[str, str] = {}
    for document in usable:
        for index in range(len(_job_list(document))):
            job, wrong = _job(document, index, outside)
            problems += wrong
            if job is not None and job.id not in jobs:
                jobs[job.id] = job
                sources[job.id] = f"{document.name}#{job.id}"
    return Definitions(tuple(jobs.values()), sources, tuple(documents), sound), problems


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
    calendars = document.value.get("calendars")
    if calendars is not None and not isinstance(calendars, dict):
        remedy = "write each with its name: {id: {country: ID}}"
        yield document.problem(("calendars",), "is not a mapping", remedy, value="")


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


def _job(document: Document, index: int, outside: _Folder) -> tuple[Job | None, list[Problem]]:
    path: KeyPath = ("jobs", index)
    raw = document.value["jobs"][index]
    key = raw.get("id") if isinstance(raw, dict) else None
    model, problems = check(JobModel, document, path, job=key if isinstance(key, str) else "")
    if model is None:
        return None, problems
    defaults, calendars = outside.defaults, outside.sound
    problems = list(misfits(document, path, model, defaults.timezone, outside.named))
    # A calendar with problems of its own has told them; the jobs that use it are left out without another.
    if problems or any(one.calendar not in (None, *calendars) for one in schedules_of(model)):
        return None, problems
    job = build(model, Surroundings(document.folder, defaults.timezone, defaults.owner, calendars))
    problems = list(wide_jitter(document, path, job))
    return (None if problems else job), problems
