from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import charts
import pytest
from answers import Gap, Slot

NOW = datetime(2026, 3, 29, 5, 31, 7, tzinfo=UTC)
SPAN = charts.Span(NOW - timedelta(hours=2), NOW + timedelta(minutes=10), NOW, ZoneInfo("Asia/Jakarta"))


def spec(slots: list[Slot], jobs: list[str], gaps: list[Gap] | None = None) -> dict[str, Any]:
    drawn: dict[str, Any] = charts.timeline(slots, jobs, gaps or [], SPAN).to_dict()
    return drawn


def rows(drawn: dict[str, Any], layer: int) -> list[dict[str, str]]:
    found: list[dict[str, str]] = drawn["datasets"][drawn["layer"][layer]["data"]["name"]]
    return found


def test_a_mark_stands_at_the_wall_clock_of_the_zone_shown_whatever_the_browsers_zone() -> None:
    [mark] = charts.marks([Slot("a", NOW, "late", lateness_seconds=75.0)], ["a"], SPAN)
    assert (mark["at"], mark["slot"], mark["late"]) == ("2026-03-29T12:31:07Z", "12:31:07", "1 min 15 s")
    scales = [layer["encoding"]["x"]["scale"]["type"] for layer in spec([], ["a"])["layer"]]
    assert scales == ["utc"] * len(scales)


def test_the_axis_says_which_zone_and_offset_it_counts_in() -> None:
    assert spec([], ["a"])["layer"][-1]["encoding"]["x"]["title"] == "Wall clock of Asia/Jakarta (UTC+07:00)"


def test_a_minute_shows_its_worst_verdict_and_counts_the_others() -> None:
    minute = NOW.replace(second=0)
    slots = [Slot("a", minute + timedelta(seconds=second), "on_time") for second in (0, 20, 59)]
    slots.insert(1, Slot("a", minute + timedelta(seconds=10), "missed"))
    slots.append(Slot("a", minute + timedelta(seconds=60), "on_time"))
    worst, after = charts.marks(slots, ["a"], SPAN)
    assert (worst["verdict"], worst["at"][-3:], worst["minute"]) == ("missed", "10Z", "3 on time, 1 missed")
    assert after["minute"] == "1 on time"


@pytest.mark.parametrize(("edge", "drawn"), [(-1, 0), (0, 1), (1, 1)])
def test_a_slot_at_the_edge_of_the_span_is_drawn(edge: int, drawn: int) -> None:
    assert len(charts.marks([Slot("a", SPAN.since + timedelta(seconds=edge), "on_time")], ["a"], SPAN)) == drawn


def test_marks_are_bounded_by_jobs_and_minutes() -> None:
    names = [f"job-{n}" for n in range(50)]
    slots = [Slot(name, SPAN.since + timedelta(seconds=2 * n), "on_time") for name in names for n in range(3900)]
    drawn = spec(slots, names)
    assert len(rows(drawn, -1)) == charts.JOBS_AT_MOST * 131
    assert drawn["layer"][-1]["encoding"]["y"]["sort"] == names[: charts.JOBS_AT_MOST]


def test_a_gap_is_a_band_cut_to_the_span_and_one_outside_is_none() -> None:
    gaps = [Gap(SPAN.since - timedelta(hours=9), SPAN.since), Gap(NOW - timedelta(minutes=1))]
    drawn = spec([], ["a"], gaps)
    assert [layer["mark"]["type"] for layer in drawn["layer"]] == ["rect", "rule", "point"]
    assert rows(drawn, 0) == [{"at": "2026-03-29T12:30:07Z", "end": "2026-03-29T12:31:07Z"}]


def test_a_verdict_has_a_shape_and_a_word_beside_its_colour() -> None:
    encoding = spec([], ["a"])["layer"][-1]["encoding"]
    assert encoding["shape"]["scale"]["domain"] == encoding["color"]["scale"]["domain"]
    assert encoding["shape"]["scale"]["range"][0] == "cross"
