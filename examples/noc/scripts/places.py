"""Where the example keeps things: beside Tepat's own store, or in ./var of the checkout when run by hand."""

import os
from pathlib import Path


def var() -> Path:
    """Tepat's data folder. A worker names its queue database in TEPAT_STORE."""
    store = os.environ.get("TEPAT_STORE", "")
    if store.startswith("/"):
        return Path(store).parent
    return Path(__file__).resolve().parents[3] / "var"


def scratch(name: str) -> Path:
    """A folder of its own for a job's files."""
    folder = var() / "noc" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
