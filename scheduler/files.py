"""Reads a folder of YAML files into plain values that remember their lines.

Answers: which documents are there, and on which line does each value stand? It knows nothing of jobs or objectives. It
composes YAML nodes and builds only text, numbers, booleans, null, lists and mappings; it must never run a full loader.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

MAX_FILE_BYTES = 1024 * 1024
MAX_NODES = 100_000
MAX_DEPTH = 40
MAX_NUMBER = 40
MAX_FILES = 1_000

KeyPath = tuple[str | int, ...]

_TAG = "tag:yaml.org,2002:"
_LIMIT = "split the file"
_QUOTE = 'quote the value: "..."'


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a file. `line` counts from 1; 0 means the file or folder as a whole."""

    file: str
    line: int
    field: str
    value: str
    message: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        what = f"'{self.value}' {self.message}" if self.value else self.message
        said = f"{self.field}: {what}" if self.field else what
        return printable(f"{where}: {said}; {self.remedy}" if self.remedy else f"{where}: {said}")


class DefinitionError(Exception):
    """Files that can't be used. Holds every problem found, in the order of files and lines; its text has one a line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.file, problem.line)))
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: its value, and for each path the line and, for plain words, the text as it was written.

    `file` is the path to show, `name` the path inside the folder, `folder` the absolute folder the file lies in.
    """

    file: str
    name: str
    folder: Path
    value: Any
    lines: Mapping[KeyPath, int]
    texts: Mapping[KeyPath, str]

    def line(self, path: KeyPath) -> int:
        """The line of a path, or of the nearest enclosing value that is written in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 0)

    def problem(self, path: KeyPath, message: str, remedy: str = "", value: str | None = None) -> Problem:
        """A problem at a path of this document; the value as written stands in it unless another is given."""
        shown = self.texts.get(path, "") if value is None else value
        return Problem(self.file, self.line(path), dotted(path), shorten(shown), message, remedy)


def dotted(path: KeyPath) -> str:
    """`("jobs", 0, "schedule")` as `jobs[0].schedule`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def printable(text: str) -> str:
    """Text with each character that moves a cursor or turns the reading direction shown as its escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def shorten(text: str, limit: int = 80) -> str:
    """Text bounded for a message, on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."


def read_folder(root: Path) -> tuple[list[Document], list[Problem]]:
    """Every document of the `*.yaml` files below a folder (or of one file), and what could not be read.

    Names that begin with a dot are passed over. Raises DefinitionError when there is nothing to read.
    """
    files = _find(root)
    documents: list[Document] = []
    problems: list[Problem] = []
    for path in files:
        name = path.relative_to(root).as_posix() if path != root else path.name
        found, wrong = read_file(path, name)
        documents += found
        problems += wrong
    return documents, problems


def read_file(path: Path, name: str) -> tuple[list[Document], list[Problem]]:
    """The documents of one file, and its problems. Nothing that is wrong with the file raises."""
    shown = str(path)
    if path.suffix == ".yml":
        return [], [Problem(shown, 0, "", "", "would not be read: its name ends in .yml", "rename it to .yaml")]
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        return [], [Problem(shown, 0, "", "", f"can't be read: {error.strerror}", "check the file and its permissions")]
    except UnicodeDecodeError as error:
        return [], [Problem(shown, 0, "", "", f"is not UTF-8 at byte {error.start}", "save the file as UTF-8")]
    if len(raw) > MAX_FILE_BYTES:
        return [], [Problem(shown, 0, "", "", f"has {len(raw)} bytes; the limit is {MAX_FILE_BYTES}", _LIMIT)]
    return _read_text(text, path, name)


def _find(root: Path) -> list[Path]:
    if root.is_file():
        return [root]
    if not root.is_dir():
        raise _refused(root, "is not a folder", "name the folder with the *.yaml files")
    found = sorted(path for path in root.rglob("*.y*ml") if path.suffix in (".yaml", ".yml") and _visible(path, root))
    if not found:
        raise _refused(root, "holds no *.yaml file", "add one, or name another folder")
    if len(found) > MAX_FILES:
        raise _refused(root, f"holds {len(found)} YAML files; the limit is {MAX_FILES}", "name a smaller folder")
    return found


def _refused(root: Path, message: str, remedy: str) -> DefinitionError:
    return DefinitionError([Problem(str(root), 0, "", "", message, remedy)])


def _visible(path: Path, root: Path) -> bool:
    return path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)


def _read_text(text: str, path: Path, name: str) -> tuple[list[Document], list[Problem]]:
    documents: list[Document] = []
    problems: list[Problem] = []
    shown = str(path)
    try:
        for node in yaml.compose_all(text, Loader=yaml.SafeLoader):
            reader = _Reader(shown)
            value = reader.value(node, ())
            problems += reader.problems
            documents.append(Document(shown, name, path.parent.absolute(), value, reader.lines, reader.texts))
    except _TooMuchError as error:
        problems.append(Problem(shown, error.line, "", "", error.message, error.remedy))
    except RecursionError:
        problems.append(Problem(shown, 0, "", "", f"is nested deeper than {MAX_DEPTH} levels", "flatten the file"))
    except yaml.YAMLError as error:
        problems.append(_syntax(shown, error))
    return documents, problems


def _syntax(shown: str, error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None)
    said = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    context = str(getattr(error, "context", None) or "")
    remedy = "check indentation, brackets and quotes on this line"
    if "'\\t'" in said:
        remedy = "indent with spaces"
    elif "cannot start any token" in said or "alias" in context or "alias" in said:
        remedy = _QUOTE
    message = f"is not YAML: {context + ': ' if context else ''}{said}"
    return Problem(shown, mark.line + 1 if mark else 0, "", "", shorten(message, 200), remedy)


class _TooMuchError(Exception):
    def __init__(self, line: int, message: str, remedy: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.remedy = remedy


class _Reader:
    """Turns the nodes of one document into values. Counts every visit, so that aliases can't multiply without end."""

    def __init__(self, file: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.texts: dict[KeyPath, str] = {}
        self.problems: list[Problem] = []
        self._file = file
        self._count = 0

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        line = node.start_mark.line + 1
        self._count += 1
        if self._count > MAX_NODES:
            raise _TooMuchError(
                line, f"holds more than {MAX_NODES} values, aliases counted where they are used", _LIMIT
            )
        if len(path) > MAX_DEPTH:
            raise _TooMuchError(line, f"is nested deeper than {MAX_DEPTH} levels", "flatten the file")
        self.lines.setdefault(path, line)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return dict(self._entries(node, path))
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _entries(self, node: yaml.MappingNode, path: KeyPath) -> Iterator[tuple[str, Any]]:
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            # The key's own text is taken, so that `on:` and `no:` are words here and not booleans.
            if not isinstance(key, yaml.ScalarNode):
                self._wrong(line, path, "", "a key must be a word", "write a plain word before the colon")
            elif key.tag == f"{_TAG}merge":
                self._wrong(line, path, "<<", "merge keys are not read", "write the keys out, or use `defaults`")
            elif key.value in seen:
                message = f"stands twice: also on line {seen[key.value]}"
                self._wrong(line, (*path, key.value), "", message, "remove one of them")
            else:
                seen[key.value] = line
                self.lines[(*path, key.value)] = line
                yield key.value, self.value(value, (*path, key.value))

    def _scalar(self, node: yaml.Node, path: KeyPath) -> Any:
        line, kind = node.start_mark.line + 1, node.tag.removeprefix(_TAG)
        if not isinstance(node, yaml.ScalarNode) or kind not in _SCALARS:
            self._wrong(line, path, "", f"the tag {shorten(node.tag, 60)} is not read", "remove the tag")
            return None
        text = str(node.value)
        self.texts[path] = text
        if kind in ("int", "float") and len(text) > MAX_NUMBER:
            # Python refuses to write longer whole numbers out, so even the message about one would fail.
            self._wrong(line, path, text, "has too many digits for a number", _QUOTE)
            return None
        if kind in ("int", "float") and ":" in text:
            self._wrong(line, path, text, "is a number to base 60 in YAML", f'quote the time: "{text}"')
            return text
        try:
            return _SCALARS[kind](node)
        except (ValueError, KeyError, OverflowError, yaml.YAMLError):
            self._wrong(line, path, text, f"can't be read as {kind}", _QUOTE)
            return None

    def _wrong(self, line: int, path: KeyPath, value: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(self._file, line, dotted(path), shorten(value), message, remedy))


def _text(node: yaml.ScalarNode) -> str:
    return str(node.value)


_CONSTRUCT = yaml.constructor.SafeConstructor()
_SCALARS = {
    "str": _text,
    # Instants are read by this product's own rule, which refuses one without an offset.
    "timestamp": _text,
    "int": _CONSTRUCT.construct_yaml_int,
    "float": _CONSTRUCT.construct_yaml_float,
    "bool": _CONSTRUCT.construct_yaml_bool,
    "null": _CONSTRUCT.construct_yaml_null,
}
