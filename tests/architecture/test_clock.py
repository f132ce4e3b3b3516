import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from architecture.source import PACKAGES, files_of, name_of, tree_of

THE_READER = "scheduler/clock.py"
READINGS = {"now", "utcnow", "today"}
DATE_TYPES = {"datetime", "date", "Timestamp"}
# SQLite and PostgreSQL have clocks too, and a statement that reads one can't be replayed.
SQL_CLOCK = re.compile(
    r"\bCURRENT_(TIMESTAMP|TIME|DATE)\b|\b(datetime|strftime|julianday|unixepoch)\([^)]*'now'", re.IGNORECASE
)


@pytest.mark.parametrize("package", PACKAGES)
def test_one_file_alone_reads_the_clock(package: str) -> None:
    others = [path for path in files_of(package) if name_of(path) != THE_READER]
    found = [f"{name_of(path)}:{line} {what}" for path in others for line, what in readings_in(tree_of(path))]
    assert not found, "\n".join(found)


def test_the_reader_itself_is_seen_to_read_the_clock(repository: Path) -> None:
    assert list(readings_in(tree_of(repository / THE_READER)))


@pytest.mark.parametrize(
    "text",
    [
        "import time",
        "from time import monotonic",
        "import datetime as dt\ndt.datetime.now(dt.UTC)",
        "from datetime import datetime\nread = datetime.now",
        "from datetime import date\ndate.today()",
        "sql = \"SELECT strftime('%s', 'now')\"",
        "sql = 'INSERT INTO t VALUES (current_timestamp)'",
    ],
)
def test_every_way_to_read_a_clock_is_seen(text: str) -> None:
    assert list(readings_in(ast.parse(text)))


@pytest.mark.parametrize("text", ["from datetime import time", "from scheduler.clock import now\nnow()", "row.today"])
def test_what_only_looks_like_a_clock_is_let_pass(text: str) -> None:
    assert not list(readings_in(ast.parse(text)))


def readings_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and kind of whatever could read a clock: the time module, a date type's reading, a clock inside SQL."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(alias.name == "time" for alias in node.names):
            yield node.lineno, "import time"
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield node.lineno, "from time import"
        elif isinstance(node, ast.Attribute) and node.attr in READINGS and _last_name(node.value) in DATE_TYPES:
            yield node.lineno, f"{_last_name(node.value)}.{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_CLOCK.search(node.value):
            yield node.lineno, "a clock in SQL"


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
