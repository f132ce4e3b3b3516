"""The command line as a user meets it: every command listed and documented, exit codes, messages without tracebacks."""

import json
import re
from pathlib import Path

import pytest

from control import cli, spool
from control.commands.doctor import clock_in_step, store, tokens
from control.commands.slots import MAX_SLOTS

ROOT = Path(__file__).resolve().parents[2]
JOBS = """
defaults: {timezone: UTC, owner: us}
jobs:
  - {id: nightly, schedule: {cron: "30 2 * * *", timezone: Europe/Berlin}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "jobs"
    made.mkdir()
    (made / "jobs.yaml").write_text(JOBS)
    return made


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(re.search(rf"^  {name} ", said, re.MULTILINE) for name in cli.COMMANDS)


def test_every_command_is_documented_and_takes_json(capsys: pytest.CaptureFixture[str]) -> None:
    documented = set(re.findall(r"^## `tepat ([a-z]+)", (ROOT / "docs" / "commands.md").read_text(), re.MULTILINE))
    assert documented == set(cli.COMMANDS)
    for name in cli.COMMANDS:
        assert cli.main([name, "--help"]) == 0
        assert "--json" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["frobnicate"], [], ["slots"], ["lint"], ["run"], ["exec", "--unknown"]])
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    assert cli.main(arguments) == 2


def test_slots_of_a_cron_line_leave_from_out_and_take_to_in(capsys: pytest.CaptureFixture[str]) -> None:
    span = ["--from", "2026-03-28T01:30:00Z", "--to", "2026-03-30T00:30:00Z"]
    assert cli.main(["slots", "--cron", "30 2 * * *", "--tz", "Europe/Berlin", *span]) == 0
    assert capsys.readouterr().out.split() == ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]


def test_slots_of_a_job_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    span = ["--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02T00:00:00Z"]
    assert cli.main(["slots", "nightly", "--dir", str(folder), *span, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"slots": ["2026-01-01T01:30:00Z"], "skipped": []}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cron", "* * * * *"], "--tz"),
        (["--cron", "* * * * *", "--tz", "Europe/Berlim"], "Europe/Berlin"),
        (["--cron", "61 * * * *", "--tz", "UTC"], "61 * * * *"),
        (["--cron", "0 0 30 2 *", "--tz", "UTC"], "0 0 30 2 *"),
        (["nowhere"], "nightly"),
        ([], "JOB or --cron"),
    ],
)
def test_slots_say_what_is_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    span = ["--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02T00:00:00Z", "--dir", str(folder)]
    assert cli.main(["slots", *arguments, *span]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


def test_more_slots_than_fit_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    span = ["--from", "2026-01-01T00:00:00Z", "--to", "2028-01-01T00:00:00Z"]
    assert cli.main(["slots", "--cron", "* * * * *", "--tz", "UTC", *span]) == 2
    assert str(MAX_SLOTS) in capsys.readouterr().err


def test_lint_is_0_for_good_files_and_1_with_a_finding_for_bad_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "jobs.yaml").write_text(JOBS.replace("30 2", "30 4").replace("Berlin}", "Berlin}, deadline: {run: 1h}"))
    assert cli.main(["lint", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"findings": []}
    (folder / "jobs.yaml").write_text(JOBS.replace("cron", "corn"))
    assert cli.main(["lint", str(folder), "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {finding["level"] for finding in findings} == {"error"}
    assert any("corn" in finding["message"] for finding in findings)


def test_a_service_that_is_down_is_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text("t\n")
    monkeypatch.setenv("TEPAT_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("TEPAT_URL", "http://127.0.0.1:9")
    assert cli.main(["run", "nightly"]) == 3
    assert "tepat up" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("state", "status"), [(0, "ok"), (4, "ok"), (5, "warning"), (-1, "warning"), (None, "warning")]
)
def test_the_clocks_state_is_told(state: int | None, status: str) -> None:
    assert clock_in_step(lambda: state).status == status


def test_a_damaged_store_and_an_open_token_fail_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "queue.db").write_bytes(b"no database" * 1000)
    found = store("queue", tmp_path / "queue.db")
    assert (found.status, bool(found.remedy)) == ("fail", True)
    token = tmp_path / "tokens" / "admin"
    token.parent.mkdir()
    token.write_text("t\n")
    token.chmod(0o600)
    assert tokens(tmp_path).status == "ok"
    token.chmod(0o640)
    assert tokens(tmp_path).status == "fail"


def test_the_spool_takes_reports_up_to_its_bound_and_refuses_the_next(tmp_path: Path) -> None:
    bound = 2 * spool.FILE_COST
    for number in (1, 2):
        spool.add(str(tmp_path), {"id": f"e{number}"}, bound=bound)
    with pytest.raises(spool.SpoolFullError):
        spool.add(str(tmp_path), {"id": "e3"}, bound=bound)
    assert spool.waiting(str(tmp_path)) == ["e1.json", "e2.json"]
