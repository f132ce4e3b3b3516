"""Schedules that XML or Java code names as such: found in the text, never parsed. Pure.

No entity is read, nothing is included. What belongs to a schedule is looked for within NEAR characters of it, so that a
large file takes no longer than its size.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from scheduler.importers.imported import Gathering, Source

NEAR = 4_000

_ELEMENT = re.compile(r"<cron-expression>(?P<cron>[^<]{0,500})</cron-expression>")
_PROPERTY = re.compile(
    r"""name\s*=\s*["']cronExpression["']\s*
        (?:value\s*=\s*["'](?P<cron>[^"']{0,500})["']|>\s*<value>(?P<inner>[^<]{0,500})</value>)
    |p:cronExpression\s*=\s*["'](?P<short>[^"']{0,500})["']""",
    re.VERBOSE,
)
_BEAN = re.compile(r"<bean\b[^>]{0,500}?\b(?:id|name)\s*=\s*[\"']([^\"']{1,200})")
_TASK = re.compile(r"<task:scheduled\s(?P<attributes>[^>]{0,2000})>")
_ANNOTATION = re.compile(r"@Scheduled\s*\((?P<arguments>[^()]{0,500}(?:\([^()]{0,100}\)[^()]{0,500}){0,5})\)")
_METHOD = re.compile(r"(\w{1,200})\s*\(")
_RELATIVE = ("fixedRate", "fixedDelay", "fixed-rate", "fixed-delay")


@dataclass(frozen=True, slots=True)
class Found:
    """One schedule in a text: the line it stands on, a name for the job, the expression, its zone."""

    line: int
    name: str
    text: str
    zone: str | None = None
    spring: bool = False


@dataclass(slots=True)
class _Text:
    """The text of a file without its XML comments, and on which line each place of it stands."""

    source: Source
    text: str
    ends: list[int]

    def line(self, match: re.Match[str]) -> int:
        return bisect_right(self.ends, match.start() - 1) + 1

    def before(self, match: re.Match[str]) -> str:
        return self.text[max(0, match.start() - NEAR) : match.start()]

    def after(self, match: re.Match[str]) -> str:
        return self.text[match.end() : match.end() + NEAR]


def marked(source: Source, gathering: Gathering) -> list[Found]:
    """Every schedule in the order of the text; tasks without a cron text are findings."""
    plain = _without_comments(source.text)
    text = _Text(source, plain, [match.start() for match in re.finditer("\n", plain)])
    found = [*_elements(text), *_properties(text), *_tasks(text, gathering), *_annotations(text, gathering)]
    return sorted(found, key=lambda one: one.line)


def _without_comments(text: str) -> str:
    """The text with the line ends of its XML comments alone, so that lines keep their numbers."""
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + 3
    return "".join([*kept, text[at:]])


def _elements(text: _Text) -> Iterator[Found]:
    for match in _ELEMENT.finditer(text.text):
        before, after = text.before(match), text.after(match)
        before = before[max(before.rfind("<cron>"), before.rfind("<trigger>"), 0) :]
        after = re.split(r"</cron>|</trigger>", after, maxsplit=1)[0]
        zone = re.search(r"<time-zone>([^<]*)</time-zone>", before + after)
        name = re.search(r"<name>([^<]*)</name>", before)
        yield Found(text.line(match), _plain(name), html.unescape(match["cron"]), _plain(zone) or None)


def _properties(text: _Text) -> Iterator[Found]:
    for match in _PROPERTY.finditer(text.text):
        # A shortened property stands inside its bean's own tag.
        beans = _BEAN.findall(text.before(match))
        cron = match["cron"] or match["inner"] or match["short"] or ""
        yield Found(text.line(match), beans[-1] if beans else "", html.unescape(cron))


def _tasks(text: _Text, gathering: Gathering) -> Iterator[Found]:
    for match in _TASK.finditer(text.text):
        given = dict(re.findall(r"([\w:-]+)\s*=\s*[\"']([^\"']*)[\"']", match["attributes"]))
        name = "-".join(filter(None, (given.get("ref"), given.get("method"))))
        if "cron" in given:
            yield Found(text.line(match), name, html.unescape(given["cron"]), spring=True)
        else:
            _say_relative(text, match, name, given, gathering)


def _annotations(text: _Text, gathering: Gathering) -> Iterator[Found]:
    for match in _ANNOTATION.finditer(text.text):
        given = dict(re.findall(r"(\w+)\s*=\s*\"?([^\",]*)", match["arguments"]))
        cron = re.search(r"\bcron\s*=\s*\"([^\"]*)\"", match["arguments"])
        zone = re.search(r"\bzone\s*=\s*\"([^\"]*)\"", match["arguments"])
        # Other annotations may stand between this one and the method.
        method = _METHOD.search(re.sub(r"@\w+(?:\([^)]*\))?", "", text.after(match)))
        name = method[1] if method else ""
        if cron:
            yield Found(text.line(match), name, cron[1], zone[1] if zone else None, spring=True)
        else:
            _say_relative(text, match, name, given, gathering)


def _say_relative(text: _Text, match: re.Match[str], name: str, given: dict[str, str], gathering: Gathering) -> None:
    said = ", ".join(f"{key}={given[key].strip()}" for key in given if key.startswith(_RELATIVE)) or "no cron"
    where = f"{text.source.name}:{text.line(match)}"
    who = name or "a task"
    gathering.say("monotonic", where, f"{who}: {said} counts from the program's own start, which no job file can")


def _plain(match: re.Match[str] | None) -> str:
    return html.unescape(match[1]).strip() if match else ""
