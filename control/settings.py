"""Where things are when nobody says otherwise: the service, its tokens, its files, the spool of unsent reports.

Reads the environment it is handed and file names only; it opens nothing but token files. Light to import, because
`tepat exec` does so with each run of a job.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:  # pathlib costs each run of a job a third of an interpreter's start
    from pathlib import Path

DEFAULT_URL = "http://127.0.0.1:8080"
DEFAULT_VAR = "var"
API_PORT = 8080
DASHBOARD_PORT = 8501
MAX_TOKEN_BYTES = 4096


def service_url(environ: Mapping[str, str]) -> str:
    """`TEPAT_URL` without its trailing slash, or the address `tepat up` listens on."""
    return (environ.get("TEPAT_URL") or DEFAULT_URL).rstrip("/")


def token_file(environ: Mapping[str, str], role: str = "admin") -> str:
    """`TEPAT_TOKEN_FILE`, or the file that `tepat up` makes for a role below `./var`."""
    return environ.get("TEPAT_TOKEN_FILE") or os.path.join(DEFAULT_VAR, "tokens", role)


def read_token(path: str | Path) -> str:
    """The first line of a token file. Raises OSError when it can't be read, ValueError when it holds no token."""
    with open(path, encoding="ascii") as file:
        token = file.read(MAX_TOKEN_BYTES).partition("\n")[0].strip()
    if not token or any(character.isspace() or not character.isprintable() for character in token):
        raise ValueError(f"{path} holds no token; it must be one line of printable characters")
    return token


def spool_folder(environ: Mapping[str, str]) -> str:
    """`TEPAT_SPOOL`, or `/var/spool/tepat` for root and `~/.local/state/tepat/spool` for everybody else."""
    given = environ.get("TEPAT_SPOOL")
    if given:
        return given
    if os.geteuid() == 0:
        return "/var/spool/tepat"
    state = environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "tepat", "spool")


def queue_file(var: Path) -> Path:
    """The queue's database below a var folder."""
    return var / "queue.db"


def ledger_file(var: Path) -> Path:
    """The ledger's database below a var folder."""
    return var / "ledger.db"


def open_to_others(path: Path) -> bool:
    """Whether anybody but the owner may read or write the file; a token must not be."""
    return bool(path.stat().st_mode & 0o077)
