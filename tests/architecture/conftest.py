from pathlib import Path

import pytest
from architecture.source import ROOT


@pytest.fixture
def repository() -> Path:
    """The root of the repository."""
    return ROOT
