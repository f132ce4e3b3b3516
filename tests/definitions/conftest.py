"""A folder that a test fills with configuration files."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes one file below the folder and answers the folder."""

    def put(text: str, name: str = "jobs.yaml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        return tmp_path

    return put
