"""Dead letters as lines for a terminal. Pure: values of the API in, text out; every foreign text is escaped."""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.files import printable, shorten

Item = Mapping[str, Any]
ERROR_WIDTH = 60
OUTPUT_LINES = 40
_AGES = ((86_400, "d"), (3_600, "h"), (60, "min"))


def queue_lines(queues: Iterable[Item]) -> list[str]:
    """A line per queue: how many lie there, how many ever came, how long the oldest has lain; three numbers."""
    return [
        f"queue {printable(str(each['queue']))}: depth {each['dead_depth']}, arrivals {each['dead_arrivals']},"
        f" oldest {age(each['dead_oldest_seconds'])}"
        for each in queues
    ]


def letter_lines(letters: Iterable[Item]) -> list[str]:
    """A table of letters with its head; nothing for none."""
    rows = [_row(each) for each in letters]
    if not rows:
        return []
    table = [("RUN", "JOB", "QUEUE", "DEAD SINCE", "ATTEMPTS", "ERROR"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def story_lines(letter: Item) -> list[str]:
    """All of one letter: what it was given, what became of each attempt, what was decided, what it wrote last."""
    facts = [f"{name:<9}{printable(text)}" for name, text in _facts(letter)]
    attempts = ["attempts", *(f"  {_attempt(each)}" for each in letter["attempt_list"])]
    decided = ["history", *(f"  {_decision(each)}" for each in letter["decisions"])]
    return [*facts, *attempts, *decided, *_output(str(letter["output_tail"] or ""))]


def age(seconds: float | None) -> str:
    """A length of time in its largest whole unit; a dash for none."""
    if seconds is None:
        return "-"
    size, unit = next(((size, unit) for size, unit in _AGES if seconds >= size), (1, "s"))
    return f"{int(seconds // size)}{unit}"


def error_text(error: Any) -> str:
    """What went wrong, on one line of escaped text; empty for nothing."""
    if not isinstance(error, dict):
        return ""
    words = [str(error[key]) for key in ("kind", "message") if error.get(key)]
    return printable(shorten(": ".join(words), 300))


def _row(letter: Item) -> tuple[str, ...]:
    names = (printable(str(letter[key])) for key in ("id", "job", "queue", "dead_since", "attempts"))
    return (*names, shorten(error_text(letter["error"]), ERROR_WIDTH))


def _facts(letter: Item) -> list[tuple[str, str]]:
    version = letter["version"]
    about = f"{letter['job']}, {'version unknown' if version is None else f'version {version}'}"
    found = [
        ("run", str(letter["id"])),
        ("job", f"{about}, queue {letter['queue']}"),
        ("slot", letter["slot"] or "none: it was asked for by hand or by an event"),
        ("command", _command(letter["command"])),
        ("dead", f"since {letter['dead_since']}, arrival number {letter['arrivals']}"),
        ("trace", str(letter["trace_id"])),
    ]
    unheld = "holds it no more, or never did: it can't be redriven or discarded here"
    return found if letter["redrivable"] else [*found, ("queue", unheld)]


def _command(command: Item | None) -> str:
    if command is None:
        return "unknown"
    line = str(command["argv"][0]) if command["shell"] else shlex.join(command["argv"])
    return f"{line}  (in {command['cwd']})" if command["cwd"] else line


def _attempt(attempt: Item) -> str:
    span = f"{attempt['started_at'] or '?'} to {attempt['ended_at'] or '?'}"
    worker = printable(str(attempt["worker"] or "?"))
    head = f"{attempt['number']}  {span}  worker {worker}  {attempt['outcome']}"
    error = error_text(attempt["error"])
    return f"{head}: {error}" if error else head


def _decision(decision: Item) -> str:
    by = f" by {shorten(decision['by'])}" if decision["by"] else ""
    why = f": {shorten(decision['reason'], 300)}" if decision["reason"] else ""
    word = str(decision["type"]).replace("_", " ")
    return printable(f"{decision['at']}  attempt {decision['attempt']} {word}{by}{why}")


def _output(text: str) -> list[str]:
    # Not splitlines(): it would swallow the very characters that have to be shown as escapes.
    lines = text.removesuffix("\n").split("\n") if text else []
    if not lines:
        return ["output   none was kept"]
    kept = lines[-OUTPUT_LINES:]
    left = len(lines) - len(kept)
    head = f"output   the last {len(kept)} lines; --json has {left} more" if left else "output"
    return [head, *(f"  | {printable(line)}" for line in kept)]
