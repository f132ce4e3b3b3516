"""The backtest over files: a golden history, and the same answer whatever happens to the lines on their way."""

import gzip
import json
import random
from datetime import timedelta
from pathlib import Path

import pytest

from scheduler.instants import parse_instant
from slo.backtest import RecordingError, backtest

GOLDEN = Path(__file__).parent / "golden"
SINCE, UNTIL = parse_instant("2026-10-23T12:00:00Z"), parse_instant("2026-10-27T12:00:00Z")


def played(events: Path) -> str:
    report = backtest(GOLDEN / "files", events, SINCE, UNTIL, timedelta(minutes=1))
    return json.dumps(report, indent=1, sort_keys=True) + "\n"


def test_the_recorded_history_gives_the_golden_report() -> None:
    assert played(GOLDEN / "events.ndjson") == (GOLDEN / "report.json").read_text()


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_and_doubled_lines_give_a_byte_identical_report(tmp_path: Path, seed: int) -> None:
    lines = (GOLDEN / "events.ndjson").read_text().splitlines()
    rng = random.Random(seed)
    lines += rng.choices(lines, k=100)
    rng.shuffle(lines)
    (tmp_path / "e.ndjson.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    assert played(tmp_path / "e.ndjson.gz") == (GOLDEN / "report.json").read_text()


def test_one_key_with_two_contents_is_flagged_and_order_decides_nothing(tmp_path: Path) -> None:
    line = json.loads((GOLDEN / "events.ndjson").read_text().splitlines()[1])
    pair = [json.dumps(line), json.dumps({**line, "at": "2026-10-24T00:01:30Z"})]
    reports = []
    for number, lines in enumerate((pair, pair[::-1])):
        path = tmp_path / f"{number}.ndjson"
        path.write_text("\n".join(lines))
        reports.append(played(path))
    assert reports[0] == reports[1]
    assert json.loads(reports[0])["jobs"]["statement"]["flags"] == ["conflict"]


def test_a_line_that_is_no_event_is_a_finding_and_sinks_no_other(tmp_path: Path) -> None:
    text = (GOLDEN / "events.ndjson").read_text()
    (tmp_path / "e.ndjson").write_text('{"id": "x", "source": "s", "type": "begun"}\n{nonsense\n' + text)
    found, golden = json.loads(played(tmp_path / "e.ndjson")), json.loads((GOLDEN / "report.json").read_text())
    assert [f["where"] for f in found["findings"] if f["code"] == "bad-event"] == ["e.ndjson:2", "e.ndjson:1"]
    assert found["jobs"] == golden["jobs"]
    assert found["notices"] == golden["notices"]


def test_events_of_a_job_without_a_definition_are_counted_and_named(tmp_path: Path) -> None:
    line = {"id": "1", "source": "s", "type": "succeeded", "job": "stray", "at": "2026-10-24T00:00:00Z"}
    (tmp_path / "e.ndjson").write_text(json.dumps(line))
    report = json.loads(played(tmp_path / "e.ndjson"))
    assert report["jobs"]["stray"]["runs"]["succeeded"] == 1
    assert "undefined-job" in {finding["code"] for finding in report["findings"]}


def test_nothing_in_a_report_is_not_a_number(tmp_path: Path) -> None:
    (tmp_path / "none.ndjson").write_text("")
    for text in (played(tmp_path / "none.ndjson"), (GOLDEN / "report.json").read_text()):
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in a report"))


def test_a_recording_that_cannot_be_read_says_which(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="absent"):
        played(tmp_path / "absent.ndjson")


def test_a_late_arrival_is_played_when_it_was_received(tmp_path: Path) -> None:
    start = {"id": "1", "source": "s", "type": "started", "job": "pulse", "at": "2026-10-24T00:10:01Z"}
    for received, missed in (("2026-10-27T11:00:00Z", 574), ("2026-10-27T13:00:00Z", 575)):
        path = tmp_path / "e.ndjson"
        path.write_text(json.dumps({**start, "received_at": received}))
        assert json.loads(played(path))["jobs"]["pulse"]["slots"]["missed"] == missed
