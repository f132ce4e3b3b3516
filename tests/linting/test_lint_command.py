"""`tepat lint` as a person calls it: what it prints, its exit code, its year and its service."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from control import cli

ROOT = Path(__file__).parents[2]
CLEAN = """
defaults: {timezone: Asia/Jakarta, owner: platform}
jobs:
  - id: disk-report
    schedule: {cron: "*/5 * * * *"}
    run: {command: [df, -h], timeout: 1m}
  - {id: sync, schedule: {cron: "0 4 * * *"}, deadline: {run: 2h}}
"""
NIGHTLY = """
jobs:
  - {id: sync, schedule: {cron: "30 2 * * *", timezone: Europe/Berlin}, deadline: {run: 2h}}
"""


@pytest.fixture
def lint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def ask(text: str, *arguments: str) -> tuple[int, str]:
        folder = tmp_path / "jobs"
        folder.mkdir(exist_ok=True)
        (folder / "jobs.yaml").write_text(text)
        code = cli.main(["lint", str(folder), *arguments])
        output = capsys.readouterr()
        return code, output.out + output.err

    return ask


def codes(text: str) -> list[str]:
    return [finding["code"] for finding in json.loads(text)["findings"]]


def test_a_clean_folder_prints_its_count_and_nothing_else(lint: Any) -> None:
    assert lint(CLEAN) == (0, "errors: 0, warnings: 0\n")
    code, text = lint(CLEAN, "--json")
    assert (code, json.loads(text)) == (0, {"findings": []})


def test_a_warning_is_one_line_and_leaves_the_exit_code_at_0(lint: Any) -> None:
    code, text = lint(NIGHTLY, "--year", "2026")
    assert code == 0
    assert text == (
        "warning: jobs.yaml#sync: 02:30 does not exist on 2026-03-29 in Europe/Berlin: clocks go forward from 02:00; "
        "`dst: once` runs it at 03:00 (2026-03-29T01:00:00Z) [gap_time]\n"
        "warning: jobs.yaml#sync: 02:30 comes twice on 2026-10-25 in Europe/Berlin: clocks go back from 03:00; "
        "`dst: once` runs it once, the first time (2026-10-25T00:30:00Z) [fold_time]\n"
        "errors: 0, warnings: 2\n"
    )


def test_an_error_in_what_the_files_mean_is_1(lint: Any) -> None:
    closed = CLEAN.replace('"0 4 * * *"}', '"0 12 * * *"}, window: {from: "22:00", to: "05:00"}')
    code, text = lint(closed, "--json", "--year", "2026")
    assert code == 1
    (finding,) = json.loads(text)["findings"]
    assert (finding["level"], finding["code"], finding["where"]) == ("error", "never_fires", "jobs.yaml#sync")


def test_errors_of_the_files_are_shown_once_and_without_warnings(lint: Any) -> None:
    code, text = lint(NIGHTLY + "  - {id: b, schedule: {cron: '0 0 30 2 *', timezone: UTC}}\nslos: 5\n", "--json")
    assert code == 1
    assert sorted(codes(text)) == ["definition", "never_fires"]


def test_the_year_decides_which_clock_changes_are_told(lint: Any) -> None:
    assert "2031-03-30" in lint(NIGHTLY, "--year", "2031")[1]
    assert "2026" not in lint(NIGHTLY, "--year", "2031")[1]


@pytest.mark.parametrize(("year", "code"), [("1969", 2), ("1970", 0), ("2199", 0), ("2200", 2), ("soon", 2)])
def test_a_year_without_zone_rules_is_refused(lint: Any, year: str, code: int) -> None:
    found, text = lint(CLEAN, "--year", year)
    assert found == code
    assert "Traceback" not in text


def test_the_example_has_no_errors_and_these_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["lint", str(ROOT / "examples" / "noc"), "--json", "--year", "2026"]) == 0
    assert sorted(codes(capsys.readouterr().out)) == ["fold_time", "gap_time", "no_deadline", "start_within_tiny"]


class Service(BaseHTTPRequestHandler):
    """Answers the list of jobs to whoever shows the token, as the API does."""

    items: Any = ()

    def do_GET(self) -> None:
        known = self.path == "/api/v1/jobs" and self.headers["Authorization"] == "Bearer secret"
        body = json.dumps({"items": self.items, "next": None}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the parent's name)
        pass


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Service]]:
    token = tmp_path / "token"
    token.write_text("secret\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        monkeypatch.setenv("TEPAT_TOKEN_FILE", str(token))
        monkeypatch.setenv("TEPAT_URL", f"http://127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Service
        server.shutdown()
        thread.join()


def took(job: str, seconds: float | None) -> dict[str, Any]:
    return {"id": job, "duration_seconds": {"count": 1, "p50": seconds, "p95": seconds}}


def test_measured_durations_of_the_service_are_held_against_limits(lint: Any, service: type[Service]) -> None:
    service.items = [took("disk-report", 301.0), took("sync", None), took("elsewhere", 9.0)]
    assert lint(CLEAN, "--json")[1] == '{\n  "findings": []\n}\n'
    code, text = lint(CLEAN, "--json", "--service")
    assert code == 0
    assert codes(text) == ["run_time_exceeds_interval", "grace_too_short"]


@pytest.mark.parametrize("items", [None, 5, [5], [{"id": "a"}], [{"id": "a", "duration_seconds": {"p95": "x"}}]])
def test_a_service_that_answers_otherwise_is_3(lint: Any, service: type[Service], items: Any) -> None:
    service.items = items
    code, text = lint(CLEAN, "--service")
    assert code == 3
    assert "does not answer as Tepat does" in text


def test_a_service_that_is_down_is_3_and_without_a_token_2(
    lint: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEPAT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("TEPAT_TOKEN_FILE", str(tmp_path / "none"))
    assert lint(CLEAN, "--service")[0] == 2
    (tmp_path / "none").write_text("t\n")
    assert lint(CLEAN, "--service")[0] == 3
