"""What a job file may say: pydantic models of the part of a file that the scheduler reads, checked field by field.

Answers: is this value of the right form? What needs other files (defaults, ids) is decided in `definitions.py`. No I/O
here.
"""

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    model_validator,
)

from scheduler.events import JOB_ID
from scheduler.instants import format_duration, parse_duration, parse_instant
from scheduler.jobs import CatchUp, Overlap, Priority
from scheduler.timelaw import MACROS, ScheduleError, check_cron
from scheduler.zones import check_zone

MAX_DURATION = timedelta(days=3660)
MIN_EVERY = timedelta(milliseconds=100)
SELECT_FIELDS = ("job", "queue", "tenant", "owner", "type", "priority")

_FIVE = "five fields: minute hour day month weekday"
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}")
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


class WrongValueError(ValueError):
    """A value that can't be used. Its text is `what is wrong; what to write instead`.

    A ValueError, because that is what pydantic collects; a TypeError would end the check at the first fault.
    """


class HiddenValueError(WrongValueError):
    """As above, for a value that may be a secret and so must not stand in the message."""


def read_duration(value: Any) -> timedelta:
    """A duration as files write it, up to ten years. Raises WrongValueError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise WrongValueError(f"has no unit; write it with one: {value}s, {value}m, {value}h")
    if not isinstance(value, str):
        raise WrongValueError("is not a duration; write a number and a unit: 500ms, 30s, 5m, 2h, 1d, 1w")
    try:
        found = parse_duration(value)
    except ValueError:
        raise WrongValueError("is not a duration; write a number and a unit: 500ms, 30s, 5m, 2h, 1d, 1w") from None
    except OverflowError:
        found = timedelta.max
    if found > MAX_DURATION:
        raise WrongValueError(f"is longer than {format_duration(MAX_DURATION)}; write a shorter duration")
    return found


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta(0):
        raise WrongValueError("must be above zero; write a longer duration")
    return value


def _interval(value: timedelta) -> timedelta:
    if value < MIN_EVERY:
        raise WrongValueError(f"is below the shortest interval; write {format_duration(MIN_EVERY)} or more")
    return value


def _instant(value: Any) -> datetime:
    if not isinstance(value, str):
        raise WrongValueError("is not an instant; write it like 2026-03-29T00:30:00Z")
    try:
        return parse_instant(value)
    except (ValueError, OverflowError):
        raise WrongValueError("is not an instant with an offset; write it like 2026-03-29T00:30:00Z") from None


def _cron(value: str) -> str:
    if "TZ=" in value:
        raise WrongValueError("holds a time zone; write the zone as `timezone` beside `cron`")
    if len(value) > 200:
        raise WrongValueError("is longer than 200 characters; split it into several jobs")
    if value.strip().startswith("@") and value.strip().lower() not in MACROS:
        raise WrongValueError(f"is not a known macro; write {_FIVE}, or one of {', '.join(MACROS)}")
    try:
        return check_cron(value)
    except ScheduleError as error:
        if _never(value):
            raise WrongValueError("can never fire; write a day that one of its months has") from None
        said = str(error).removeprefix(repr(value)).strip()
        raise WrongValueError(said if ";" in said else f"{said}; write {_FIVE}") from None


def _never(value: str) -> bool:
    """Whether the fields are each right and only their day and month exclude each other."""
    fields = value.split()
    if len(fields) != 5:
        return False
    try:
        check_cron(" ".join([*fields[:3], "*", fields[4]]))
        check_cron(" ".join(["0 0 1", fields[3], "*"]))
    except ScheduleError:
        return False
    return True


def _job_id(value: str) -> str:
    if not JOB_ID.fullmatch(value):
        raise WrongValueError("is not an id; use up to 100 of A-Z a-z 0-9 . _ - and begin with a letter or digit")
    return value


def _labels(value: dict[str, str]) -> dict[str, str]:
    for key in value:
        if not _LABEL.fullmatch(key):
            raise WrongValueError(f"has the key {key[:70]!r}; use up to 63 of A-Z a-z 0-9 _ . -, a letter or _ first")
        if key in SELECT_FIELDS:
            raise WrongValueError(f"has the key {key!r}, which is a field of the job; use another word")
    return value


def _env(value: dict[str, str]) -> dict[str, str]:
    for key, text in value.items():
        if not _ENV.fullmatch(key):
            raise WrongValueError(f"has the name {key[:70]!r}; use A-Z a-z 0-9 _ and begin with a letter or _")
        _no_nul(text)
    return value


def as_list(value: Any) -> Any:
    """One value where a list may stand is a list of one."""
    return value if isinstance(value, list) else [value]


def _command(value: Any) -> list[str] | str:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        raise WrongValueError("is not a command; write a list: [df, -h]")
    for item in items:
        if not isinstance(item, str):
            raise WrongValueError(f"has {item!r}, which is not text; quote it")
        _no_nul(item)
    if not items[0].strip():
        raise WrongValueError("has no program; write one first: [df, -h]")
    return items if isinstance(value, list) else items[0]


def _no_nul(value: str) -> str:
    # The operating system ends a text at a NUL: what was checked would not be what runs.
    if "\0" in value:
        raise WrongValueError("has a NUL character; remove it")
    return value


DURATION_SCHEMA = Annotated[str, Field(pattern=r"^\d+(\.\d+)?(ms|s|m|h|d|w)$", examples=["30s", "5m", "2h"])]
_INSTANT_SCHEMA = Annotated[str, Field(examples=["2026-03-29T00:30:00Z"])]

Duration = Annotated[timedelta, PlainValidator(read_duration, json_schema_input_type=DURATION_SCHEMA)]
PositiveDuration = Annotated[Duration, AfterValidator(_positive)]
Interval = Annotated[Duration, AfterValidator(_interval)]
Instant = Annotated[datetime, PlainValidator(_instant, json_schema_input_type=_INSTANT_SCHEMA)]
Identifier = Annotated[str, Field(json_schema_extra={"pattern": f"^{JOB_ID.pattern}$"}), AfterValidator(_job_id)]
Short = Annotated[str, StringConstraints(max_length=200)]
Prose = Annotated[str, StringConstraints(max_length=2_000)]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=4096), AfterValidator(_no_nul)]
Zone = Annotated[str, AfterValidator(check_zone)]
CommandText = Annotated[list[str] | str, PlainValidator(_command, json_schema_input_type=list[str] | str)]
Labels = Annotated[dict[str, Short], Field(max_length=20), AfterValidator(_labels)]


class FileModel(BaseModel):
    """A part of a file: unknown keys are refused, and no value is bent into another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ScheduleModel(FileModel):
    """When a job is due: exactly one of `cron`, `every` and `at`."""

    cron: Annotated[str, AfterValidator(_cron)] | None = None
    every: Interval | None = None
    anchor: Instant | None = None
    at: Annotated[list[Instant], BeforeValidator(as_list), Field(min_length=1, max_length=1000)] | None = None
    timezone: Zone | None = None
    dst: Literal["once"] = "once"
    jitter: Duration = timedelta(0)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [name for name in ("cron", "every", "at") if getattr(self, name) is not None]
        if len(given) != 1:
            raise WrongValueError(f"has {' and '.join(given) or 'none'} of cron, every, at; write exactly one")
        if self.anchor is not None and self.every is None:
            raise WrongValueError("has an anchor without `every`; remove the anchor")
        if self.every is not None and self.jitter >= self.every:
            raise WrongValueError("has a jitter as long as its interval; write a jitter below `every`")
        return self


class OnTimeModel(FileModel):
    """Limits of a slot, counted from the slot plus its jitter."""

    start_within: PositiveDuration | None = None
    complete_within: PositiveDuration | None = None


class RunModel(FileModel):
    """A command: a list of arguments, or one text with `shell: true`."""

    command: CommandText
    shell: bool = False
    timeout: PositiveDuration = timedelta(hours=1)
    grace: Duration = timedelta(seconds=30)
    cwd: FilePath | None = None
    env: Annotated[dict[str, str], Field(max_length=100), AfterValidator(_env)] = {}

    @model_validator(mode="after")
    def _form(self) -> Self:
        if isinstance(self.command, str) and not self.shell:
            raise WrongValueError("has a command as one text; write a list of arguments, or add shell: true")
        if not isinstance(self.command, str) and self.shell:
            raise WrongValueError("has shell: true with a list; write the command as one text, or remove shell")
        return self


class RetryModel(FileModel):
    """How often and how soon a failed attempt is tried again."""

    attempts: Annotated[int, Field(ge=1, le=100)] = 1
    initial: Duration = timedelta(seconds=5)
    factor: Annotated[float, Field(ge=1, le=100, allow_inf_nan=False)] = 2.0
    max: Duration = timedelta(minutes=5)
    jitter: Literal["full", "none"] = "full"
    on_exit: Annotated[list[Annotated[int, Field(ge=1, le=255)]], BeforeValidator(as_list), Field(max_length=255)] = []


class DeadlineModel(FileModel):
    """`run`: past this, a run that has not ended is overdue."""

    run: PositiveDuration


class JobModel(FileModel):
    """One job."""

    id: Identifier
    description: Prose = ""
    owner: Short | None = None
    impact: Prose = ""
    type: Short = ""
    runbook: Prose = ""
    labels: Labels = {}
    schedule: ScheduleModel | None = None
    on_time: OnTimeModel | None = None
    run: RunModel | None = None
    retry: RetryModel = RetryModel()
    overlap: Overlap = "forbid"
    catch_up: CatchUp = "latest"
    priority: Priority = "important"
    queue: Identifier = "default"
    tenant: Identifier = "default"
    concurrency: Annotated[int, Field(ge=1, le=10_000)] | None = None
    early: Duration = timedelta(0)
    deadline: DeadlineModel | None = None
    enabled: bool = True
    valid_from: Instant | None = None


class DefaultsModel(FileModel):
    """What holds for every job that does not say otherwise; stands once in a folder."""

    timezone: Zone | None = None
    owner: Short | None = None


class JobsPart(FileModel):
    """The part of a file that the scheduler reads."""

    jobs: Annotated[list[JobModel], Field(max_length=10_000)] = []
    defaults: DefaultsModel | None = None
