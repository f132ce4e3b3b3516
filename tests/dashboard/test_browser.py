"""The page in a real Chromium: what AppTest cannot see, such as escaping, the address bar and refreshing by itself."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from dashboard.playback import Backend, recorded
from scheduler.clock import monotonic, pause

ROOT = Path(__file__).parents[2]
PATIENCE = 60_000  # milliseconds for a slow machine; nothing is asserted about speed
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
NASTY = (
    "<script>alert(1)</script> [x](javascript:alert(1)) :material/home: :smile: $\\latex$ :red[x] http://evil.example"
)


@pytest.fixture
def served(settings: dict[str, str], free_port: int, tmp_path: Path) -> Iterator[str]:
    """The address of a dashboard process of its own."""
    app = str(ROOT / "dashboard" / "app.py")
    command = [sys.executable, "-m", "streamlit", "run", app, "--server.port", str(free_port)]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **settings}, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{free_port}"
    try:
        wait_for(url, process, tmp_path / "log")
        yield url
    finally:
        process.terminate()
        process.wait()


def wait_for(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = monotonic() + PATIENCE / 1000
    while process.poll() is None and monotonic() < end:
        try:
            if httpx.get(f"{url}/_stcore/health", trust_env=False).text == "ok":
                return
        except httpx.TransportError:
            pause(0.1)
    pytest.fail(f"the dashboard did not start: {log.read_text()}")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture
def trouble() -> list[str]:
    """What a page's console complains of, what it asks of other hosts, and dialogs that it opens."""
    return []


@pytest.fixture
def page(browser: Browser, trouble: list[str]) -> Page:
    context = browser.new_context(viewport={"width": 1600, "height": 1000}, timezone_id="America/New_York")
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    opened.on("console", lambda said: trouble.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on("dialog", lambda dialog: trouble.append(dialog.message))
    opened.on("request", lambda asked: None if "//127.0.0.1:" in asked.url else trouble.append(asked.url))
    return opened


def seen(page: Page, text: str) -> None:
    expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)


def figure(page: Page, label: str, value: str) -> None:
    box = page.get_by_test_id("stMetric").filter(has_text=label)
    expect(box.get_by_test_id("stMetricValue")).to_have_text(value, timeout=PATIENCE)


def test_the_page_shows_the_apis_figures_without_a_complaint_or_a_call_elsewhere(
    page: Page, served: str, backend: Backend, trouble: list[str]
) -> None:
    page.goto(f"{served}/?tz=Asia/Jakarta")
    seen(page, "1 page and 1 ticket are open")
    seen(page, "As of 12:31:07 Asia/Jakarta (UTC+07:00)")
    figure(page, "Waiting in queues", "9")
    figure(page, "Dead letters", "3")
    expect(page.get_by_test_id("stVegaLiteChart").locator("svg, canvas").first).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("stDataFrame")).to_have_count(6, timeout=PATIENCE)
    assert trouble == []


def test_times_are_in_the_viewers_own_zone_when_the_address_names_none(page: Page, served: str) -> None:
    page.goto(served)
    seen(page, "As of 01:31:07 America/New_York (UTC-04:00)")


def test_text_from_jobs_is_shown_as_it_is_and_does_nothing(
    page: Page, served: str, backend: Backend, trouble: list[str]
) -> None:
    for job in backend.answers["jobs"]["items"]:
        job.update(owner=NASTY, impact=NASTY, window=NASTY, tenant=NASTY)
    for alert in backend.answers["alerts"]["items"]:
        alert["reason"] = NASTY
    page.goto(served)
    main = page.get_by_test_id("stMain")
    shown = NASTY.replace(":material/", ":\u200bmaterial/")
    expect(main.locator("code").filter(has_text=shown).first).to_be_visible(timeout=PATIENCE)
    page.get_by_test_id("stSelectbox").locator("input").click()
    expect(page.get_by_role("option", name="all", exact=True)).to_be_visible(timeout=PATIENCE)
    for forbidden in ("a[href*='javascript']", "a[href*='evil']", "main script", ".katex", "code span[role=img]"):
        assert page.locator(forbidden).count() == 0, forbidden
    assert trouble == []


def test_a_search_lands_in_the_address_and_survives_a_reload(page: Page, served: str) -> None:
    page.goto(f"{served}/?tz=UTC")
    search = page.get_by_label("Job", exact=True)
    search.fill("no such job")
    search.press("Enter")
    seen(page, "No job matches the search.")
    page.wait_for_url("**job=no*")
    page.reload()
    seen(page, "No job matches the search.")
    seen(page, "UTC (UTC+00:00)")


def test_the_page_follows_the_api_by_itself_through_an_outage(page: Page, served: str, backend: Backend) -> None:
    page.goto(served)
    seen(page, "1 page and 1 ticket are open")
    backend.status = 503
    seen(page, "Old data: The control plane's answer to /api/v1/status has status 503.")
    figure(page, "Waiting in queues", "9")
    backend.answers, backend.status = recorded("healthy"), 200
    seen(page, "All 2 objectives hold")
    figure(page, "Waiting in queues", "0")
