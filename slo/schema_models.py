"""What a file may say about objectives and channels: pydantic models of the part of a file that the SLO package reads.

Answers: is this value of the right form? Whether names exist and what a warning deserves is decided in `objectives.py`.
No I/O here.
"""

import ipaddress
import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from scheduler.file_values import (
    DURATION_SCHEMA,
    Duration,
    FileModel,
    FilePath,
    HiddenValueError,
    Identifier,
    PositiveDuration,
    Prose,
    Short,
    WrongValueError,
    as_list,
    read_duration,
)
from scheduler.schema_models import JobsPart

MIN_WINDOW = timedelta(minutes=1)
MAX_WINDOW = timedelta(days=366)

_PERCENT = re.compile(r"(\d{1,4}(?:\.\d{1,20})?)\s*(%?)")
_OBJECTIVE = 'is not an objective; write a percentage like "99.5%"'


@dataclass(frozen=True, slots=True)
class Secret:
    """The path of a file that holds a secret, as written."""

    file: str


def read_objective(value: Any) -> tuple[Fraction, bool]:
    """An objective as an exact ratio, and whether it was a bare number read as a percentage. Raises WrongValueError."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise WrongValueError(_OBJECTIVE)
    text = value.strip() if isinstance(value, str) else _plain(value)
    match = _PERCENT.fullmatch(text)
    if match is None:
        raise WrongValueError(_OBJECTIVE)
    number, bare = Fraction(match[1]), not match[2] and Fraction(match[1]) > 1
    ratio = number / 100 if match[2] or bare else number
    if ratio <= 0:
        raise WrongValueError("is an objective of 0 %, which nothing can miss; write one above 0 %")
    if ratio == 1:
        raise WrongValueError("is an objective of 100 %, which leaves no error budget; write one below 100 %")
    if ratio > 1:
        raise WrongValueError("is an objective above 100 %; write one below 100 %")
    return ratio, bare


def _plain(value: float) -> str:
    # repr is the shortest text that gives the same float, so 0.995 stays 199/200 and is not its binary neighbour.
    text = repr(value)
    return f"{Decimal(text):f}" if "e" in text else text


def _objective(value: Any) -> Any:
    read_objective(value)
    return value


def _window(value: Any) -> timedelta:
    if isinstance(value, dict):
        raise WrongValueError("is a calendar window, which is not available in this version; write a rolling one: 30d")
    return read_duration(value)


def _window_bounds(value: timedelta) -> timedelta:
    if not MIN_WINDOW <= value <= MAX_WINDOW:
        raise WrongValueError("is outside what a window may be; write 1m to 366d")
    return value


def _indicator(value: Any) -> Any:
    if isinstance(value, dict) or value in ("duration", "queue_wait", "freshness", "dead_letters"):
        raise WrongValueError("is not available in this version; use 'on_time' or 'success'")
    return value


def _alert(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        raise WrongValueError('is not a policy; write "standard", or "none" to have no alert')
    return {"policy": value} if isinstance(value, str) else value


def _secret(value: Any) -> str:
    if not isinstance(value, dict) or set(value) != {"file"}:
        raise HiddenValueError("is not a reference; keep the secret in a file and write {file: /run/secrets/name}")
    path = value["file"]
    if not isinstance(path, str) or not path or "\0" in path:
        raise HiddenValueError("names no file; write {file: /run/secrets/name}")
    return path


def _url(value: Any) -> str | Secret:
    if not isinstance(value, str):
        return Secret(_secret(value))
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not host:
        raise HiddenValueError("is not an http or https URL; write {file: /run/secrets/name} with the URL in that file")
    if not _loopback(host):
        raise HiddenValueError("is a secret in plain sight; keep the URL in a file and write {file: /run/secrets/name}")
    return value


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value))
    except ValueError as error:
        raise WrongValueError(f"is not a network ({error}); write one like 127.0.0.0/8") from None


class _SecretSchema(FileModel):
    file: str


Objective = Annotated[str | int | float, PlainValidator(_objective, json_schema_input_type=str | float)]
Window = Annotated[
    timedelta, PlainValidator(_window, json_schema_input_type=DURATION_SCHEMA), AfterValidator(_window_bounds)
]
AnyOf = Annotated[
    list[Short],
    BeforeValidator(as_list, json_schema_input_type=Short | list[Short]),
    Field(min_length=1, max_length=100),
]
SecretFile = Annotated[str, PlainValidator(_secret, json_schema_input_type=_SecretSchema)]
Url = Annotated[str | Secret, PlainValidator(_url, json_schema_input_type=str | _SecretSchema)]


class MinBadModel(FileModel):
    """The least bad events in the long window before a severity fires."""

    page: Annotated[int, Field(ge=1, le=1_000_000)] = 2
    ticket: Annotated[int, Field(ge=1, le=1_000_000)] = 1


class AlertModel(FileModel):
    """How an objective alerts; the words `standard` and `none` stand for a policy without further keys."""

    policy: Literal["standard", "none"]
    min_bad: MinBadModel = MinBadModel()
    keep_firing: Duration = timedelta(0)
    repeat: PositiveDuration = timedelta(hours=4)


class SloModel(FileModel):
    """One objective over the jobs that `select` names."""

    id: Identifier
    description: Prose = ""
    runbook: Prose = ""
    indicator: Annotated[Literal["on_time", "success"], BeforeValidator(_indicator)]
    select: Annotated[dict[str, AnyOf], Field(default_factory=dict, max_length=20)]
    objective: Objective
    window: Window = timedelta(days=30)
    alert: Annotated[
        AlertModel, BeforeValidator(_alert, json_schema_input_type=Literal["standard", "none"] | AlertModel)
    ] = AlertModel(policy="standard")
    notify: Annotated[list[Identifier], BeforeValidator(as_list), Field(default_factory=list, max_length=20)]


class SlackModel(FileModel):
    """A Slack incoming webhook: its URL is a secret."""

    url: Url


class WebhookModel(FileModel):
    """A generic JSON receiver; with a secret its requests are signed."""

    url: Url
    secret: SecretFile | None = None


class FileTargetModel(FileModel):
    """A file that gets one JSON line for each notice."""

    path: FilePath


class ChannelModel(FileModel):
    """Where notices go: exactly one of `slack`, `webhook`, `file`."""

    slack: SlackModel | None = None
    webhook: WebhookModel | None = None
    file: FileTargetModel | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [name for name in ("slack", "webhook", "file") if getattr(self, name) is not None]
        if len(given) != 1:
            raise WrongValueError(f"has {' and '.join(given) or 'none'} of slack, webhook, file; write exactly one")
        return self


class SettingsModel(FileModel):
    """What holds for the whole installation; stands once in a folder."""

    allow_networks: Annotated[
        list[Annotated[str, AfterValidator(_network)]], Field(default_factory=list, max_length=100)
    ]


class SlosPart(FileModel):
    """The part of a file that the SLO package reads."""

    slos: Annotated[list[SloModel], Field(default_factory=list, max_length=1_000)]
    channels: Annotated[dict[Identifier, ChannelModel], Field(default_factory=dict, max_length=100)]
    settings: SettingsModel | None = None


class WholeFile(JobsPart, SlosPart):
    """Everything that a file may hold."""
