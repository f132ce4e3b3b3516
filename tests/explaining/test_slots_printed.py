"""`tepat slots` as people use it: policies, dialects, calendars, iCalendar, collisions, and what it refuses."""

import json
from pathlib import Path

import pytest
from explaining.calendar_reading import read_calendar

from control import cli

FILES = """
defaults: {timezone: America/New_York, owner: us}
calendars:
  us: {country: US}
jobs:
  - id: report
    impact: Nobody knows, nobody asks
    run: {command: ["true"]}
    queue: big
    schedule: {cron: "0 7 * * 1-5", calendar: us, holidays: skip}
  - id: backup
    run: {command: ["true"]}
    schedule: {cron: "0 7,8 * * *"}
  - {id: boot, schedule: {cron: "@reboot"}, run: {command: ["true"]}}
  - {id: by-hand, run: {command: ["true"]}}
"""
NEW_YEAR = ["--from", "2021-12-30T00:00:00Z", "--to", "2022-01-04T00:00:00Z"]
SPRING = ["--from", "2026-03-08T00:00:00Z", "--to", "2026-03-09T12:00:00Z"]
GAP = ["--cron", "30 2 * * *", "--tz", "America/New_York", *SPRING]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.yaml").write_text(FILES)
    return tmp_path


@pytest.mark.parametrize(
    ("policy", "slots"),
    [
        ([], ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]),
        (["--dst", "once"], ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]),
        (["--dst", "skip"], ["2026-03-09T06:30:00Z"]),
        (["--dst", "literal"], ["2026-03-09T06:30:00Z"]),
    ],
)
def test_c03_each_policy_prints_its_own_slots(
    capsys: pytest.CaptureFixture[str], policy: list[str], slots: list[str]
) -> None:
    assert cli.main(["slots", *GAP, *policy]) == 0
    assert capsys.readouterr().out.split() == slots


@pytest.mark.parametrize(
    ("dialect", "text", "slot"),
    [
        ("crontab", "30 7 * * 4", "2018-02-15T07:30:00Z"),
        ("quartz", "0 30 7 ? * 4", "2018-02-14T07:30:00Z"),
        ("aws", "30 7 ? * 4 *", "2018-02-14T07:30:00Z"),
    ],
)
def test_c19_the_dialect_decides_what_a_weekday_number_means(
    capsys: pytest.CaptureFixture[str], dialect: str, text: str, slot: str
) -> None:
    span = ["--from", "2018-02-10T00:00:00Z", "--to", "2018-02-16T00:00:00Z", "--tz", "UTC"]
    assert cli.main(["slots", "--cron", text, "--dialect", dialect, *span]) == 0
    assert capsys.readouterr().out.split() == [slot]


def test_c20_skipped_slots_are_counted_beside_the_owed_ones(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["slots", "report", "--dir", str(folder), *NEW_YEAR]) == 0
    said = capsys.readouterr()
    assert said.out.split() == ["2021-12-30T12:00:00Z", "2022-01-03T12:00:00Z"]
    assert said.err == "1 more slot is skipped by the definition; --json says which, and why\n"


def test_c20_json_names_each_skipped_slot_with_its_reason(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["slots", "report", "--dir", str(folder), *NEW_YEAR, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "slots": ["2021-12-30T12:00:00Z", "2022-01-03T12:00:00Z"],
        "skipped": [{"slot": "2021-12-31T12:00:00Z", "reason": "holiday"}],
    }


@pytest.mark.parametrize(
    ("holidays", "days"),
    [
        ([], []),
        (["--holidays", "skip"], []),
        (["--holidays", "previous_business_day"], ["2021-12-30"]),
        (["--holidays", "next_business_day"], ["2022-01-03"]),
    ],
)
def test_a_calendar_of_the_folder_serves_a_cron_line(
    folder: Path, capsys: pytest.CaptureFixture[str], holidays: list[str], days: list[str]
) -> None:
    line = ["--cron", "0 7 31 * *", "--tz", "America/New_York", "--dir", str(folder), "--calendar", "us"]
    assert cli.main(["slots", *line, *holidays, *NEW_YEAR]) == 0
    assert [slot[:10] for slot in capsys.readouterr().out.split()] == days


@pytest.mark.parametrize("option", ["--ical", "--calendar"])
def test_icalendar_output_is_a_sound_calendar(folder: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert cli.main(["slots", "report", "--dir", str(folder), *NEW_YEAR, option]) == 0
    events = read_calendar(capsys.readouterr().out).inside
    assert [(event.properties["UID"], event.properties["STATUS"]) for event in events] == [
        ("report@2021-12-30T12:00:00Z@tepat", "CONFIRMED"),
        ("report@2021-12-31T12:00:00Z@tepat", "CANCELLED"),
        ("report@2022-01-03T12:00:00Z@tepat", "CONFIRMED"),
    ]
    assert events[0].properties["DESCRIPTION"] == "Owner: us\nImpact: Nobody knows, nobody asks"


def test_events_of_two_cron_lines_keep_apart(capsys: pytest.CaptureFixture[str]) -> None:
    ids = []
    for text in ("0 7 * * *", "0 7,8 * * *"):
        assert cli.main(["slots", "--cron", text, "--tz", "UTC", *NEW_YEAR, "--ical"]) == 0
        ids.append({event.properties["UID"] for event in read_calendar(capsys.readouterr().out).inside})
    assert not ids[0] & ids[1]


def test_collisions_are_a_table_with_room_at_its_end(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day = ["--from", "2021-12-30T00:00:00Z", "--to", "2021-12-31T00:00:00Z"]
    assert cli.main(["slots", "--dir", str(folder), *day, "--collisions"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "minute (UTC)            jobs  which (by queue)",
        "2021-12-30T12:00:00Z       2  backup, report (big 1, default 1)",
        "room in the hour: 01-59 (0 starts); try 30",
        "room in the day (UTC): 13:01-11:59 (0 starts), 12:01-12:59 (0 starts); try 00:30",
    ]


def test_collisions_as_json_hold_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day = ["--from", "2021-12-30T00:00:00Z", "--to", "2021-12-31T00:00:00Z"]
    assert cli.main(["slots", "report", "--dir", str(folder), *day, "--collisions", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["starts"] == 3
    assert found["collisions"] == [
        {
            "minute": "2021-12-30T12:00:00Z",
            "count": 2,
            "jobs": ["backup", "report"],
            "queues": {"big": 1, "default": 1},
        }
    ]
    assert found["room"]["hour"] == [{"from": "01", "to": "59", "minutes": 59, "starts": 0, "suggestion": "30"}]
    assert found["room"]["day"][0]["suggestion"] == "00:30"


def test_a_range_in_which_nothing_starts_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hour = ["--from", "2021-12-30T01:00:00Z", "--to", "2021-12-30T02:00:00Z"]
    assert cli.main(["slots", "--dir", str(folder), *hour, "--collisions"]) == 0
    assert capsys.readouterr().out == "Nothing starts in that range.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "--dst", "skip"], "--dst is only for --cron"),
        (["report", "--calendar", "us"], "for iCalendar write --ical"),
        (["--cron", "0 7 * * *", "--tz", "UTC", "--calendar", "nowhere"], "'nowhere' is not a calendar of"),
        (["--cron", "0 7 * * *", "--tz", "UTC", "--holidays", "skip"], "needs --calendar NAME"),
        (["--cron", "0 7 * * *", "--tz", "UTC", "--collisions"], "leave --cron out"),
        (["--cron", "@reboot", "--tz", "UTC"], "it has no slots"),
        (["report", "--ical", "--json"], "choose one"),
        (["nobody", "--collisions"], "'nobody' is not a job of"),
        (["boot"], "runs at the host's start"),
        (["by-hand"], "by-hand has no schedule"),
        (["--cron", "0 0 29 2 *", "--tz", "UTC", "--ical"], "ask for a longer range"),
    ],
)
def test_what_can_not_be_printed_is_2_with_the_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert cli.main(["slots", *arguments, "--dir", str(folder), *NEW_YEAR]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.out == ""


@pytest.mark.parametrize(
    ("since", "until"),
    [("1899-12-31T23:59:59Z", "1900-01-02T00:00:00Z"), ("8999-12-31T00:00:00Z", "9000-01-01T00:00:00Z")],
)
@pytest.mark.parametrize("output", [[], ["--collisions"]])
def test_years_without_slots_are_2_with_the_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str], since: str, until: str, output: list[str]
) -> None:
    job = [] if output else ["backup"]
    assert cli.main(["slots", *job, "--dir", str(folder), "--from", since, "--to", until, *output]) == 2
    assert "give a year from 1900 to 8999" in capsys.readouterr().err


def test_too_many_events_for_a_calendar_are_2_with_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    span = ["--from", "2026-01-01T00:00:00Z", "--to", "2026-01-08T00:00:00Z"]
    assert cli.main(["slots", "--cron", "* * * * *", "--tz", "UTC", *span, "--ical"]) == 2
    assert "10080 slots are more than a calendar holds (10000); ask for a shorter range" in capsys.readouterr().err
