"""Writes to a log in the scratch folder and rotates it: app.log to app.log.1.gz, up to five."""

import gzip
import shutil
import sys

from places import scratch

KEEP = 5


def main() -> int:
    folder = scratch("logs")
    log = folder / "app.log"
    with log.open("a", encoding="utf-8") as out:
        out.writelines(f"line {number}: work went on\n" for number in range(1000))
    for number in range(KEEP - 1, 0, -1):
        older = folder / f"app.log.{number}.gz"
        if older.exists():
            older.replace(folder / f"app.log.{number + 1}.gz")
    packed = folder / "app.log.1.gz"
    with log.open("rb") as plain, gzip.open(packed, "wb") as target:
        shutil.copyfileobj(plain, target)
    size = log.stat().st_size
    log.unlink()
    print(f"rotated {size} bytes into {packed.stat().st_size}; {len(list(folder.glob('*.gz')))} old logs kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
