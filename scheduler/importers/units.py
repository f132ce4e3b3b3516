"""systemd unit files as text: sections with keys that may be said many times. Pure."""

import re
from dataclasses import dataclass, field

_SECTION = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True, slots=True)
class Value:
    """What a key says, and on which line."""

    text: str
    line: int


@dataclass(slots=True)
class Unit:
    """A unit file: `sections["Timer"]["OnCalendar"]` is every value in order; an empty one takes all back."""

    name: str
    sections: dict[str, dict[str, list[Value]]] = field(default_factory=dict)

    def all(self, section: str, key: str) -> list[Value]:
        """Every value of a key."""
        return self.sections.get(section, {}).get(key, [])

    def last(self, section: str, key: str) -> str:
        """The value that holds: the last one, or an empty text."""
        values = self.all(section, key)
        return values[-1].text if values else ""

    @property
    def stem(self) -> str:
        """`backup` of `/etc/systemd/system/backup.timer`."""
        return re.sub(r"\.(?:timer|service)$", "", self.name.rpartition("/")[2])


def read_unit(name: str, text: str) -> Unit:
    """The keys of every section. Lines that end with a backslash go on; comments begin with # or ;."""
    unit = Unit(name)
    section: dict[str, list[Value]] = {}
    for number, line in _logical_lines(text):
        heading = _SECTION.fullmatch(line)
        if heading is not None:
            section = unit.sections.setdefault(heading[1], {})
        elif "=" in line:
            key, _, value = line.partition("=")
            values = section.setdefault(key.strip(), [])
            if value.strip():
                values.append(Value(value.strip(), number))
            else:
                values.clear()
    return unit


def _logical_lines(text: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    open_since, kept = 0, ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if line.startswith(("#", ";")) or (not line and not kept):
            continue
        open_since = open_since or number
        kept = f"{kept} {line.removesuffix(chr(92))}".strip()
        if not line.endswith("\\"):
            found.append((open_since, kept))
            open_since, kept = 0, ""
    return [*found, (open_since, kept)] if kept else found


def true(text: str) -> bool:
    """systemd's words for yes."""
    return text.lower() in ("1", "yes", "y", "true", "t", "on")
