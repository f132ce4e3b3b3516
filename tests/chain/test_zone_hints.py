"""Runs that keep coming at one offset from slots that are then missed: the zone is wrong, not the job."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from collector.facts import Run
from collector.hints import zone_hint
from scheduler.instants import format_instant
from scheduler.jobs import Job, OnTime, Schedule
from slo.backtest import backtest

DAILY = Job(
    id="nightly",
    schedule=Schedule(cron="0 5 * * *", timezone="UTC"),
    on_time=OnTime(start_within=timedelta(hours=1)),
)
FIRST = datetime(2019, 8, 19, 5, tzinfo=UTC)
SLOTS = [FIRST + timedelta(days=day) for day in range(5)]


def started(offset: timedelta, slots: list[datetime]) -> list[Run]:
    return [
        Run(
            id=f"r{number}", job="nightly", source="cron", slot=None, outcome="succeeded",
            started_at=slot + offset, first_at=slot + offset,
        )
        for number, slot in enumerate(slots)
    ]  # fmt: skip


def test_five_starts_three_hours_early_miss_five_slots_and_hint_at_the_zone(tmp_path: Path) -> None:  # C11
    (tmp_path / "tepat.yaml").write_text(
        'jobs: [{id: nightly, schedule: {cron: "0 5 * * *", timezone: UTC}, on_time: {start_within: 1h}}]\n'
        "slos: [{id: nights, indicator: on_time, select: {job: nightly}, objective: 99%, window: 30d}]\n"
    )
    seconds = (5, 3, 4, 5, 3)
    lines = [
        {"id": str(day), "source": "cron", "job": "nightly", "run": f"n{day}", "type": "started",
         "at": format_instant(FIRST + timedelta(days=day, hours=-3, seconds=second))}
        for day, second in enumerate(seconds)
    ]  # fmt: skip
    events = tmp_path / "events.ndjson"
    events.write_text("\n".join(map(json.dumps, lines)))
    report = backtest(
        tmp_path, events, FIRST - timedelta(hours=5), SLOTS[-1] + timedelta(hours=2), timedelta(minutes=1)
    )
    job = report["jobs"]["nightly"]
    assert (job["slots"]["expected"], job["slots"]["on_time"], job["slots"]["missed"]) == (5, 0, 5)
    assert (job["on_time_rate"], job["runs"]["total"]) == (0.0, 5)
    assert job["flags"] == ["timezone_mismatch:-180"]
    # One grouped alert of each severity, not five: a ticket at the first miss, a page at the second in a row.
    told = [(alert["severity"], alert["started_at"]) for alert in report["alerts"]]
    assert told == [("ticket", "2019-08-19T06:00:00Z"), ("page", "2019-08-20T06:00:00Z")]


@pytest.mark.parametrize(
    ("count", "expected"), [(4, None), (5, "timezone_mismatch:-180"), (6, "timezone_mismatch:-180")]
)
def test_it_takes_five_runs_with_one_offset(count: int, expected: str | None) -> None:
    slots = [FIRST + timedelta(days=day) for day in range(8)]
    assert zone_hint(DAILY, set(slots), started(timedelta(hours=-3), slots[:count])) == expected


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (timedelta(hours=-3, seconds=301), None),
        (timedelta(hours=-3, seconds=300), "timezone_mismatch:-180"),
        (timedelta(hours=-3, seconds=-300), "timezone_mismatch:-180"),
        (timedelta(hours=-3, seconds=-301), None),
        (timedelta(hours=-5, minutes=-30), "timezone_mismatch:-330"),
        (timedelta(minutes=-4), None),
    ],
)
def test_an_offset_is_a_multiple_of_a_quarter_of_an_hour(offset: timedelta, expected: str | None) -> None:
    assert zone_hint(DAILY, set(SLOTS), started(offset, SLOTS)) == expected


def test_an_extra_run_each_morning_is_no_hint_while_the_slots_are_met() -> None:
    assert zone_hint(DAILY, set(), started(timedelta(hours=-3), SLOTS)) is None
    assert zone_hint(DAILY, set(SLOTS[:4]), started(timedelta(hours=-3), SLOTS)) is None


def test_offsets_that_scatter_are_no_hint() -> None:
    runs = [started(timedelta(hours=-hour), [slot])[0] for hour, slot in enumerate(SLOTS, start=1)]
    assert zone_hint(DAILY, set(SLOTS), runs) is None
    assert zone_hint(None, set(SLOTS), runs) is None
