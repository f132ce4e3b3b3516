"""The page as a person gets it, through the router, over real HTTP: its figures are the API's."""

import math
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
import words
from streamlit.testing.v1 import AppTest

from dashboard.playback import Backend

APP = Path(__file__).parents[2] / "dashboard" / "app.py"


@pytest.fixture
def page(settings: dict[str, str]) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=30)
    app.query_params["tz"] = "Asia/Jakarta"
    return app


def again(app: AppTest) -> AppTest:
    st.cache_data.clear()
    return app.run()


def table(app: AppTest, head: str) -> dict[str, dict[str, Any]]:
    """The table that has a column of this name, by its rows' ids."""
    [frame] = [each.value for each in app.dataframe if head in each.value.columns]
    name = next(column for column in ("Objective", "Job", "Queue") if column in frame.columns)
    rows: list[dict[str, Any]] = frame.to_dict("records")
    return {row[name]: row for row in rows}


def boxes(app: AppTest) -> list[tuple[str, str]]:
    """All coloured boxes as (title, text)."""
    kinds = (app.error, app.warning, app.info, app.success)
    return [(box.proto.title, box.value) for kind in kinds for box in kind]


def same(cell: Any, value: Any) -> bool:
    missing = cell is None or (isinstance(cell, float) and math.isnan(cell))
    return missing if value is None else bool(cell == pytest.approx(value))


def test_the_figures_across_the_room_are_the_apis(page: AppTest, backend: Backend) -> None:
    page.run()
    assert not page.exception
    figures = {metric.label: metric.value for metric in page.metric}
    queues = backend.answers["queues"]["items"]
    assert figures == {
        "Open alerts": "2",
        "Running runs": str(sum(job["running"] for job in backend.answers["jobs"]["items"])),
        "Waiting in queues": str(sum(queue["depth"] for queue in queues)),
        "Dead letters": str(sum(queue["dead_depth"] for queue in queues)),
        "Next slot": "in 52.8 s",
    }


@pytest.mark.parametrize("backend", ["burning", "healthy"], indirect=True)
def test_every_job_has_a_row_with_the_apis_numbers_and_no_data_where_it_has_none(
    page: AppTest, backend: Backend
) -> None:
    rows = table(page.run(), "Late p95 s")
    assert len(rows) == len(backend.answers["jobs"]["items"])
    for job in backend.answers["jobs"]["items"]:
        row, slots = rows[job["id"]], job["slots"]
        assert same(row["Run p95 s"], job["duration_seconds"]["p95"])
        assert same(row["Run p99 s"], job["duration_seconds"]["p99"])
        assert same(row["Late p95 s"], job["lateness_seconds"]["p95"])
        for head, rate in (("On time %", job["on_time_rate"]), ("Success %", job["success_rate"])):
            assert same(row[head], None if rate is None else math.floor(rate * 10000 + 1e-6) / 100)
        assert (row["Retries"], row["Runs"]) == (job["retries"], job["runs"]["total"])
        shown = sum(row[head] for head in row if head.split()[0] in tuple("✕▲◆■●▷"))
        assert shown == slots["expected"], "every slot has one verdict on the screen too"


def test_every_objective_has_its_budget_and_burn_rates(page: AppTest, backend: Backend) -> None:
    rows = table(page.run(), "Budget left %")
    for slo in backend.answers["slos"]["items"]:
        row, left = rows[slo["id"]], slo["budget"]["remaining"]
        assert same(row["Budget left %"], None if left is None else math.floor(left * 1000 + 1e-6) / 10)
        assert all(same(row[f"Burn {window} ×"], rate) for window, rate in slo["burn"].items())
    assert {row["State"] for row in rows.values()} == {"✕ budget spent", "▲ alerting", "● holds", "– no data"}


def test_the_line_on_top_says_what_is_wrong_for_whom_and_since_when(page: AppTest) -> None:
    title, text = boxes(page.run())[0]
    assert title == "1 page and 1 ticket are open"
    for part in (
        "`finance-on-time`",
        "owner `team-billing`",
        "`Customers get no statement`",
        "since 11:49:07 (42 min)",
    ):
        assert part in text
    assert text.endswith("As of 12:31:07 Asia/Jakarta (UTC+07:00)")


@pytest.mark.parametrize("backend", ["healthy"], indirect=True)
def test_when_all_is_well_it_says_so_with_the_datas_own_age_and_zone(page: AppTest, backend: Backend) -> None:
    [box] = page.run().success
    assert (box.proto.title, box.value) == ("All 2 objectives hold", "As of 12:31:07 Asia/Jakarta (UTC+07:00)")
    assert not page.error
    assert not page.warning


@pytest.mark.parametrize("backend", ["empty"], indirect=True)
def test_an_empty_control_plane_tells_the_first_step(page: AppTest, backend: Backend) -> None:
    page.run()
    assert not page.exception
    [title, text] = next(box for box in boxes(page) if "job" in box[0])
    assert title == "No job is defined yet."
    assert "`tepat lint`" in text
    assert {metric.label: metric.value for metric in page.metric}["Waiting in queues"] == "no data"


def test_a_refused_token_is_a_screen_with_one_thing_to_do(page: AppTest, backend: Backend) -> None:
    backend.status = 401
    [(title, text)] = boxes(page.run())
    assert title == "The control plane refused the dashboard's token (401)."
    assert "TEPAT_TOKEN_FILE" in text
    assert not page.metric


def test_an_unreachable_control_plane_is_a_screen_with_one_thing_to_do(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEPAT_API", "http://127.0.0.1:1")
    [(title, text)] = boxes(page.run())
    assert title == "The control plane does not answer."
    assert "`tepat doctor`" in text


def test_old_numbers_stay_under_a_heading_that_says_how_old_until_the_api_is_back(
    page: AppTest, backend: Backend
) -> None:
    page.run()
    backend.status = 500
    again(again(page))
    title, text = boxes(page)[0]
    assert title == "Old data: The control plane's answer to /api/v1/status has status 500."
    assert "as of 12:31:07 Asia/Jakarta (UTC+07:00); 2 refreshes have failed since." in text
    assert page.metric[0].value == "2", "the last good numbers are still there"
    backend.status = 200
    assert boxes(again(page))[0][0] == "1 page and 1 ticket are open"


def test_a_link_carries_the_filters(page: AppTest) -> None:
    page.query_params["job"] = "LEDGER"
    page.query_params["tenant"] = "finance"
    assert list(table(page.run(), "Late p95 s")) == ["ledger-close"]
    assert page.text_input(key="job").value == "LEDGER"


def test_a_filter_that_is_typed_narrows_the_jobs(page: AppTest) -> None:
    page.run().text_input(key="job").input("team-audit").run()
    assert set(table(page, "Late p95 s")) == {"folder-checksum", "holiday-report"}


def test_a_filter_that_nothing_matches_says_how_to_get_back(page: AppTest) -> None:
    page.query_params["job"] = "no such job"
    page.run()
    assert not page.exception
    assert ("No job matches the search.", "Clear the search above to see all jobs.") in boxes(page)
    assert len(page.dataframe) == 1, "objectives are not searched, and nothing claims that no dead letter waits"


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "", "\x00"])
def test_a_zone_that_is_none_falls_back_to_one_that_is_named_on_screen(page: AppTest, name: str) -> None:
    page.query_params["tz"] = name
    assert boxes(page.run())[0][1].endswith("As of 05:31:07 UTC (UTC+00:00)")


def test_foreign_text_reaches_markdown_only_inside_code_spans(page: AppTest, backend: Backend) -> None:
    nasty = "<script>x</script> [x](javascript:x) :material/home: $\\latex$ :red[x]"
    shown = words.verbatim(nasty)
    for job in backend.answers["jobs"]["items"]:
        job.update(owner=nasty, impact=nasty, window=nasty)
    for item in backend.answers["alerts"]["items"]:
        item["reason"] = nasty
    page.run()
    texts = [each.value for each in (*page.markdown, *page.caption)] + [text for _, text in boxes(page)]
    assert sum(shown in text for text in texts) >= 2
    for text in texts:
        assert not any(
            sign in text.replace(shown, "") for sign in ("<script", "javascript", "material", "latex", "red[")
        )
    assert not any(each.allow_html for each in page.markdown)
