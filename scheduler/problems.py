"""Turns what pydantic says about a value into problems with file, line, field, value and remedy. Pure."""

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from scheduler.file_values import LONG_FORM, SHORT_FORM, HiddenValueError
from scheduler.files import Document, KeyPath, Problem, shorten
from scheduler.schedule_models import ScheduleModel

# Keys of the file format that this version does not have: refused by name, because a key that is passed over in silence
# is a lock, a trigger or a limit that its author believes to hold.
UNAVAILABLE_TOP = frozenset({"maintenance", "tenants"})
UNAVAILABLE = frozenset(
    {"after", "triggers", "lock", "pool", "needs", "interruptible", "parameters", "dead_letter"}
    | {"kubernetes", "celery"}
    | {"per", "allow", "escalate", "per_minute", "retry_budget"}
    | UNAVAILABLE_TOP
)
# What pydantic puts into a path that no file holds: of a mapping's key, and of the form that a value is written in.
_MARKS = ("[key]", SHORT_FORM, LONG_FORM)

M = TypeVar("M", bound=BaseModel)


def check(model: type[M], document: Document, path: KeyPath, job: str = "") -> tuple[M | None, list[Problem]]:
    """The value at a path as a model, or None and everything that is wrong with it. `H` in a cron goes by `job`."""
    value = document.value
    for part in path:
        value = value[part]
    try:
        return model.model_validate(value, context={"job": job}), []
    except ValidationError as error:
        return None, [_problem(document, path, model, detail) for detail in error.errors(include_url=False)]


def unknown_key(document: Document, path: KeyPath, known: list[str]) -> Problem:
    """The problem of a key that nobody reads: not in this version, or not at all."""
    key = str(path[-1])
    if key in UNAVAILABLE:
        return document.problem(path, "is not available in this version", "remove it", value="")
    if key in ScheduleModel.model_fields and "schedule" in known:
        return document.problem(path, "is a key of a schedule", "write it inside `schedule`", value="")
    near = difflib.get_close_matches(key, known, n=1)
    remedy = f"did you mean `{near[0]}`?" if near else f"use one of {', '.join(known)}"
    return document.problem(path, "is not a known key", remedy, value="")


def _problem(document: Document, base: KeyPath, model: type[BaseModel], detail: ErrorDetails) -> Problem:
    inner = tuple(part for part in detail["loc"] if part not in _MARKS)
    path = (*base, *inner)
    if detail["type"] == "extra_forbidden":
        return unknown_key(document, path, _fields_at(model, inner[:-1]))
    # What stands in an environment or in a channel's address may be a secret: it is named by its field alone.
    hidden = isinstance(detail.get("ctx", {}).get("error"), HiddenValueError) or "env" in inner[:-1]
    message, remedy = _words(detail, "..." if hidden else _written(document, path), inner)
    shown = "" if hidden else _shown(document, path, detail)
    return document.problem(path, message, remedy, value=shown)


def _written(document: Document, path: KeyPath) -> str | None:
    # One value may stand where a list may: then the list's first item is written at the list's own path.
    return document.texts.get(path, document.texts.get(path[:-1]))


def _shown(document: Document, path: KeyPath, detail: ErrorDetails) -> str:
    if path in document.texts:
        return document.texts[path]
    if isinstance(detail["input"], dict | list) or detail["type"] == "missing":
        return ""
    if detail["type"] == "value_error":
        # Only a value that is written at the path itself is what the words are about.
        return document.texts.get(path[:-1], "") if path[-1:] == (0,) else ""
    return str(detail["input"])


def _words(detail: ErrorDetails, written: str | None, inner: KeyPath) -> tuple[str, str]:
    """What is wrong, and what to do about it."""
    kind, context = detail["type"], detail.get("ctx", {})
    key = next((part for part in reversed(inner) if isinstance(part, str)), "")
    if kind == "value_error":
        message, _, remedy = str(context["error"]).partition("; ")
        return message, remedy
    if kind == "missing":
        return "is required", f"add `{key}`"
    if kind == "literal_error":
        return "is not one of the words known here", f"use {context['expected']}"
    if kind == "string_type" and written is not None:
        return f"is read as {_yaml_word(detail['input'])}, not as text", f'quote the value: "{shorten(written, 40)}"'
    return _general(kind, detail["msg"], context)


def _general(kind: str, message: str, context: Mapping[str, Any]) -> tuple[str, str]:
    if kind in ("model_type", "dict_type"):
        return "is not a mapping", "write keys and values: {key: value}"
    if kind == "bool_type":
        return "is neither true nor false", "write true or false"
    if kind in ("too_long", "string_too_long"):
        return "is too long", f"the limit is {context.get('max_length')}"
    if kind in ("too_short", "string_too_short"):
        return "is empty", "write at least one"
    return _lower(message.removeprefix("Input ")), "write another value"


def _yaml_word(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else "a number"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _fields_at(model: type[BaseModel], inner: KeyPath) -> list[str]:
    """The keys of the model that stands at a path below another: what could have been meant."""
    here: type[BaseModel] | None = model
    for part in inner:
        if isinstance(part, str) and here is not None and part in (known := _named(here)):
            here = _model_in(known[part].annotation) or here
    return list(_named(here)) if here else []


def _named(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """A model's fields by the name that a file gives them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inside = (_model_in(part) for part in getattr(annotation, "__args__", ()))
    return next((found for found in inside if found is not None), None)
