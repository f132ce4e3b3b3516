"""The dashboard of the real product in a real Chromium: what it shows is what the API says."""

from collections.abc import Callable

import httpx
from acceptance.product import Product, wait_for
from playwright.sync_api import expect, sync_playwright
from servers import unused_port

FILES = """
jobs:
  - {id: doomed, run: {command: ["false"], timeout: 5s}, queue: imports}
  - {id: steady, schedule: {every: 1s, timezone: UTC}, run: {command: ["true"], timeout: 5s}}
slos:
  - {id: steady-success, indicator: success, select: {job: steady}, objective: 99%, window: 1d}
"""
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


def test_the_page_shows_live_numbers_of_the_running_product(
    make_product: Callable[[str], Product], chromium: str
) -> None:
    product, port = make_product(FILES), unused_port()
    product.up(dashboard_port=port)
    wait_for("the dashboard", lambda: _answers(f"http://127.0.0.1:{port}/_stcore/health"))
    token = (product.var / "tokens" / "admin").read_text().strip()
    asked = httpx.post(f"{product.url}/api/v1/jobs/doomed/runs", headers={"Authorization": f"Bearer {token}"})
    assert asked.status_code == 202
    wait_for("the dead letter", lambda: _dead_letters(product) == 1)
    wait_for("good runs", lambda: product.job("steady")["runs"]["succeeded"] >= 2)
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(f"http://127.0.0.1:{port}")
        letters = page.get_by_test_id("stMetric").filter(has_text="Dead letters")
        expect(letters).to_contain_text("1", timeout=60_000)
        expect(page.get_by_text("Objectives", exact=True)).to_be_visible()
        expect(page.get_by_text("As of").first).to_be_visible()
        browser.close()
    assert errors == []


def _dead_letters(product: Product) -> int:
    return sum(queue["dead_depth"] for queue in product.get("/api/v1/queues")["items"])


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
