"""`tepat why` from files alone, and what it refuses."""

import json
from pathlib import Path

import pytest

from control import cli

FILES = """
defaults: {timezone: America/New_York}
calendars:
  us: {country: US}
jobs:
  - {id: billing, schedule: {cron: "30 2 * * *"}, run: {command: ["true"]}}
  - {id: later, schedule: {cron: "30 2 * * *"}, valid_from: 2026-06-01T00:00:00Z}
  - {id: report, schedule: {cron: "0 7 * * 1-5", calendar: us, holidays: skip}}
"""
ASKED = ["--at", "2026-03-08T02:30:00-05:00"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.yaml").write_text(FILES)
    return tmp_path


def test_c03_the_gap_is_said_as_a_colleague_would(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["why", "billing", *ASKED, "--dir", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Sunday 2026-03-08 03:30 in America/New_York (2026-03-08T07:30:00Z) is no slot of billing.",
        "02:30 does not exist on 2026-03-08 in America/New_York: the clocks go forward from 02:00 to 03:00.",
        "`dst: once` lets it run at the first real minute after the gap, 03:00 (2026-03-08T07:00:00Z).",
        (
            "The slot before is Sunday 2026-03-08 03:00 (2026-03-08T07:00:00Z);"
            " the next is Monday 2026-03-09 02:30 (2026-03-09T06:30:00Z)."
        ),
        "This comes from the files alone, which know no runs; without --dir the service is asked.",
    ]


def test_json_holds_the_reason_in_one_word(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["why", "report", "--at", "2021-12-31T12:00:00Z", "--dir", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    sentences = found.pop("sentences")
    assert found == {
        "job": "report",
        "run": None,
        "at": "2021-12-31T12:00:00Z",
        "slot": "2021-12-31T12:00:00Z",
        "owed": False,
        "code": "holiday",
    }
    assert "New Year's Day (observed)" in sentences[1]


def test_the_valid_from_of_a_file_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["why", "later", *ASKED, "--dir", str(folder)]) == 0
    assert "later is valid from 2026-06-01T00:00:00Z on" in capsys.readouterr().out


def test_the_id_of_a_scheduled_run_is_explained_by_its_slot(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["why", "billing@2026-03-08T07:00:00Z", "--dir", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["slot"], found["code"], found["owed"]) == ("2026-03-08T07:00:00Z", "dst_gap", True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["billing"], "give either a JOB with --at T, or a RUN"),
        (["billing@2026-03-08T07:00:00Z", *ASKED], "give either a JOB with --at T, or a RUN"),
        (["billing!key"], "files know no runs; ask the service"),
        (["billing@yesterday"], "'yesterday' is not an RFC 3339 instant"),
        (["billing", "--at", "2026-03-08T02:30:00"], "has no UTC offset"),
        (["nobody", *ASKED], "'nobody' is not a job of"),
        (["billing", "--at", "1899-12-31T23:59:59Z"], "ask about one from 1900 to 8999"),
        (["billing", "--at", "9000-01-01T00:00:00Z"], "ask about one from 1900 to 8999"),
        (["billing@0001-01-01T00:00:00Z"], "ask about one from 1900 to 8999"),
    ],
)
def test_what_can_not_be_explained_is_2_with_the_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert cli.main(["why", *arguments, "--dir", str(folder)]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("instant", ["1900-01-01T00:00:00Z", "8999-12-31T23:59:59Z"])
@pytest.mark.parametrize("job", ["billing", "later", "report"])
def test_the_first_and_the_last_instant_of_the_range_are_explained(folder: Path, job: str, instant: str) -> None:
    assert cli.main(["why", job, "--at", instant, "--dir", str(folder)]) == 0


def test_a_service_that_does_not_answer_is_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text("t\n")
    monkeypatch.setenv("TEPAT_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("TEPAT_URL", "http://127.0.0.1:9")
    assert cli.main(["why", "billing", *ASKED]) == 3
    assert "tepat up" in capsys.readouterr().err
