"""A strict little reader of iCalendar text (RFC 5545), written from the RFC and not from the code under test.

It refuses what the RFC refuses: bare line feeds, lines over 75 octets, cut characters, unknown escapes, a component
that is not closed, an event without its required properties.
"""

import re
from dataclasses import dataclass, field

_LINE = re.compile(r"(?P<name>[A-Z0-9-]+)(?P<params>(;[A-Z0-9-]+=[^;:]+)*):(?P<value>.*)", re.DOTALL)
_STAMP = re.compile(r"\d{8}T\d{6}Z")
TEXTS = {"UID", "SUMMARY", "DESCRIPTION", "LOCATION"}
ONCE = {"UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY", "DESCRIPTION", "STATUS", "TRANSP"}


class MalformedError(ValueError):
    """The text is no iCalendar text."""


@dataclass
class Component:
    """A component: its properties by name, TEXT values unescaped, and the components inside."""

    name: str
    properties: dict[str, str] = field(default_factory=dict)
    inside: list["Component"] = field(default_factory=list)


def read_calendar(text: str) -> Component:
    """The VCALENDAR of a text. Raises MalformedError."""
    stack = [Component("")]
    for line in unfolded(text):
        match = _LINE.fullmatch(line)
        if match is None:
            raise MalformedError(f"no content line: {line!r}")
        name, value = match["name"], match["value"]
        if name == "BEGIN":
            stack.append(Component(value))
        elif name == "END":
            done = stack.pop()
            if done.name != value or not stack:
                raise MalformedError(f"END:{value} closes {done.name}")
            stack[-1].inside.append(done)
        else:
            _take(stack[-1], name, value)
    (found,) = stack[0].inside
    if len(stack) != 1 or found.name != "VCALENDAR" or not found.inside:
        raise MalformedError("not one VCALENDAR with a component in it")
    if found.properties.get("VERSION") != "2.0" or "PRODID" not in found.properties:
        raise MalformedError("VERSION and PRODID are required")
    for event in found.inside:
        _check_event(event)
    return found


def unfolded(text: str) -> list[str]:
    """The content lines: every physical line ends in CRLF, has at most 75 octets, and cuts no character."""
    if not text.endswith("\r\n") or "\n" in text.replace("\r\n", "") or "\r" in text.replace("\r\n", ""):
        raise MalformedError("lines end in CRLF, and nothing else breaks them")
    lines: list[str] = []
    for line in text[:-2].split("\r\n"):
        if len(line.encode()) > 75:
            raise MalformedError(f"{len(line.encode())} octets: {line!r}")
        if any(ord(char) < 32 and char != "\t" for char in line):
            raise MalformedError(f"a control character: {line!r}")
        if line.startswith((" ", "\t")):
            lines[-1] += line[1:]
        else:
            lines.append(line)
    return lines


def _take(component: Component, name: str, value: str) -> None:
    if not component.name or name in component.properties:
        raise MalformedError(f"{name} stands outside, or twice")
    component.properties[name] = _unescaped(value) if name in TEXTS else value


def _unescaped(value: str) -> str:
    if re.search(r"(?<!\\)(\\\\)*[,;]", value):
        raise MalformedError(f"a bare comma or semicolon: {value!r}")

    def plain(match: re.Match[str]) -> str:
        if match[1] not in "\\;,nN":
            raise MalformedError(f"an unknown escape {match[0]!r}")
        return "\n" if match[1] in "nN" else match[1]

    return re.sub(r"\\(.?)", plain, value)


def _check_event(event: Component) -> None:
    missing = {"UID", "DTSTAMP", "DTSTART"} - event.properties.keys()
    if event.name != "VEVENT" or missing or event.inside or event.properties.keys() - ONCE:
        raise MalformedError(f"{event.name} with {sorted(event.properties)}")
    for name in ("DTSTAMP", "DTSTART", "DTEND"):
        if name in event.properties and not _STAMP.fullmatch(event.properties[name]):
            raise MalformedError(f"{name}:{event.properties[name]} is no UTC date-time")
    if event.properties.get("DTEND", "9") <= event.properties["DTSTART"]:
        raise MalformedError("DTEND must lie behind DTSTART")
    if event.properties.get("STATUS", "CONFIRMED") not in ("TENTATIVE", "CONFIRMED", "CANCELLED"):
        raise MalformedError("STATUS")
    if event.properties.get("TRANSP", "OPAQUE") not in ("OPAQUE", "TRANSPARENT"):
        raise MalformedError("TRANSP")
