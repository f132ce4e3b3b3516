"""EventBridge schedules of AWS (`rate(...)`, `cron(...)`, `at(...)`) to watched jobs, from any text. Pure.

Serverless, SAM, CloudFormation and Terraform files are matched line by line, not parsed. The minute comes first and the
year last, weekdays count from Sunday = 1, and the zone is UTC unless a zone stands beside the expression.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from scheduler.cron import NeverError, ScheduleError, parse_cron
from scheduler.importers.imported import Document, Gathering, Imported, Options, Source
from scheduler.instants import format_duration, format_instant
from scheduler.zones import check_zone

NEAR = 200
"""How many lines round an expression belong to it at most, so that a large file takes no longer than its size."""

_EXPRESSION = re.compile(r"\b(?P<kind>rate|cron|at)\((?P<text>[^()]*)\)")
_KEY = re.compile(r"\s*(?:-\s+)?[\"']?(?P<key>[A-Za-z_][\w.-]*)[\"']?\s*[:=]\s*(?P<value>.*)")
_RESOURCE = re.compile(r"\s*resource\s+\"[^\"]+\"\s+\"(?P<name>[^\"]+)\"")
_BARE = re.compile(r"(?:(?P<name>[A-Za-z][\w.-]*)\s*[=:]\s*)?(?P<text>[0-9*][0-9*,/-]*(?:\s+\S+){4,5})")
_RATE = re.compile(r"(\d{1,6}) (minute|hour|day)(s?)")
_GENERIC = frozenset(
    {"events", "event", "schedule", "schedules", "rate", "properties", "scheduleexpression", "schedule_expression"}
    | {"functions", "resources", "input", "cron", "eventbridge", "value", "type", "schedulev2"}
)
_ZONES = frozenset({"timezone", "scheduleexpressiontimezone", "schedule_expression_timezone"})
_OFF = {"enabled": ("false", "no"), "is_enabled": ("false",), "state": ("disabled",)}


@dataclass(frozen=True, slots=True)
class _Found:
    line: int
    kind: str
    text: str
    name: str
    beside: dict[str, str]


class _UnusableError(ValueError):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_aws(sources: Sequence[Source], options: Options) -> Imported:
    """Every expression of one or more files. Nothing in them raises."""
    gathering = Gathering()
    for source in sources:
        for found in _find(source.text.splitlines()):
            _job(source, found, options, gathering)
    return gathering.result("there is no rate(...), cron(...) or at(...) in it", sources[0].name)


def _find(lines: list[str]) -> Iterator[_Found]:
    for index, line in enumerate(lines):
        if line.lstrip().startswith(("#", "//")):
            continue
        wrapped = list(_EXPRESSION.finditer(line.partition(" #")[0]))
        for match in wrapped:
            yield _Found(index + 1, match["kind"], match["text"].strip(), _name(lines, index), _beside(lines, index))
        bare = _BARE.fullmatch(line.strip())
        if bare and not wrapped:
            yield _Found(index + 1, "cron", bare["text"], bare["name"] or "", {})


def _name(lines: list[str], index: int) -> str:
    """The nearest enclosing key that says more than `events` or `schedule`."""
    for line in _parents(lines, index):
        resource = _RESOURCE.match(line)
        if resource:
            return resource["name"]
        key = _KEY.match(line)
        if key and key["key"].lower() not in _GENERIC:
            return key["key"]
    return ""


def _parents(lines: list[str], index: int) -> Iterator[str]:
    depth, listed = _indent(lines[index]), lines[index].lstrip().startswith("-")
    for line in reversed(lines[max(0, index - NEAR) : index]):
        if not line.strip() or line.lstrip().startswith(("#", "//", "}")):
            continue
        item = line.lstrip().startswith("-")
        # A list may stand as far left as the key it belongs to.
        if _indent(line) < depth or (_indent(line) == depth and listed and not item):
            depth, listed = _indent(line), item
            yield line


def _beside(lines: list[str], index: int) -> dict[str, str]:
    """Keys on the same level as the expression, in lower case, with their values."""
    key = _KEY.match(lines[index])
    depth = _indent(lines[index])
    if key is None:
        # An item of a list of rates: what belongs to it stands beside the list's own key.
        depth = _indent(next(_parents(lines, index), ""))
    found: dict[str, str] = {}
    for span in (lines[index + 1 : index + NEAR], reversed(lines[max(0, index - NEAR) : index])):
        for line in span:
            if line.strip() and _indent(line) < depth:
                break
            match = _KEY.match(line)
            if match and _indent(line) == depth and not line.lstrip().startswith("-"):
                found.setdefault(match["key"].lower(), match["value"].strip().strip("\"',"))
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _job(source: Source, found: _Found, options: Options, gathering: Gathering) -> None:
    where = f"{source.name}:{found.line}"
    zone = next((value for key, value in found.beside.items() if key in _ZONES), None) or options.zone
    try:
        schedule = _schedule(found, _zone(zone))
    except _UnusableError as error:
        gathering.say(error.code, where, str(error))
        return
    if found.kind == "rate":
        said = (
            f"rate({found.text}) counts from the creation of the rule, not from the wall clock:"
            f" set `schedule.anchor` to an instant of a start"
        )
        gathering.say("anchor", where, said)
    off = any(found.beside.get(key, "").lower() in words for key, words in _OFF.items())
    job_id = gathering.new_id(found.name or "aws")
    gathering.add({"id": job_id, "schedule": schedule, "enabled": False if off else None})


def _zone(zone: str | None) -> str:
    try:
        return check_zone(zone or "UTC")
    except ValueError as error:
        raise _UnusableError("unknown_zone", f"{zone!r} {error}") from None


def _schedule(found: _Found, zone: str) -> Document:
    if "${" in found.text:
        raise _UnusableError(
            "placeholder", f"{found.kind}({found.text}) holds a value of another file; put it in its place"
        )
    if found.kind == "rate":
        return {"every": _rate(found.text), "timezone": zone}
    if found.kind == "at":
        return {"at": [_at(found.text, zone)], "timezone": zone}
    try:
        parse_cron(found.text, "aws")
    except ScheduleError as error:
        code = "never_fires" if isinstance(error, NeverError) else "bad_schedule"
        raise _UnusableError(code, str(error)) from None
    # EventBridge Scheduler: not in the gap, once on the long day. Without a zone of its own it is UTC.
    dst = {} if zone in ("UTC", "Etc/UTC") else {"dst": "skip"}
    return {"cron": found.text, "dialect": "aws", "timezone": zone, **dst}


def _rate(text: str) -> str:
    match = _RATE.fullmatch(text)
    if match is None or int(match[1]) == 0 or (int(match[1]) == 1) == bool(match[3]):
        raise _UnusableError(
            "bad_schedule", f"rate({text}) is not understood; write rate(1 minute), rate(5 minutes), hours or days"
        )
    seconds = {"minute": 60, "hour": 3600, "day": 86400}[match[2]]
    return format_duration(timedelta(seconds=int(match[1]) * seconds))


def _at(text: str, zone: str) -> str:
    try:
        local = datetime.fromisoformat(text)
    except ValueError:
        raise _UnusableError("bad_schedule", f"at({text}) is not a time; write at(2026-11-20T13:00:00)") from None
    if local.tzinfo is None:
        local = local.replace(tzinfo=ZoneInfo(zone))
    return format_instant(local.astimezone(UTC))
