"""What a job file may say about an HTTP request: a pydantic model, checked field by field. No I/O here.

What may be a secret is never in a message: not the address, and no header's value.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, PlainValidator, StringConstraints, model_validator

from scheduler.file_values import FileModel, FilePath, HiddenValueError, WrongValueError

MAX_URL, MAX_BODY, MAX_HEADERS, MAX_HEADER = 2_000, 100_000, 50, 4_000

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?|")
_URL = re.compile(r"[^\x00-\x20\x7f-\x9f#]+")
_SECRET = re.compile(r"authorization|cookie|api-?_?key|token|secret|password", re.IGNORECASE)
# Said by the connection or by the run itself: a second one would contradict it.
_RESERVED = frozenset({"connection", "content-length", "transfer-encoding", "traceparent"})


class SecretFileModel(FileModel):
    """A secret by reference, as editors see it."""

    file: FilePath


@dataclass(frozen=True, slots=True)
class HeaderSecret:
    """The path of a file that holds a header's whole value, as written."""

    file: str


def is_header_value(value: str) -> bool:
    """Whether a text can be sent as a header's value: printable ASCII, without blanks at its ends, within the bound."""
    return len(value) <= MAX_HEADER and _VALUE.fullmatch(value) is not None


def _url(value: Any) -> str:
    if not isinstance(value, str) or not _URL.fullmatch(value) or len(value) > MAX_URL:
        raise HiddenValueError(f"is not an address of up to {MAX_URL} characters; write https://host/path")
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise HiddenValueError("is not an http or https URL; write https://host/path")
    if "@" in parts.netloc:
        says = "has a user or password in plain sight; take it out, and write `headers: {Authorization: "
        raise HiddenValueError(says + "{file: /run/secrets/name}}`")
    return value


def _headers(value: Any) -> dict[str, str | HeaderSecret]:
    if not isinstance(value, dict) or len(value) > MAX_HEADERS:
        raise HiddenValueError(f"is not a mapping of up to {MAX_HEADERS} headers; write {{Name: value}}")
    seen: set[str] = set()
    for name in value:
        _header_name(name)
        if name.lower() in seen:
            raise HiddenValueError(f"has {name} twice; keep one")
        seen.add(name.lower())
    return {name: _header_value(name, given) for name, given in value.items()}


def _header_name(name: Any) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise HiddenValueError(f"has {str(name)[:70]!r}, which is no header's name; write letters, digits and -")
    if name.lower() in _RESERVED:
        raise HiddenValueError(f"has {name}, which is set for each request; remove it")
    return name


def _header_value(name: str, value: Any) -> str | HeaderSecret:
    if isinstance(value, dict):
        path = value.get("file")
        if set(value) != {"file"} or not isinstance(path, str) or not path or "\0" in path:
            raise HiddenValueError(f"names no file for {name}; write {name}: {{file: /run/secrets/name}}")
        return HeaderSecret(path)
    if _SECRET.search(name):
        says = f"has {name} in plain sight; keep the value in a file and write {name}: {{file: /run/secrets/name}}"
        raise HiddenValueError(says)
    if not isinstance(value, str) or not is_header_value(value):
        raise HiddenValueError(f"has no usable text for {name}; write one line of ASCII in quotes")
    return value


def _body(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_BODY:
        raise HiddenValueError(f"is not a text of up to {MAX_BODY} characters; write JSON in quotes, or as a block")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise HiddenValueError("has a character that UTF-8 can't hold; write another") from None
    return value


_UrlSchema = Annotated[str, StringConstraints(max_length=MAX_URL, pattern="^https?://")]
_BodySchema = Annotated[str, StringConstraints(max_length=MAX_BODY)]
Status = Annotated[int, Field(ge=200, le=599)]


class HttpModel(FileModel):
    """One HTTP request. `expect` empty is every 2xx; the run's id goes into the header `idempotency_header`."""

    url: Annotated[str, PlainValidator(_url, json_schema_input_type=_UrlSchema)]
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Annotated[
        dict[str, str | HeaderSecret],
        Field(default_factory=dict),
        PlainValidator(_headers, json_schema_input_type=dict[str, str | SecretFileModel]),
    ]
    body: Annotated[str, PlainValidator(_body, json_schema_input_type=_BodySchema)] | None = None
    expect: Annotated[list[Status], Field(default_factory=list, max_length=50)]
    idempotency_header: Annotated[str, AfterValidator(_header_name)] = "Idempotency-Key"

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.body is not None and self.method in ("GET", "HEAD"):
            raise WrongValueError(f"has a body with method {self.method}; remove it, or write another method")
        if self.idempotency_header.lower() in {name.lower() for name in self.headers}:
            says = f"has the header {self.idempotency_header}, which carries the run's id"
            raise WrongValueError(f"{says}; remove it, or name another `idempotency_header`")
        return self
