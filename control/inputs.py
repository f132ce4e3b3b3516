"""What a user pointed at: an instant, a folder of definitions, an answer of the service. Turns their faults into
errors of the command line that name the value and the remedy.
"""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from control.commands import UsageError
from scheduler.instants import parse_instant

if TYPE_CHECKING:
    from scheduler.definitions import Definitions


def instant(option: str, text: str) -> datetime:
    """An RFC 3339 argument as an aware UTC datetime. Raises UsageError, naming the option."""
    try:
        return parse_instant(text)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{option}: {error}") from None


def folder(path: Path) -> Path:
    """A folder (or file) that is there. Raises UsageError."""
    if not path.exists():
        raise UsageError(f"{path}: there is no such folder; give the one that holds the job files")
    return path


def definitions(path: Path) -> "Definitions":
    """The checked definitions of a folder. Raises UsageError with every problem of every file, one a line."""
    from scheduler.definitions import DefinitionError, load_folder

    try:
        return load_folder(folder(path))
    except DefinitionError as error:
        raise UsageError(f"{path} can't be used:\n{error}") from None
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error}") from None
