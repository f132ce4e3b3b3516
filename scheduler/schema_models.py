"""What a job file may say: pydantic models of the part of a file that the scheduler reads, checked field by field.

Answers: is this value of the right form? What needs other files (defaults, ids) is decided in `definitions.py`. No I/O
here.
"""

import re
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    model_validator,
)

from scheduler.file_values import (
    LONG_FORM,
    SHORT_FORM,
    Duration,
    FileModel,
    FilePath,
    Identifier,
    Instant,
    PositiveDuration,
    Prose,
    Short,
    WrongValueError,
    Zone,
    as_list,
    no_nul,
)
from scheduler.http_models import HttpModel
from scheduler.jobs import CatchUp, Overlap, Priority
from scheduler.schedule_models import MAX_CALENDARS, CalendarModel, Schedules, WindowModel

SELECT_FIELDS = ("job", "queue", "tenant", "owner", "type", "priority")

MAX_CATCH_UP = 10_000

_LIMIT_SCHEMA: dict[str, Any] = {"minimum": 1, "maximum": MAX_CATCH_UP}
# Pydantic gives the pattern of the names, and lets every other name pass.
_NAMES_SCHEMA: dict[str, Any] = {"additionalProperties": False}
_ONE_WAY_SCHEMA: dict[str, Any] = {"oneOf": [{"required": ["command"]}, {"required": ["http"]}]}
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}")
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


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
        no_nul(text)
    return value


def _command(value: Any) -> list[str] | str:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        raise WrongValueError("is not a command; write a list: [df, -h]")
    for item in items:
        if not isinstance(item, str):
            raise WrongValueError(f"has {item!r}, which is not text; quote it")
        no_nul(item)
    if not items[0].strip():
        raise WrongValueError("has no program; write one first: [df, -h]")
    return items if isinstance(value, list) else items[0]


def _catch_up_limit(value: int) -> int:
    # Elsewhere zero means "no limit" as often as "nothing": here it is neither, and never the default.
    if value < 1:
        raise WrongValueError("is below 1; write 1 or more, or `catch_up: none` to make nothing up")
    if value > MAX_CATCH_UP:
        raise WrongValueError(f"is above {MAX_CATCH_UP}; write a lower limit")
    return value


def _catch_up_form(value: Any) -> str:
    return LONG_FORM if isinstance(value, dict | BaseModel) else SHORT_FORM


CommandText = Annotated[list[str] | str, PlainValidator(_command, json_schema_input_type=list[str] | str)]
Labels = Annotated[dict[str, Short], Field(default_factory=dict, max_length=20), AfterValidator(_labels)]
ExitCode = Annotated[int, Field(ge=1, le=255)]
Kept = Annotated[int, Field(ge=0, le=1_000_000)]


class OnTimeModel(FileModel):
    """Limits of a slot, counted from the slot plus its jitter."""

    start_within: PositiveDuration | None = None
    complete_within: PositiveDuration | None = None


class RunModel(FileModel):
    """A command (a list of arguments, or one text with `shell: true`), or an HTTP request: exactly one of them."""

    model_config = ConfigDict(json_schema_extra=_ONE_WAY_SCHEMA)

    command: CommandText | None = None
    http: HttpModel | None = None
    shell: bool = False
    timeout: PositiveDuration = timedelta(hours=1)
    grace: Duration = timedelta(seconds=30)
    cwd: FilePath | None = None
    env: Annotated[dict[str, str], Field(default_factory=dict, max_length=100), AfterValidator(_env)]

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.command is None) == (self.http is None):
            says = "has both command and http" if self.http else "has neither command nor http"
            raise WrongValueError(f"{says}; write one of them")
        foreign = [name for name in ("shell", "cwd", "env") if self.http and name in self.model_fields_set]
        if foreign:
            raise WrongValueError(f"has {' and '.join(foreign)} with http, which starts no command; remove it")
        return self

    @model_validator(mode="after")
    def _form(self) -> Self:
        if isinstance(self.command, str) and not self.shell:
            raise WrongValueError("has a command as one text; write a list of arguments, or add shell: true")
        if isinstance(self.command, list) and self.shell:
            raise WrongValueError("has shell: true with a list; write the command as one text, or remove shell")
        return self


class RetryModel(FileModel):
    """How often and how soon a failed attempt is tried again."""

    attempts: Annotated[int, Field(ge=1, le=100)] = 1
    initial: Duration = timedelta(seconds=5)
    factor: Annotated[float, Field(ge=1, le=100, allow_inf_nan=False)] = 2.0
    max: Duration = timedelta(minutes=5)
    jitter: Literal["full", "none"] = "full"
    on_exit: Annotated[list[ExitCode], BeforeValidator(as_list, json_schema_input_type=ExitCode | list[ExitCode])] = (
        Field(default_factory=list, max_length=255)
    )


class CatchUpModel(FileModel):
    """What becomes of slots that an outage passed over, with its bounds."""

    mode: CatchUp
    limit: Annotated[int, AfterValidator(_catch_up_limit), Field(json_schema_extra=_LIMIT_SCHEMA)] = 100
    deadline: PositiveDuration | None = None

    @model_validator(mode="after")
    def _bounds_something(self) -> Self:
        if "limit" in self.model_fields_set and self.mode != "all":
            raise WrongValueError(f"has a limit with `mode: {self.mode}`; write `mode: all`, or remove the limit")
        if self.deadline is not None and self.mode == "none":
            raise WrongValueError("has a deadline with `mode: none`; write another mode, or remove the deadline")
        return self


class DeadlineModel(FileModel):
    """`start`: a run that has not begun by then is skipped. `run`: one that has not ended by then is overdue."""

    start: PositiveDuration | None = None
    run: PositiveDuration | None = None

    @model_validator(mode="after")
    def _one_at_least(self) -> Self:
        if self.start is None and self.run is None:
            raise WrongValueError("is empty; write start, run or both")
        return self


class HistoryModel(FileModel):
    """How many ended runs the queue keeps; what is not given is kept whole."""

    succeeded: Kept | None = None
    failed: Kept | None = None

    @model_validator(mode="after")
    def _one_at_least(self) -> Self:
        if self.succeeded is None and self.failed is None:
            raise WrongValueError("is empty; write succeeded, failed or both")
        return self


CatchUpWord = Annotated[
    Annotated[CatchUp, Tag(SHORT_FORM)] | Annotated[CatchUpModel, Tag(LONG_FORM)], Discriminator(_catch_up_form)
]


class JobModel(FileModel):
    """One job."""

    id: Identifier
    description: Prose = ""
    owner: Short | None = None
    impact: Prose = ""
    type: Short = ""
    runbook: Prose = ""
    labels: Labels
    schedule: Schedules | None = None
    window: WindowModel | None = None
    on_time: OnTimeModel | None = None
    run: RunModel | None = None
    retry: RetryModel = RetryModel()
    overlap: Overlap = "forbid"
    catch_up: CatchUpWord = "latest"
    priority: Priority = "important"
    queue: Identifier = "default"
    tenant: Identifier = "default"
    concurrency: Annotated[int, Field(ge=1, le=10_000)] | None = None
    early: Duration = timedelta(0)
    deadline: DeadlineModel | None = None
    history: HistoryModel | None = None
    enabled: bool = True
    valid_from: Instant | None = None


class DefaultsModel(FileModel):
    """What holds for every job that does not say otherwise; stands once in a folder."""

    timezone: Zone | None = None
    owner: Short | None = None


class JobsPart(FileModel):
    """The part of a file that the scheduler reads."""

    jobs: Annotated[list[JobModel], Field(default_factory=list, max_length=10_000)]
    defaults: DefaultsModel | None = None
    calendars: Annotated[
        dict[Identifier, CalendarModel],
        Field(default_factory=dict, max_length=MAX_CALENDARS, json_schema_extra=_NAMES_SCHEMA),
    ]
