"""The lines of a crontab, told apart: variables, comments, jobs. Pure; nothing is understood yet.

Cron's own rules: leading blanks are passed over, a variable is `NAME = value` with quotes if wanted, a job line has
five fields or a word such as @daily, then perhaps a user, then the command up to the end of the line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SETTING = re.compile(r"""(?P<quote>["']?)(?P<name>[A-Za-z_][A-Za-z0-9_.]*)(?P=quote)\s*=\s*(?P<value>.*)""")
_WORD = re.compile(r"\S+")
MAX_LINE = 10_000
FIELDS = ("minute", "hour", "day", "month", "weekday")


@dataclass(frozen=True, slots=True)
class Setting:
    """`NAME = value`, quotes taken off."""

    line: int
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment without its sign."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line: what stands above it does not belong to what stands below."""

    line: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A job line. `words` are its first five words (or `@daily`) with their columns from 1; `rest` is at `column`."""

    line: int
    words: tuple[tuple[str, int], ...]
    rest: str
    column: int

    @property
    def cron(self) -> str:
        """The time fields as one text."""
        return " ".join(word for word, _ in self.words)

    def after_user(self) -> tuple[str, "Entry"]:
        """The first word of the rest, and the entry without it."""
        match = _WORD.match(self.rest)
        if match is None:
            return "", self
        rest = self.rest[match.end() :]
        gap = len(rest) - len(rest.lstrip())
        return match[0], Entry(self.line, self.words, rest.lstrip(), self.column + match.end() + gap)


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line past the limit, which is not looked at."""

    line: int
    length: int


Line = Setting | Comment | Blank | Entry | TooLong


def read_lines(text: str) -> Iterator[Line]:
    """Every line of a crontab, numbered from 1."""
    for number, raw in enumerate(text.split("\n"), start=1):
        yield read_line(raw.rstrip("\r"), number) if len(raw) <= MAX_LINE else TooLong(number, len(raw))


def read_line(raw: str, number: int) -> Line:
    """One line without its end."""
    line = raw.strip(" \t")
    if not line:
        return Blank(number)
    if line.startswith("#"):
        return Comment(number, line.lstrip("#").strip())
    match = _SETTING.fullmatch(line)
    if match is not None:
        return Setting(number, match["name"], _unquoted(match["value"].strip()))
    return _entry(raw.rstrip(" \t"), number)


def entry_of(text: str, number: int, column: int = 1) -> Entry:
    """A job line on its own, such as the part behind a zone; `column` is where the text begins."""
    entry = _entry(text, number)
    words = tuple((word, at + column - 1) for word, at in entry.words)
    return Entry(number, words, entry.rest, entry.column + column - 1)


def _entry(raw: str, number: int) -> Entry:
    count = 1 if raw.lstrip().startswith("@") else len(FIELDS)
    found: list[tuple[str, int]] = []
    for match in _WORD.finditer(raw):
        if len(found) == count:
            return Entry(number, tuple(found), raw[match.start() :], match.start() + 1)
        found.append((match[0], match.start() + 1))
    return Entry(number, tuple(found), "", len(raw) + 1)


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]:
        return value[1:-1]
    return value


def split_percent(command: str) -> tuple[str, str | None, int]:
    """What cron makes of `%`: the command, its standard input or None, and where the first unescaped % stands.

    An escaped one loses its backslash; the first that is not escaped ends the command, and further ones are line ends.
    """
    kept: list[str] = []
    escaped = False
    for at, char in enumerate(command):
        if char == "%" and not escaped:
            return "".join(kept), _input(command[at + 1 :]), at
        if escaped and char == "%":
            kept[-1] = "%"
        else:
            kept.append(char)
        escaped = char == "\\" and not escaped
    return "".join(kept), None, -1


def _input(text: str) -> str:
    # The same rule as above; here the others are line ends.
    kept: list[str] = []
    escaped = False
    for char in text:
        if char == "%" and escaped:
            kept[-1] = "%"
        else:
            kept.append("\n" if char == "%" else char)
        escaped = char == "\\" and not escaped
    return "".join(kept)
