"""Screens of the dashboard before a server that plays recorded answers."""

import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "dashboard"))  # as Streamlit does it

from dashboard.playback import TOKEN, Backend, Player, recorded


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Plays the answers named by the test's parameter, "burning" when there is none."""
    playing = Backend(recorded(getattr(request, "param", "burning")))
    server = Player(playing)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield playing
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n", encoding="utf-8")
    return path


@pytest.fixture
def settings(backend: Backend, token_file: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a dashboard that looks at the backend, its cache cleared."""
    import streamlit as st

    environment = {"TEPAT_API": backend.url, "TEPAT_TOKEN_FILE": str(token_file)}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    st.cache_data.clear()
    return environment
