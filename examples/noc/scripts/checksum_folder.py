"""SHA-256 of every file in a folder, compared with the last run's list. Says what changed; a change is no failure."""

import hashlib
import sys
from pathlib import Path

from places import scratch


def main(folder: Path) -> int:
    known = scratch(".") / "checksums.txt"
    old = read(known) if known.exists() else None
    new = {str(path.relative_to(folder)): digest(path) for path in sorted(folder.rglob("*")) if wanted(path)}
    known.write_text("".join(f"{value}  {name}\n" for name, value in new.items()), encoding="utf-8")
    print(f"{len(new)} files")
    if old is not None:
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                print(f"changed: {name}")
    return 0


def wanted(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: value for value, _, name in (line.partition("  ") for line in lines)}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
