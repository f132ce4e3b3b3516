"""Copies Tepat's ledger with SQLite's online backup, checks the copy, and keeps the last three."""

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from places import scratch, var

KEEP = 3


def main() -> int:
    source = var() / "ledger.db"
    if not source.exists():
        print(f"{source} is not there; start Tepat with SQLite first", file=sys.stderr)
        return 1
    folder = scratch("backups")
    number = max((int(path.stem.split("-")[1]) for path in folder.glob("ledger-*.db")), default=0) + 1
    target, part = folder / f"ledger-{number}.db", folder / f"ledger.part-{os.getpid()}"
    try:
        copy(source, part)
        said = check(part)
        if said != "ok":
            print(f"the copy is damaged: {said}", file=sys.stderr)
            return 1
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    for old in sorted(folder.glob("ledger-*.db"), key=lambda path: int(path.stem.split("-")[1]))[:-KEEP]:
        old.unlink()
    print(f"{target}: {target.stat().st_size} bytes, integrity ok")
    return 0


def copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as live, closing(sqlite3.connect(target)) as made:
        # In steps, so that Tepat's own writes never wait long for this reader.
        live.backup(made, pages=1000, sleep=0.01)


def check(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        return str(database.execute("PRAGMA integrity_check").fetchone()[0])


if __name__ == "__main__":
    sys.exit(main())
