"""The example a newcomer sees first: it loads without a warning, and its scripts do what they say."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from scheduler.timelaw import slots_between
from slo.objectives import lint_warnings, load_configuration, selects

NOC = Path(__file__).parents[2] / "examples" / "noc"


def script(name: str, var: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    known = {"PATH": os.environ["PATH"], "TEPAT_STORE": str(var / "queue.db"), "PYTHONDONTWRITEBYTECODE": "1", **env}
    argv = [sys.executable, f"scripts/{name}.py", *arguments]
    return subprocess.run(argv, cwd=NOC, env=known, capture_output=True, text=True, check=False, timeout=60)


def test_the_example_loads_without_a_problem_or_a_warning() -> None:
    definitions, files = load_configuration(NOC)
    assert lint_warnings(files.objectives, definitions.jobs) == ()
    assert len(definitions.jobs) >= 12


def test_most_jobs_are_due_within_two_minutes_and_three_zones_are_among_all() -> None:
    jobs = load_configuration(NOC)[0].jobs
    start = datetime(2026, 6, 1, 12, 0, 30, tzinfo=UTC)
    schedules = [job.schedule for job in jobs if job.schedule and job.enabled]
    due = [schedule for schedule in schedules if slots_between(schedule, start, start + timedelta(minutes=2))]
    assert len(due) >= 12
    assert {schedule.timezone for schedule in schedules} >= {"Asia/Jakarta", "America/New_York", "Europe/Berlin"}


def test_every_enabled_job_has_an_owner_an_impact_and_an_objective() -> None:
    definitions, files = load_configuration(NOC)
    for job in definitions.jobs:
        assert job.owner, job.id
        assert job.impact, job.id
        assert not job.enabled or any(selects(objective, job) for objective in files.objectives), job.id


def test_the_backup_is_checked_and_the_last_three_are_kept(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as database, database:
        database.execute("CREATE TABLE kept (value TEXT)")
        database.execute("INSERT INTO kept VALUES ('x')")
    for _ in range(5):
        done = script("backup_store", tmp_path)
        assert done.returncode == 0, done.stderr
    copies = sorted((tmp_path / "noc" / "backups").iterdir())
    assert [copy.name for copy in copies] == ["ledger-3.db", "ledger-4.db", "ledger-5.db"]
    with closing(sqlite3.connect(copies[-1])) as database:
        assert database.execute("SELECT value FROM kept").fetchall() == [("x",)]


def test_the_backup_fails_when_there_is_no_store(tmp_path: Path) -> None:
    done = script("backup_store", tmp_path)
    assert done.returncode == 1
    assert "is not there" in done.stderr


def test_logs_are_rotated_and_five_are_kept(tmp_path: Path) -> None:
    for _ in range(7):
        assert script("rotate_logs", tmp_path).returncode == 0
    names = sorted(path.name for path in (tmp_path / "noc" / "logs").iterdir())
    assert names == [f"app.log.{number}.gz" for number in range(1, 6)]


def test_a_changed_file_is_named_by_the_checksum_job(tmp_path: Path) -> None:
    folder = tmp_path / "watched"
    folder.mkdir()
    (folder / "a.txt").write_text("one")
    assert "changed" not in script("checksum_folder", tmp_path, str(folder)).stdout
    assert "changed" not in script("checksum_folder", tmp_path, str(folder)).stdout
    (folder / "a.txt").write_text("two")
    assert "changed: a.txt" in script("checksum_folder", tmp_path, str(folder)).stdout


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_self_check_goes_by_what_the_api_answers(tmp_path: Path, status: int, code: int) -> None:
    class Ready(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/readyz" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the parent's name)
            pass

    with HTTPServer(("127.0.0.1", 0), Ready) as server:
        Thread(target=server.handle_request, daemon=True).start()
        done = script("self_check", tmp_path, TEPAT_API=f"http://127.0.0.1:{server.server_port}/")
    assert done.returncode == code, done.stderr
