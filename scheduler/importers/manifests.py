"""YAML documents read safely, each on its own, with the line of every value. Pure: text in, values out.

Only plain values are built: a tag that would make an object is an error of its document, and aliases can't multiply
without end. A document that can't be read leaves the others alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_NODES = 100_000
MAX_DEPTH = 60

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One document: its value, the line of each path, and what is wrong when it could not be read."""

    line: int
    value: Any = None
    lines: Mapping[Path, int] = field(default_factory=dict)
    wrong: str = ""
    text: str = ""

    def line_of(self, path: Path) -> int:
        """The line of a path, or of the nearest value round it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, self.line)


class _TooMuchError(Exception):
    """More values than any manifest has."""


def read_manifests(text: str) -> Iterator[Manifest]:
    """Every document that is not empty."""
    start = 1
    for part in re.split(r"(?m)^(?=---(?:\s|$))", text):
        found = _read(part, start)
        if found is not None:
            yield found
        start += part.count("\n")


def _read(part: str, start: int) -> Manifest | None:
    try:
        loader = yaml.SafeLoader(part)
        node = loader.get_single_node()
        if node is None:
            return None
        lines = _lines(node, start)
        return Manifest(min(lines.values()), loader.construct_document(node), lines)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = f"{getattr(error, 'context', None) or ''} {getattr(error, 'problem', None) or error}".strip()
        # `schedule: @daily` and `schedule: * * * * *` are the usual ones: a sign that YAML keeps for itself.
        quote = "; quote the value" if "cannot start any token" in said or "alias" in said else ""
        return Manifest(start + (mark.line if mark else 0), wrong=f"is not YAML: {said}{quote}", text=part)
    except _TooMuchError as error:
        return Manifest(start, wrong=str(error))
    except (ValueError, RecursionError) as error:
        return Manifest(start, wrong=f"holds a value that can't be read: {error}", text=part)


def _lines(node: yaml.Node, start: int) -> dict[Path, int]:
    """Lines by path. Counts every visit, aliases where they are used, before anything is built."""
    found: dict[Path, int] = {}
    waiting: list[tuple[yaml.Node, Path]] = [(node, ())]
    visits = 0
    while waiting:
        at, path = waiting.pop()
        visits += 1
        if visits > MAX_NODES or len(path) > MAX_DEPTH:
            raise _TooMuchError(
                f"holds more than {MAX_NODES} values, or is nested deeper than {MAX_DEPTH}; split the file"
            )
        found[path] = start + at.start_mark.line
        if isinstance(at, yaml.MappingNode):
            waiting += [(value, (*path, str(key.value))) for key, value in at.value]
        elif isinstance(at, yaml.SequenceNode):
            waiting += [(item, (*path, index)) for index, item in enumerate(at.value)]
    return found


def shown(value: Any) -> str:
    """A value for a message: short, on one line, and never more than a few levels deep."""
    return _text(value, 3)[:160]


def _text(value: Any, depth: int) -> str:
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{key}: {_text(item, depth - 1)}" for key, item in list(value.items())[:8]) + "}"
            if depth
            else "{...}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_text(item, depth - 1) for item in value[:8]) + "]" if depth else "[...]"
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(str(value).split())[:80]
