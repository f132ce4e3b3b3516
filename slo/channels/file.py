"""Notices as lines in a file: one JSON object a line, on disk before it counts as told."""

import fcntl
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from slo.notices import Notice, to_json


def append(path: Path | str, notices: Sequence[Notice]) -> None:
    """Append one line for each notice and fsync it. Raises OSError when the file can't be written.

    A line that an earlier crash or a full disk left without its end is closed first, so it spoils no other.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    created = not target.exists()
    descriptor = os.open(target, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        # Another process may append between the look at the last byte and the write.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        lines = b"".join(to_json(notice) + b"\n" for notice in notices)
        _write_all(descriptor, (b"\n" if _is_torn(descriptor) else b"") + lines)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if created:
        _sync_folder(target.parent)


def _is_torn(descriptor: int) -> bool:
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_size == 0:
        return False
    return os.pread(descriptor, 1, about.st_size - 1) != b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _sync_folder(folder: Path) -> None:
    # Without it a power cut may leave the bytes on disk and no name that leads to them.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
