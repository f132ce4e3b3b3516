from pathlib import Path

import pytest
from architecture.source import PACKAGES, ROOT, files_of, imports_of, name_of

MAY_IMPORT = {
    "scheduler": {"scheduler"},
    "collector": {"scheduler", "collector"},
    "slo": {"scheduler", "collector", "slo"},
    "control": {"scheduler", "collector", "slo", "control"},
    "dashboard": {"dashboard"},
}

PURE_FILES = (
    "slo/promises.py",
    "slo/replay.py",
    "slo/board.py",
    "collector/book.py",
    "collector/anonymous.py",
    "collector/summary.py",
    "collector/rollups.py",
    "collector/hints.py",
    "scheduler/timelaw.py",
    "scheduler/day_times.py",
    "scheduler/offsets.py",
    "scheduler/cron.py",
    "scheduler/cron_fields.py",
    "scheduler/cron_spread.py",
    "scheduler/calendars.py",
    "scheduler/batch_windows.py",
    "scheduler/repeats.py",
    "scheduler/icalendar.py",
    "scheduler/collisions.py",
    *(f"scheduler/explaining/{name}.py" for name in ("why", "versions", "slot", "no_slot", "fields", "clock", "runs")),
    *(f"scheduler/linting/{name}.py" for name in ("jobs", "clock", "collisions", "commands", "cron", "runs", "slots")),
    "scheduler/policy.py",
    "scheduler/queue_load.py",
    "scheduler/scaling.py",
    "collector/runs.py",
    "collector/verdicts.py",
    "collector/sketch.py",
    "collector/facts.py",
    "slo/windows.py",
    "slo/budget.py",
    "slo/alerts.py",
    "slo/facts.py",
)

# What a decision may need. Whatever is not here could read a clock, a file, a socket or a database.
PURE_LIBRARIES = {
    *("abc", "bisect", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools"),
    *("hashlib", "heapq", "itertools", "json", "math", "operator", "re", "statistics", "types", "typing"),
    "zoneinfo",  # reads zone files, whose content the pinned tzdata fixes
    "holidays",  # tables of dates that the lock fixes
    "difflib",  # the nearest known name, for a message
    *("msgspec", "numpy"),
}
VALUES_ON_THE_WAY = {"pathlib"}  # a setting may hold a path as a value; the pure file itself may not


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_those_the_arrows_lead_to(package: str) -> None:
    wrong = [
        f"{name_of(path)} imports {module}"
        for path in files_of(package)
        for module in sorted(imports_of(path))
        if (top := module.split(".")[0]) in PACKAGES and top not in MAY_IMPORT[package]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_of_the_layout_has_files_to_look_at(package: str) -> None:
    assert files_of(package)


@pytest.mark.parametrize("name", PURE_FILES)
def test_a_pure_file_imports_no_library_that_does_io_itself_or_through_others(name: str) -> None:
    assert not impure_imports(ROOT / name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import os.path", "os"),
        ("from pathlib import Path", "pathlib"),
        ("def late():\n    from sqlalchemy import text", "sqlalchemy"),
        ("from importlib import import_module\nimport_module('httpx')", "httpx"),
        ("from scheduler.clock import now", "time"),
    ],
)
def test_the_check_for_pure_files_sees_every_way_to_import(tmp_path: Path, text: str, expected: str) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(text)
    assert any(found.endswith(f" imports {expected}") for found in impure_imports(sample))


def impure_imports(start: Path) -> list[str]:
    """Every import of a library outside PURE_LIBRARIES by this file or by a file of the project that it reaches."""
    wrong: list[str] = []
    waiting, seen = [start], {start}
    while waiting:
        path = waiting.pop()
        modules = imports_of(path)
        allowed = PURE_LIBRARIES if path == start else PURE_LIBRARIES | VALUES_ON_THE_WAY
        tops = {module.split(".")[0] for module in modules} - set(PACKAGES) - allowed
        wrong += [f"{path.parent.name}/{path.name} imports {top}" for top in sorted(tops)]
        reached = {file for module in modules if (file := file_of(module)) is not None} - seen
        seen |= reached
        waiting += sorted(reached)
    return wrong


def file_of(module: str) -> Path | None:
    """The file of one of the project's own modules; None for a package, a library, or a name inside a module."""
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return path if module.split(".")[0] in PACKAGES and path.is_file() else None
