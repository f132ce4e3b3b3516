import socket
from collections.abc import Callable

import pytest
from servers import Prometheus, require

CONFIG = """
scrape_configs:
  - job_name: itself
    scrape_interval: 1s
    static_configs: [{targets: ["127.0.0.1:1"]}]
"""


def test_a_started_prometheus_answers_queries(start_prometheus: Callable[[str], Prometheus]) -> None:
    server = start_prometheus(CONFIG)
    assert server.query("vector(7)")[0]["value"][1] == "7"


def test_two_servers_of_one_test_do_not_meet(start_prometheus: Callable[[str], Prometheus]) -> None:
    first, second = start_prometheus(CONFIG), start_prometheus(CONFIG)
    assert first.url != second.url
    assert first.folder != second.folder


def test_a_missing_server_skips_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install --no-install-recommends nosuchpackage"):
        require("no-such-binary", "nosuchpackage")


def test_a_missing_server_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no-such-binary is missing"):
        require("no-such-binary", "nosuchpackage")


def test_a_free_port_can_be_listened_on(free_port: int) -> None:
    with socket.create_server(("127.0.0.1", free_port)) as server:
        assert server.getsockname()[1] == free_port
